import json
import re
from contextlib import nullcontext

import pytest

from functions.identity_interceptor.handler import InterceptorSettings
from functions.tool_targets import TARGETS
from infra.gateway import KNOWLEDGE
from infra.tool_policies import check_statement, policy_name
from infra.tool_target import schema_file, tools
from stackroom_local.gateway.session_store import GRACE_SECONDS
from tests.gateway.serving import GATEWAY_ARN, a_permit
from tests.infra.assembly import Assembly

TARGET = "AWS::BedrockAgentCore::GatewayTarget"


def test_gateway_and_interceptor_accept_access_tokens_of_our_client(
    assembly: Assembly,
) -> None:
    gateway = assembly.one("gateway", "AWS::BedrockAgentCore::Gateway").properties
    client = assembly.one("gateway", "AWS::Cognito::UserPoolClient").logical_id
    issuer = assembly.outputs("data")["IssuerUrl"]
    read = InterceptorSettings.from_env(assembly.variables("identity-interceptor"))

    authorizer = gateway["AuthorizerConfiguration"]["CustomJWTAuthorizer"]

    assert gateway["AuthorizerType"] == "CUSTOM_JWT"
    assert authorizer["AllowedClients"] == [client]
    assert authorizer["DiscoveryUrl"] == f"{issuer}/.well-known/openid-configuration"
    assert (read.identity_issuer, read.identity_client_ids) == (issuer, (client,))
    assert read.identity_jwks_url == f"{issuer}/.well-known/jwks.json"


def test_client_may_name_the_gateway_url_as_its_resource(assembly: Assembly) -> None:
    gateway = assembly.one("gateway", "AWS::BedrockAgentCore::Gateway")
    server = assembly.one("gateway", "AWS::Cognito::UserPoolResourceServer").properties
    [accepted] = InterceptorSettings.from_env(
        assembly.variables("identity-interceptor")
    ).identity_audiences

    suffix = ".gateway.bedrock-agentcore.{region}.amazonaws.com/mcp"
    assert assembly.outputs("gateway")["McpUrl"] == server["Identifier"]
    assert server["Identifier"].endswith(suffix)
    assert gateway.properties["Name"] == "stackroom"
    assert accepted == f"https://stackroom-*{suffix}"


def test_rotating_clients_lack_the_refresh_token_flow(
    assembly: Assembly, customised: Assembly
) -> None:
    kind = "AWS::Cognito::UserPoolClient"
    rotating = [assembly.one(stack, kind).properties for stack in ("gateway", "console")]
    others = [customised.one(stack, kind).properties for stack in ("gateway", "console")]

    for client in rotating:
        rotation = {"Feature": "ENABLED", "RetryGracePeriodSeconds": GRACE_SECONDS}
        assert client["RefreshTokenRotation"] == rotation
        # Without a list of flows, Cognito's default applies, which has that flow.
        assert "ALLOW_USER_SRP_AUTH" in client["ExplicitAuthFlows"]
        assert "ALLOW_REFRESH_TOKEN_AUTH" not in client["ExplicitAuthFlows"]
    for client in others:
        assert client.get("RefreshTokenRotation", {}).get("Feature") != "ENABLED"
        assert "ALLOW_REFRESH_TOKEN_AUTH" in client["ExplicitAuthFlows"]


def test_every_target_passes_only_the_identity_headers(assembly: Assembly) -> None:
    targets = assembly.all("gateway", TARGET)

    assert targets
    for target in targets:
        assert target.properties["MetadataConfiguration"] == {
            "AllowedRequestHeaders": ["x-user-sub", "x-user-groups", "x-session-id"]
        }
        assert target.properties["CredentialProviderConfigurations"] == [
            {"CredentialProviderType": "GATEWAY_IAM_ROLE"}
        ]


def test_every_target_offers_the_tools_of_its_file(assembly: Assembly) -> None:
    targets = {each.properties["Name"]: each.properties for each in assembly.all("gateway", TARGET)}

    assert targets.keys() == TARGETS.keys()
    for name, target in targets.items():
        offered = target["TargetConfiguration"]["Mcp"]["Lambda"]["ToolSchema"]["InlinePayload"]
        # Responses have no structured content.
        assert not any("OutputSchema" in tool for tool in offered)
        assert _keys_lowered(offered) == json.loads(schema_file(name).read_text("utf-8"))
    searches = targets[KNOWLEDGE]["TargetConfiguration"]["Mcp"]["Lambda"]["LambdaArn"]
    assert searches.endswith(":function:stackroom-retrieve")


def test_each_tool_has_a_cedar_policy_that_permits_people(assembly: Assembly) -> None:
    targets = [each.properties["Name"] for each in assembly.all("gateway", TARGET)]
    gateway = assembly.one("gateway", "AWS::BedrockAgentCore::Gateway")
    arn = f"arn:aws:bedrock-agentcore:{{region}}:{{account}}:gateway/{gateway.logical_id}"

    policies = {
        each.properties["Name"]: each.properties
        for each in assembly.all("gateway", "AWS::BedrockAgentCore::Policy")
    }

    assert gateway.properties["PolicyEngineConfiguration"]["Mode"] == "ENFORCE"
    assert {each["ValidationMode"] for each in policies.values()} == {"IGNORE_ALL_FINDINGS"}
    assert {name: each["Definition"]["Cedar"]["Statement"] for name, each in policies.items()} == {
        policy_name("stackroom", tool["name"]): "permit(principal is AgentCore::OAuthUser, "
        f'action == AgentCore::Action::"{target}___{tool["name"]}", '
        f'resource == AgentCore::Gateway::"{arn}") '
        'when { principal.hasTag("username") };'
        for target in targets
        for tool in tools(target)
    }
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,47}", name) for name in policies)
    with pytest.raises(ValueError, match="shorter name"):
        policy_name("stackroom", "a_name_that_says_everything_there_is_to")


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('hasTag("username")', 'hasTag("username") && principal.getTag("a") == "b"', None),
        (' when { principal.hasTag("username") }', "", "must not permit programs"),
        ('action == AgentCore::Action::"a___b"', "action", "must name one action"),
        ("principal is AgentCore::OAuthUser", "principal", "must name one principal"),
        ('"a___b"', '"a___c"', "must name one action"),
        ("when", "wen", "invalid policy condition"),
    ],
)
def test_policy_for_several_tools_or_for_programs_is_refused(
    before: str, after: str, reason: str | None
) -> None:
    statement = a_permit("a___b").replace(before, after)

    with pytest.raises(ValueError, match=reason) if reason else nullcontext():
        check_statement(statement, action="a___b", gateway_arn=GATEWAY_ARN)


def test_policy_depends_on_its_target_and_target_on_its_rights(assembly: Assembly) -> None:
    targets = {each.properties["Name"]: each for each in assembly.all("gateway", TARGET)}
    policies = assembly.all("gateway", "AWS::BedrockAgentCore::Policy")
    rights = {each.logical_id for each in assembly.all("gateway", "AWS::Lambda::ResourcePolicy")}

    for target in targets.values():
        assert set(target.raw["DependsOn"]) == rights
    for policy in policies:
        [name] = re.findall(r'Action::"(\w+?)___', str(policy.properties["Definition"]))
        assert targets[name].logical_id in policy.raw["DependsOn"]


def test_gateway_role_depends_on_nothing(assembly: Assembly) -> None:
    role = assembly.one("gateway", "AWS::IAM::Role", "GatewayRole")

    referred = re.findall(r"'(?:Ref|Fn::GetAtt|Fn::ImportValue)': \W*([\w:]+)", str(role.raw))

    assert "DependsOn" not in role.raw
    assert {each for each in referred if not each.startswith("AWS::")} == set()


def _keys_lowered(schema: object, *, is_names: bool = False) -> object:
    """Convert CloudFormation's spelling of a schema back to JSON's, except argument names."""
    if isinstance(schema, list):
        return [_keys_lowered(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key if is_names else key[0].lower() + key[1:]: _keys_lowered(
            member, is_names=key == "Properties"
        )
        for key, member in schema.items()
    }
