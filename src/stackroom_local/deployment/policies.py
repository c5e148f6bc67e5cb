"""The Cedar policies of a template, checked as the service checks them when they are made."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stackroom_local.deployment.intrinsics import Scope
from stackroom_local.deployment.stand_ins import Resource
from stackroom_local.gateway.configuration import (
    PolicyConfiguration,
    PolicyEngineConfiguration,
    TargetConfiguration,
)
from stackroom_local.gateway.statements import findings, parsed
from stackroom_local.problems import DeploymentFailed


def policy_engine_of(
    gateway: Mapping[str, Any],
    resources: Iterable[Resource],
    scope: Scope,
    *,
    gateway_arn: str,
    targets: Sequence[TargetConfiguration],
) -> PolicyEngineConfiguration | None:
    """
    The engine that a gateway's properties name, with its policies; None if they name none. A policy
    that only logs (`EnforcementMode`) decides nothing, so it is checked and left out.

    Raises `DeploymentFailed` for a policy that can't be made, with Cedar's reasons.
    """
    configuration = gateway.get("PolicyEngineConfiguration")
    if configuration is None:
        return None
    policies = []
    for resource in resources:
        if resource.type == "AWS::BedrockAgentCore::Policy":
            properties = scope.value(resource.properties)
            if configuration["Arn"].endswith(f":policy-engine/{properties['PolicyEngineId']}"):
                _check(scope.stack, resource.logical_id, properties, targets)
                if properties.get("EnforcementMode") != "LOG_ONLY":
                    policies.append(_policy(scope.resources[resource.logical_id], properties))
    return PolicyEngineConfiguration(
        gateway_arn=gateway_arn, mode=configuration["Mode"], policies=policies
    )


def _policy(attributes: Mapping[str, str], properties: Mapping[str, Any]) -> PolicyConfiguration:
    return PolicyConfiguration(policy_id=attributes["PolicyId"], statement=_statement(properties))


def _statement(properties: Mapping[str, Any]) -> str:
    statement: str = properties["Definition"]["Cedar"]["Statement"]
    return statement


def _check(
    stack: str,
    logical_id: str,
    properties: Mapping[str, Any],
    targets: Sequence[TargetConfiguration],
) -> None:
    """
    Names and types, which the service checks in every mode of validation.
    https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/policy-create-update-validation.html
    """
    statement = _statement(properties)
    try:
        parsed(statement)
        found = findings(statement, targets)
    except ValueError as error:
        raise DeploymentFailed(stack, "refused", [f"{logical_id}: no Cedar: {error}"]) from error
    if found:
        raise DeploymentFailed(stack, "refused", [f"{logical_id}: {each}" for each in found])
