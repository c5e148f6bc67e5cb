"""The console's stack: access, addresses, and deployments without a console."""

import json

from infra.console_sign_in import SIGNED_IN
from stackroom_agents.user_agents.run_bounds import MOST_SECONDS, SECONDS_TO_END
from stackroom_console.console import ANSWERED_WITHIN, FOR_A_START, OPERATORS
from stackroom_console.openid_provider import CALLBACK
from tests.infra.assembly import Assembly
from tests.infra.synthesis import DOMAIN, deployment


def test_console_api_logs_no_secrets_and_outlasts_the_functions_answer(
    assembly: Assembly,
) -> None:
    stage = assembly.one("console", "AWS::ApiGatewayV2::Stage").properties
    logged = set(json.loads(stage["AccessLogSettings"]["Format"]).values())

    # Headers, the query and the whole request line could contain a token or a code.
    assert not {each for each in logged if "header" in each.lower() or "query" in each.lower()}
    assert "$context.protocol" not in logged
    assert {"$context.path", "$context.status", "$context.requestId"} <= logged
    # https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
    seconds = assembly.function("console")["Timeout"]
    assert ANSWERED_WITHIN + FOR_A_START < seconds < 30  # so that the error is our own


def test_console_accepts_tokens_of_both_clients_and_signs_in_with_its_own(
    assembly: Assembly,
) -> None:
    variables = assembly.variables("console")
    own = assembly.one("console", "AWS::Cognito::UserPoolClient").logical_id
    agents = assembly.one("gateway", "AWS::Cognito::UserPoolClient").logical_id

    assert json.loads(variables["IDENTITY_CLIENT_IDS"]) == [own, agents]
    assert variables["CONSOLE_CLIENT_ID"] == own
    assert variables["CONSOLE_URL"] == _address(assembly)
    assert CALLBACK == SIGNED_IN
    assert variables["MCP_URL"] == assembly.outputs("gateway")["McpUrl"]


def test_agents_are_offered_the_models_that_their_runner_may_invoke(
    assembly: Assembly, customised: Assembly
) -> None:
    models = ["eu.amazon.nova-lite-v1:0", "amazon.nova-micro-v1:0"]
    invoked = {arn for action, arn in customised.granted("agent-runner") if "InvokeModel" in action}

    assert json.loads(customised.variables("console")["AGENT_MODELS"]) == models
    assert {f"inference-profile/{models[0]}", f"foundation-model/{models[1]}"} <= invoked
    by_default = json.loads(assembly.variables("console")["AGENT_MODELS"])
    assert by_default == ["global.amazon.nova-2-lite-v1:0"]


def test_agent_run_is_redelivered_only_after_its_timeout(
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


def _address(assembly: Assembly) -> str:
    api = assembly.one("data", "AWS::ApiGatewayV2::Api").logical_id
    return f"https://{api}.execute-api.{{region}}.amazonaws.com"


def test_session_key_is_generated_and_operators_group_matches_the_app(
    assembly: Assembly,
) -> None:
    secret = assembly.one("console", "AWS::SecretsManager::Secret").properties
    group = assembly.one("data", "AWS::Cognito::UserPoolGroup").properties

    assert secret["GenerateSecretString"]["PasswordLength"] == 64
    assert "SecretString" not in secret  # so that it is written nowhere
    assert group["GroupName"] == OPERATORS


def test_custom_domain_disables_the_default_endpoint(customised: Assembly) -> None:
    api = customised.one("data", "AWS::ApiGatewayV2::Api").properties
    client = customised.one("console", "AWS::Cognito::UserPoolClient").properties

    assert api["DisableExecuteApiEndpoint"] is True
    assert client["CallbackURLs"] == [f"https://{DOMAIN}{CALLBACK}"]
    assert customised.variables("console")["CONSOLE_URL"] == f"https://{DOMAIN}"


def test_without_console_only_its_disabled_endpoint_stays(assembly: Assembly) -> None:
    without = deployment("hierarchical")

    assert without.stacks == assembly.stacks - {"console"}
    assert "CorsConfiguration" not in without.one("data", "AWS::S3::Bucket").properties
    # What an older console's stack still imports stays.
    api = without.one("data", "AWS::ApiGatewayV2::Api")
    assert api.properties["DisableExecuteApiEndpoint"] is True
    exported = [each["Value"] for each in without.template("data")["Outputs"].values()]
    assert {"Ref": api.logical_id} in exported
