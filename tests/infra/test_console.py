"""The console's stack: who gets in, by which address, and that a deployment does without it."""

import json

from infra.console_sign_in import SIGNED_IN
from stackroom.agents.run_bounds import MOST_SECONDS, SECONDS_TO_END
from stackroom_console.console import ANSWERED_WITHIN, FOR_A_START, OPERATORS
from stackroom_console.openid_provider import CALLBACK
from tests.infra.assembly import KEPT, Assembly
from tests.infra.synthesis import CERTIFICATE, DOMAIN, deployment


def test_every_path_is_the_apps_own_throttled_and_reached_by_its_api_alone(
    assembly: Assembly,
) -> None:
    route = assembly.one("console", "AWS::ApiGatewayV2::Route").properties
    stage = assembly.one("console", "AWS::ApiGatewayV2::Stage").properties
    integration = assembly.one("console", "AWS::ApiGatewayV2::Integration").properties
    logged = set(json.loads(stage["AccessLogSettings"]["Format"]).values())

    assert route["RouteKey"] == stage["StageName"] == "$default"
    assert stage["DefaultRouteSettings"] == {
        "ThrottlingRateLimit": 100,
        "ThrottlingBurstLimit": 200,
    }
    assert integration["PayloadFormatVersion"] == "2.0"
    assert integration["IntegrationUri"].endswith(":function:stackroom-console")
    permission = assembly.one("console", "AWS::Lambda::Permission").properties
    api = assembly.one("data", "AWS::ApiGatewayV2::Api").logical_id
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["SourceArn"] == f"arn:aws:execute-api:{{region}}:{{account}}:{api}/*/*"
    # What could hold a token or a code: headers, the query, and the whole request line.
    assert not {each for each in logged if "header" in each.lower() or "query" in each.lower()}
    assert "$context.protocol" not in logged
    assert {"$context.path", "$context.status", "$context.requestId"} <= logged
    # https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
    seconds = assembly.function("console")["Timeout"]
    assert ANSWERED_WITHIN + FOR_A_START < seconds < 30  # so that it ends with words of ours


def test_people_sign_in_by_a_code_that_is_no_use_to_others(assembly: Assembly) -> None:
    client = assembly.one("console", "AWS::Cognito::UserPoolClient").properties
    address = _address(assembly)

    assert client["AllowedOAuthFlows"] == ["code"]
    assert client["AllowedOAuthScopes"] == ["openid"]
    assert client["GenerateSecret"] is False  # PKCE takes its place
    assert client["CallbackURLs"] == [address + CALLBACK]
    assert client["LogoutURLs"] == [f"{address}/sign-in"]
    assert CALLBACK == SIGNED_IN
    # The pool's pages have a look for this client, too, and Cognito takes no second domain.
    branding = assembly.one("console", "AWS::Cognito::ManagedLoginBranding").properties
    assert (
        branding["ClientId"] == assembly.one("console", "AWS::Cognito::UserPoolClient").logical_id
    )
    assert assembly.all("console", "AWS::Cognito::UserPoolDomain") == []


def test_tokens_of_both_clients_open_the_api_and_the_first_signs_in(assembly: Assembly) -> None:
    variables = assembly.variables("console")
    own = assembly.one("console", "AWS::Cognito::UserPoolClient").logical_id
    agents = assembly.one("gateway", "AWS::Cognito::UserPoolClient").logical_id

    assert json.loads(variables["IDENTITY_CLIENT_IDS"]) == [own, agents]
    assert variables["CONSOLE_CLIENT_ID"] == own
    assert variables["CONSOLE_URL"] == _address(assembly)
    assert variables["MCP_URL"] == assembly.outputs("gateway")["McpUrl"]


def test_session_key_is_generated_and_operators_group_is_the_apps(
    assembly: Assembly,
) -> None:
    secret = assembly.one("console", "AWS::SecretsManager::Secret")
    group = assembly.one("data", "AWS::Cognito::UserPoolGroup")

    generated = {"PasswordLength": 64, "ExcludePunctuation": True}
    assert secret.properties["GenerateSecretString"] == generated
    assert "SecretString" not in secret.properties  # so that it stands nowhere
    assert assembly.variables("console")["CONSOLE_KEY_ARN"].endswith(secret.logical_id)
    assert group.properties["GroupName"] == OPERATORS
    assert group.raw["DeletionPolicy"] == KEPT


def test_agents_are_offered_the_models_that_their_runner_may_ask(
    assembly: Assembly, otherwise: Assembly
) -> None:
    models = ["eu.amazon.nova-lite-v1:0", "amazon.nova-micro-v1:0"]
    invoked = {arn for action, arn in otherwise.granted("agent-runner") if "InvokeModel" in action}

    assert json.loads(otherwise.variables("console")["AGENT_MODELS"]) == models
    assert {f"inference-profile/{models[0]}", f"foundation-model/{models[1]}"} <= invoked
    by_default = json.loads(assembly.variables("console")["AGENT_MODELS"])
    assert by_default == ["global.amazon.nova-2-lite-v1:0"]


def test_with_a_domain_there_is_no_other_way_in(otherwise: Assembly) -> None:
    api = otherwise.one("data", "AWS::ApiGatewayV2::Api").properties
    domain = otherwise.one("console", "AWS::ApiGatewayV2::DomainName").properties
    client = otherwise.one("console", "AWS::Cognito::UserPoolClient").properties

    assert api["DisableExecuteApiEndpoint"] is True
    assert domain["DomainName"] == DOMAIN
    [configuration] = domain["DomainNameConfigurations"]
    assert configuration["CertificateArn"] == CERTIFICATE
    assert configuration["SecurityPolicy"] == "TLS_1_2"
    assert client["CallbackURLs"] == [f"https://{DOMAIN}{CALLBACK}"]
    assert otherwise.variables("console")["CONSOLE_URL"] == f"https://{DOMAIN}"
    assert set(otherwise.outputs("console")) == {"ConsoleDomainTarget"}
    assert otherwise.outputs("data")["ConsoleUrl"] == f"https://{DOMAIN}/"


def test_a_run_of_an_agent_has_its_time_and_is_handed_on_only_afterwards(
    assembly: Assembly,
) -> None:
    queue = assembly.one("console", "AWS::SQS::Queue", "AgentRunsQueueF").properties
    mapping = assembly.one("console", "AWS::Lambda::EventSourceMapping").properties
    seconds = assembly.function("agent-runner")["Timeout"]

    assert seconds > MOST_SECONDS + SECONDS_TO_END
    assert queue["VisibilityTimeout"] == 6 * seconds
    assert queue["RedrivePolicy"]["deadLetterTargetArn"].endswith(":stackroom-agent-runs-dead")
    assert (mapping["BatchSize"], mapping["MaximumBatchingWindowInSeconds"]) == (1, 0)
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 10}
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_a_deployment_does_without(assembly: Assembly) -> None:
    without = deployment("hierarchical")

    assert without.stacks == assembly.stacks - {"console"}
    operations = json.dumps(without.template("operations"))
    assert "Console" not in operations
    assert "AgentRuns" not in operations
    policy = without.one("data", "AWS::S3::BucketPolicy").properties["PolicyDocument"]
    assert "stackroom-console" not in json.dumps(policy)
    assert "CorsConfiguration" not in without.one("data", "AWS::S3::Bucket").properties
    # What an older console's stack still imports stays, and answers nobody.
    api = without.one("data", "AWS::ApiGatewayV2::Api")
    assert api.properties["DisableExecuteApiEndpoint"] is True
    exported = [each["Value"] for each in without.template("data")["Outputs"].values()]
    assert {"Ref": api.logical_id} in exported


def _address(assembly: Assembly) -> str:
    api = assembly.one("data", "AWS::ApiGatewayV2::Api").logical_id
    return f"https://{api}.execute-api.{{region}}.amazonaws.com"
