import json

from infra.gateway import TARGET
from infra.tool_target import schema_file, tools
from tests.infra.assembly import Assembly


def test_the_gateway_takes_access_tokens_of_our_client(assembly: Assembly) -> None:
    gateway = assembly.one("gateway", "AWS::BedrockAgentCore::Gateway").properties
    client = assembly.one("gateway", "AWS::Cognito::UserPoolClient")

    authorizer = gateway["AuthorizerConfiguration"]["CustomJWTAuthorizer"]

    assert gateway["AuthorizerType"] == "CUSTOM_JWT"
    assert authorizer["AllowedClients"] == [client.logical_id]
    assert authorizer["DiscoveryUrl"].endswith("/.well-known/openid-configuration")
    assert client.properties["PreventUserExistenceErrors"] == "ENABLED"
    assert "ALLOW_USER_PASSWORD_AUTH" not in client.properties["ExplicitAuthFlows"]


def test_the_gateway_speaks_the_three_versions(assembly: Assembly) -> None:
    gateway = assembly.one("gateway", "AWS::BedrockAgentCore::Gateway").properties

    assert gateway["ProtocolConfiguration"]["Mcp"] == {
        "SupportedVersions": ["2025-06-18", "2025-11-25", "2026-07-28"]
    }


def test_every_request_passes_the_interceptor_with_its_headers(assembly: Assembly) -> None:
    gateway = assembly.one("gateway", "AWS::BedrockAgentCore::Gateway").properties

    [interceptor] = gateway["InterceptorConfigurations"]

    arn = "arn:aws:lambda:{region}:{account}:function:stackroom-identity-interceptor"
    assert interceptor == {
        "Interceptor": {"Lambda": {"Arn": arn}},
        "InterceptionPoints": ["REQUEST"],
        "InputConfiguration": {"PassRequestHeaders": True},
    }


def test_the_target_lets_only_the_identity_headers_through(assembly: Assembly) -> None:
    target = assembly.one("gateway", "AWS::BedrockAgentCore::GatewayTarget").properties

    assert target["MetadataConfiguration"] == {
        "AllowedRequestHeaders": ["x-user-sub", "x-user-groups"]
    }
    assert target["CredentialProviderConfigurations"] == [
        {"CredentialProviderType": "GATEWAY_IAM_ROLE"}
    ]


def test_the_target_offers_the_tools_of_the_file(assembly: Assembly) -> None:
    target = assembly.one("gateway", "AWS::BedrockAgentCore::GatewayTarget").properties

    function = target["TargetConfiguration"]["Mcp"]["Lambda"]

    offered = function["ToolSchema"]["InlinePayload"]
    assert _keys_lowered(offered) == json.loads(schema_file(TARGET).read_text("utf-8"))
    assert function["LambdaArn"].endswith(":function:stackroom-retrieve")


def test_a_tool_name_fits_what_models_accept(assembly: Assembly) -> None:
    target = assembly.one("gateway", "AWS::BedrockAgentCore::GatewayTarget").properties

    names = [f"{target['Name']}___{tool['name']}" for tool in tools(TARGET)]

    # Bedrock Converse's toolSpec.name is the narrowest of them: 64 characters.
    assert all(len(name) <= 64 for name in names)
    assert "_" not in target["Name"]


def test_cedar_permits_people_every_tool_and_is_enforced(assembly: Assembly) -> None:
    gateway = assembly.one("gateway", "AWS::BedrockAgentCore::Gateway").properties
    policy = assembly.one("gateway", "AWS::BedrockAgentCore::Policy")

    statement = policy.properties["Definition"]["Cedar"]["Statement"]

    assert gateway["PolicyEngineConfiguration"]["Mode"] == "ENFORCE"
    assert all(f'Action::"knowledge___{tool["name"]}"' in statement for tool in tools(TARGET))
    assert 'principal.hasTag("username")' in statement
    assert policy.properties["ValidationMode"] == "FAIL_ON_ANY_FINDINGS"


def test_a_policy_waits_for_the_tool_and_the_tool_for_its_rights(assembly: Assembly) -> None:
    policy = assembly.one("gateway", "AWS::BedrockAgentCore::Policy")
    target = assembly.one("gateway", "AWS::BedrockAgentCore::GatewayTarget")
    rights = {each.logical_id for each in assembly.all("gateway", "AWS::Lambda::ResourcePolicy")}

    assert target.logical_id in policy.raw["DependsOn"]
    assert rights == set(target.raw["DependsOn"])


def test_users_are_kept_with_the_documents_that_bear_their_ids(assembly: Assembly) -> None:
    pool = assembly.one("data", "AWS::Cognito::UserPool")

    assert pool.properties["DeletionProtection"] == "ACTIVE"
    assert pool.properties["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}
    assert assembly.all("gateway", "AWS::Cognito::UserPool") == []


def _keys_lowered(schema: object, *, is_names: bool = False) -> object:
    """CloudFormation's spelling of a schema back to JSON's; argument names stay as they are."""
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
