"""
Cedar's fence before the tools: who may call which. What no policy permits is denied, and the tool
list shows a caller nothing else.
https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/example-policies.html
"""

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


def _permit(
    engine: agentcore.PolicyEngine, target: str, tool: str, *, project: str, gateway_arn: str
) -> agentcore.Policy:
    return engine.add_policy(
        "".join(part.title() for part in f"{target}_{tool}".replace("-", "_").split("_")),
        policy_name=policy_name(project, tool),
        description=f"People who signed in may use {tool}; on whose documents, we decide.",
        statement=agentcore.PolicyStatement.from_cedar(
            "permit(principal is AgentCore::OAuthUser, "
            f'action == AgentCore::Action::"{target}___{tool}", '
            f'resource == AgentCore::Gateway::"{gateway_arn}") '
            'when { principal.hasTag("username") };'
        ),
        validation_mode=agentcore.PolicyValidationMode.FAIL_ON_ANY_FINDINGS,
    )
