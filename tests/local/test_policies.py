"""A template's Cedar policies on their way to the gateway; what is none fails the deployment."""

from typing import Any

import pytest

from stackroom_local.deployment.agentcore import policy_engine_of
from stackroom_local.deployment.intrinsics import REF, TemplateScope
from stackroom_local.deployment.localisation import Resource
from stackroom_local.gateway.gateway_configuration import (
    PolicyEngineConfiguration,
    TargetConfiguration,
)
from stackroom_local.local_errors import DeploymentFailed
from tests.gateway.serving import GATEWAY_ARN, a_permit, a_target

ENGINE = "arn:aws:bedrock-agentcore:us-east-1:000000000000:policy-engine/engine-local00000"
GATEWAY = {"PolicyEngineConfiguration": {"Arn": ENGINE, "Mode": "ENFORCE"}}
TEMPLATE = a_permit().replace("principal is AgentCore::OAuthUser", "principal == ?principal")
SCOPE = TemplateScope(
    stack="gateway",
    resources={
        "Gateway": {REF: "g", "GatewayArn": GATEWAY_ARN},
        "UsersMay": {REF: "users_may-local00000", "PolicyId": "users_may-local00000"},
    },
)


def deployed(statement: Any, gateway: Any = GATEWAY, **changes: Any) -> Any:
    properties = {
        "Name": "users_may",
        "PolicyEngineId": "engine-local00000",
        "ValidationMode": "IGNORE_ALL_FINDINGS",
        "Definition": {"Cedar": {"Statement": statement}},
        **changes,
    }
    return policy_engine_of(
        gateway,
        [Resource("UsersMay", "AWS::BedrockAgentCore::Policy", properties)],
        SCOPE,
        gateway_arn=GATEWAY_ARN,
        targets=[TargetConfiguration.model_validate(a_target())],
    )


def test_a_policy_is_read_with_the_gateways_name_filled_in() -> None:
    before, after = a_permit().split(GATEWAY_ARN)
    statement = {"Fn::Join": ["", [before, {"Fn::GetAtt": ["Gateway", "GatewayArn"]}, after]]}

    engine = deployed(statement)

    assert isinstance(engine, PolicyEngineConfiguration)
    assert engine.gateway_arn == GATEWAY_ARN
    assert [(each.policy_id, each.statement) for each in engine.policies] == [
        ("users_may-local00000", a_permit())
    ]


def test_policy_of_another_engine_does_not_apply_to_this_gateway() -> None:
    assert deployed(a_permit(), PolicyEngineId="other-local00000").policies == []


def test_gateway_without_a_policy_engine_is_configured_without_one() -> None:
    assert deployed(a_permit(), gateway={}) is None


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (a_permit().replace("action ==", "acton =="), "no Cedar: .*acton"),
        (TEMPLATE, "exactly one policy"),
        (a_permit(when="context.input.query > 3"), "expected Long but saw String"),
    ],
)
def test_invalid_policy_fails_the_deployment_with_the_reason(statement: str, reason: str) -> None:
    with pytest.raises(DeploymentFailed, match=f"UsersMay: .*{reason}"):
        deployed(statement)
