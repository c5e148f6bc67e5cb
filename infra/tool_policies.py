"""
Cedar policies for the tools: who may call which.

What no policy permits is denied, and the tool list shows a caller only permitted tools.
https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/example-policies.html
"""

import json

import cedarpy
from aws_cdk import aws_bedrockagentcore as agentcore

from infra.tool_target import tools

# Letters, digits and underscores [API reference: CreatePolicy].
_MAX_NAME = 48


def permit_people(
    engine: agentcore.PolicyEngine, target: str, *, project: str, gateway_arn: str
) -> list[agentcore.Policy]:
    """
    Add one policy per tool, so that an operator can narrow or remove a single tool.

    A user's access token has a user name, a program's doesn't. Action names take no wildcards, and
    with a specific action the service requires the specific gateway. [assumed: policy.username-tag]
    """
    return [
        _permit(engine, target, tool["name"], project=project, gateway_arn=gateway_arn)
        for tool in tools(target)
    ]


def policy_name(project: str, tool: str) -> str:
    """Return a name that is unique in the account, by the project in it."""
    name = f"{project}_{tool}".replace("-", "_")
    if len(name) > _MAX_NAME:
        raise ValueError(
            f"the policy of tool {tool!r} would be named {name!r}, longer than {_MAX_NAME} "
            "characters: give the tool or the project a shorter name"
        )
    return name


def check_statement(statement: str, *, action: str, gateway_arn: str) -> str:
    """
    Return the statement. Raises ValueError unless it permits this action alone, to people alone.

    This replaces the service's own validation for permissive or ineffective policies, which refuses
    policies that are neither (awslabs/nx-plugin-for-aws 660, awslabs/agentcore-samples 1342). Its
    checks of names and types run in any case.
    https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/policy-validation-overview.html
    """
    user, tool, gateway = (
        {"type": f"AgentCore::{kind}", "id": name}
        for kind, name in (("OAuthUser", "any"), ("Action", action), ("Gateway", gateway_arn))
    )
    [policy] = json.loads(cedarpy.policies_to_json_str(statement))["staticPolicies"].values()
    for part, scope in (
        ("principal", {"op": "is", "entity_type": user["type"]}),
        ("action", {"op": "==", "entity": tool}),
        ("resource", {"op": "==", "entity": gateway}),
    ):
        if policy[part] != scope:
            raise ValueError(f"the policy of {action} must name one {part}: {policy[part]}")
    request = {"principal": user, "action": tool, "resource": gateway, "context": {"input": {}}}
    program = {"uid": user, "attrs": {}, "parents": [], "tags": {}}
    if cedarpy.is_authorized(request, statement, [program]).allowed:
        raise ValueError(f"the policy of {action} must not permit programs: require a user's tag")
    return statement


def _permit(
    engine: agentcore.PolicyEngine, target: str, tool: str, *, project: str, gateway_arn: str
) -> agentcore.Policy:
    action = f"{target}___{tool}"
    statement = (
        f'permit(principal is AgentCore::OAuthUser, action == AgentCore::Action::"{action}", '
        f'resource == AgentCore::Gateway::"{gateway_arn}") '
        'when { principal.hasTag("username") };'
    )
    return engine.add_policy(
        "".join(part.title() for part in f"{target}_{tool}".replace("-", "_").split("_")),
        policy_name=policy_name(project, tool),
        description=f"People who signed in may use {tool}; on whose documents, we decide.",
        statement=agentcore.PolicyStatement.from_cedar(
            check_statement(statement, action=action, gateway_arn=gateway_arn)
        ),
        validation_mode=agentcore.PolicyValidationMode.IGNORE_ALL_FINDINGS,
    )
