"""
Cedar's fence before the tools: who may call which. What no policy permits is denied, and the tool
list shows a caller nothing else.
https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/example-policies.html
"""

import json

import cedarpy
from aws_cdk import aws_bedrockagentcore as agentcore

from infra.tool_target import tools

# Letters, digits and underscores, at most so many: API reference, CreatePolicy.
_LONGEST_NAME = 48


def permit_people(
    engine: agentcore.PolicyEngine, target: str, *, project: str, gateway_arn: str
) -> list[agentcore.Policy]:
    """
    One policy per tool, so that an operator can narrow or take away one tool alone.

    A user's access token carries a user name, a program's doesn't. Action names take no wildcards,
    and with a specific action the service wants the specific gateway.
    [assumed: policy.username-tag]
    """
    return [
        _permit(engine, target, tool["name"], project=project, gateway_arn=gateway_arn)
        for tool in tools(target)
    ]


def policy_name(project: str, tool: str) -> str:
    """Unique in an account, so with the project in it."""
    name = f"{project}_{tool}".replace("-", "_")
    if len(name) > _LONGEST_NAME:
        raise ValueError(
            f"the policy of tool {tool!r} would be named {name!r}, longer than {_LONGEST_NAME} "
            "characters: give the tool or the project a shorter name"
        )
    return name


def checked(statement: str, *, action: str, gateway_arn: str) -> str:
    """
    The statement, if it permits this action alone, and to people alone; else raises ValueError.

    Instead of the service's own look for what is too wide or without effect: that one refuses
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
            raise ValueError(f"the policy of {action} is not of one {part}: {policy[part]}")
    request = {"principal": user, "action": tool, "resource": gateway, "context": {"input": {}}}
    program = {"uid": user, "attrs": {}, "parents": [], "tags": {}}
    if cedarpy.is_authorized(request, statement, [program]).allowed:
        raise ValueError(f"the policy of {action} permits programs, too: name what a user's tag is")
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
            checked(statement, action=action, gateway_arn=gateway_arn)
        ),
        validation_mode=agentcore.PolicyValidationMode.IGNORE_ALL_FINDINGS,
    )
