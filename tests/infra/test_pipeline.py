"""Functions, queues, schedules and the state machine, with their settings and timeouts."""

import json
from typing import Any

import pytest

from functions.event_publisher.handler import PublisherSettings
from functions.event_publisher.schemas import schema_file, schema_path
from functions.identity_interceptor.handler import InterceptorSettings
from functions.ingest.handler import IngestSettings
from functions.inspect.handler import InspectSettings
from functions.reconciler.handler import ReconcilerSettings
from functions.status_poller.handler import PollerSettings
from functions.upload_handler.handler import UploadSettings
from functions.webhook_sender.handler import WebhookSenderSettings
from infra.bundling import ROOT
from stackroom.app.function_settings import CatalogToolsSettings, RetrieveSettings, Settings
from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.dynamodb.cap_records import REACHED
from stackroom.aws.dynamodb.catalog_records import METADATA
from stackroom.aws.dynamodb.document_items import DOCUMENT
from stackroom.aws.dynamodb.receipt_records import RECEIPTS
from stackroom.catalogs.changes import DETAIL_TYPES
from stackroom.catalogs.webhooks import pause_after
from stackroom.model.records import CatalogDataSources
from stackroom.search.budget import Budget, Priority
from tests.infra.assembly import Assembly, as_list
from tests.infra.synthesis import deployment

MACHINE = "arn:aws:states:{region}:{account}:stateMachine:stackroom-ingest-catalog"
# Variables of several functions, the same for each.
SHARED = {
    "KB_CATALOG_TABLE": "stackroom-kb-catalog",
    "KB_CONTROL_TABLE": "stackroom-kb-control",
    "KB_DOCS_BUCKET": "stackroom-kb-docs-{account}-{region}",
    "KB_POOL": '{"ids":["KnowledgeBase1.KnowledgeBaseId/SharedDataSource1.DataSourceId"],'
    '"indexes":"arn:aws:s3vectors:{region}:{account}:bucket/stackroom-vectors-{account}-{region}'
    '/index/stackroom-"}',
    "STATE_MACHINE_ARN": MACHINE,
    "ADMISSION_JOBS": "5",
    "ADMISSION_DIRECT_CALLS": "10",
    "ADMISSION_SECONDS_BETWEEN_STARTS": "10",
    "POWERTOOLS_METRICS_NAMESPACE": "Stackroom",
    "LOG_LEVEL": "INFO",
}
OF_EVERY_FUNCTION = {"POWERTOOLS_SERVICE_NAME", "POWERTOOLS_METRICS_NAMESPACE", "LOG_LEVEL"}
SETTINGS: dict[str, type[Settings]] = {
    "upload_handler": UploadSettings,
    "inspect": InspectSettings,
    "ingest": IngestSettings,
    "status_poller": PollerSettings,
    "reconciler": ReconcilerSettings,
    "retrieve": RetrieveSettings,
    "catalog_tools": CatalogToolsSettings,
    "identity_interceptor": InterceptorSettings,
    "event_publisher": PublisherSettings,
    "webhook_sender": WebhookSenderSettings,
}


@pytest.mark.parametrize("package", SETTINGS)
def test_function_has_the_variables_that_its_settings_read(
    assembly: Assembly, package: str
) -> None:
    name = package.replace("_", "-")
    variables = assembly.variables(name)

    SETTINGS[package].from_env(variables)  # raises for what is missing
    read = {each.upper() for each in SETTINGS[package].model_fields} | OF_EVERY_FUNCTION
    assert variables.keys() - read == set()
    assert {
        each: variables[each] for each in variables.keys() & SHARED.keys()
    }.items() <= SHARED.items()
    assert assembly.function(name)["Handler"] == f"functions.{package}.handler.handler"


def test_context_overrides_reach_the_functions_settings(customised: Assembly) -> None:
    ingest = IngestSettings.from_env(customised.variables("ingest"))
    retrieve = RetrieveSettings.from_env(customised.variables("retrieve"))
    tools = CatalogToolsSettings.from_env(customised.variables("catalog-tools"))

    assert (ingest.admission_jobs, ingest.admission_direct_calls) == (7, 20)
    assert ingest.admission_seconds_between_starts == 2.5
    assert (retrieve.retrieve_sharing, retrieve.retrieve_least_score) == ("on", 0.3)
    assert retrieve.guardrail == tools.guardrail == Guardrail(id="gr123", version="DRAFT")
    assert retrieve.budget == tools.budget
    assert tools.budget == Budget(max_tokens=1200, prioritize_by=Priority.RECENCY)
    assert tools.answer_prompt == (ROOT / "tests" / "infra" / "prompt.txt").read_text("utf-8")
    assert {each.catalog_data_sources for each in ingest.kb_pool} == {CatalogDataSources.S3}


@pytest.mark.parametrize(
    ("name", "tries", "spare"),
    [
        # Six times the timeout, as AWS advises, for a function that may be throttled.
        ("uploads", 6, 0),
        # Only once, because the messages of a killed function should not wait for an hour.
        ("inspections", 1, 60),
        ("large-inspections", 1, 60),
    ],
)
def test_queue_hides_messages_in_work_and_gives_up_after_five_failures(
    assembly: Assembly, name: str, tries: int, spare: int
) -> None:
    queue, dead = _queue(assembly, name), _queue(assembly, f"{name}-dead")
    mapping = _mapping(assembly, name)

    timeout = assembly.function(mapping["FunctionName"].removeprefix("stackroom-"))["Timeout"]

    window = mapping.get("MaximumBatchingWindowInSeconds", 0)
    assert queue["VisibilityTimeout"] == tries * timeout + spare + window
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert queue["RedrivePolicy"] == {
        "deadLetterTargetArn": f"arn:aws:sqs:{{region}}:{{account}}:stackroom-{name}-dead",
        "maxReceiveCount": 5,
    }
    assert dead["MessageRetentionPeriod"] == 14 * 24 * 3600
    assert queue["SqsManagedSseEnabled"] is dead["SqsManagedSseEnabled"] is True


def test_webhook_calls_are_retried_for_a_day_in_order(assembly: Assembly) -> None:
    queue, dead = _queue(assembly, "webhooks.fifo"), _queue(assembly, "webhooks-dead.fifo")

    tries = queue["RedrivePolicy"]["maxReceiveCount"]

    waited = sum(pause_after(each) for each in range(1, tries))
    assert 0.95 < waited / 86_400 < 1.15
    assert queue["FifoQueue"] is dead["FifoQueue"] is True
    assert queue["MessageRetentionPeriod"] == dead["MessageRetentionPeriod"] == 14 * 86_400
    assert _mapping(assembly, "webhooks.fifo")["BatchSize"] == 1
    # Deduplication and order apply within a message group only.
    assert queue["DeduplicationScope"] == "messageGroup"
    assert queue["FifoThroughputLimit"] == "perMessageGroupId"


def test_streams_of_both_tables_reach_the_publisher_for_nearly_a_day(
    assembly: Assembly,
) -> None:
    tables = assembly.all("data", "AWS::DynamoDB::GlobalTable")
    mappings = [
        each.properties
        for each in assembly.all("pipeline", "AWS::Lambda::EventSourceMapping")
        if each.properties["FunctionName"].endswith("event-publisher")
    ]
    patterns = [
        json.loads(each["Pattern"])["dynamodb"]["Keys"]
        for mapping in mappings
        for each in mapping["FilterCriteria"]["Filters"]
    ]

    views = [each.properties["StreamSpecification"]["StreamViewType"] for each in tables]
    assert views == ["NEW_AND_OLD_IMAGES"] * 2
    assert patterns == [
        {"sk": {"S": [{"prefix": DOCUMENT}, METADATA]}},
        {"pk": {"S": [{"prefix": RECEIPTS}, {"prefix": REACHED}]}},
    ]
    for each in mappings:
        assert each["StartingPosition"] == "TRIM_HORIZON"
        assert each["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert each["MaximumRecordAgeInSeconds"] == 23 * 3600
        assert "MaximumRetryAttempts" not in each
        [destination] = each["DestinationConfig"]["OnFailure"].values()
        assert destination.endswith(":stackroom-events-dead")


def test_event_schemas_are_registered(assembly: Assembly) -> None:
    schemas = [each.properties for each in assembly.all("pipeline", "AWS::EventSchemas::Schema")]

    assert {each["SchemaName"]: each["Content"] for each in schemas} == {
        f"stackroom@{schema_path(each).stem}": schema_file(each) for each in DETAIL_TYPES
    }
    assert {each["Type"] for each in schemas} == {"JSONSchemaDraft4"}


def test_inspect_takes_one_file_and_may_resend_to_its_queues(
    assembly: Assembly,
) -> None:
    settings = InspectSettings.from_env(assembly.variables("inspect"))

    queues = ("inspections", "large-inspections")
    assert [each.rpartition("/")[2] for each in settings.queue_urls] == [
        f"stackroom-{each}" for each in queues
    ]
    assert settings.queue_batch == 1
    assert [_mapping(assembly, each)["BatchSize"] for each in queues] == [1, 1]
    for each in queues:
        assert ("sqs:SendMessage", f"stackroom-{each}") in assembly.granted("inspect")


def test_textract_is_granted_to_inspect_only_and_only_with_ocr(assembly: Assembly) -> None:
    encrypted = deployment("encrypted")

    assert _textract_rights(encrypted) == [
        (["stackroom-inspect-{region}"], "textract:DetectDocumentText", "*")
    ]
    assert InspectSettings.from_env(encrypted.variables("inspect")).ocr == "textract"
    assert _textract_rights(assembly) == []
    assert "OCR" not in assembly.variables("inspect")


def _textract_rights(assembly: Assembly) -> list[tuple[list[str], str, str]]:
    """Return roles, action and resource of statements that the CDK has merged."""
    return [
        (policy.properties["Roles"], action, statement["Resource"])
        for stack in assembly.stacks
        for policy in assembly.all(stack, "AWS::IAM::Policy")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        for action in as_list(statement["Action"])
        if action.startswith("textract:")
    ]


def test_state_machine_is_defined_by_the_file_and_logs_errors(assembly: Assembly) -> None:
    machine = assembly.one("pipeline", "AWS::StepFunctions::StateMachine").properties
    definition = ROOT / "statemachines" / "ingest_catalog.asl.json"

    assert json.loads(machine["DefinitionString"]) == json.loads(definition.read_text("utf-8"))
    assert machine["StateMachineName"] == "stackroom-ingest-catalog"
    assert machine["StateMachineType"] == "STANDARD"
    assert set(machine["DefinitionSubstitutions"]) == {
        "IngestFunctionArn",
        "StatusPollerFunctionArn",
    }
    assert machine["LoggingConfiguration"]["Level"] == "ERROR"
    assert machine["LoggingConfiguration"]["IncludeExecutionData"] is False
    assert machine["TracingConfiguration"] == {"Enabled": True}


def _queue(assembly: Assembly, name: str) -> dict[str, Any]:
    queues = [each.properties for each in assembly.all("pipeline", "AWS::SQS::Queue")]
    [found] = [each for each in queues if each["QueueName"] == f"stackroom-{name}"]
    return found


def _mapping(assembly: Assembly, queue: str) -> dict[str, Any]:
    [found] = [
        each.properties
        for each in assembly.all("pipeline", "AWS::Lambda::EventSourceMapping")
        if each.properties["EventSourceArn"].endswith(f":stackroom-{queue}")
    ]
    return found


@pytest.mark.parametrize(
    ("context", "shares"), [("as in cdk.json", [10, 10, 10, 50, 100]), ("customised", [2] * 5)]
)
def test_queues_leave_most_lambda_concurrency_to_synchronous_callers(
    context: str, shares: list[int]
) -> None:
    """One is for an account of a thousand functions at a time, the other for a new one of ten."""
    made = deployment(context)

    found = [
        mapping.properties["ScalingConfig"]["MaximumConcurrency"]
        for stack in ("pipeline", "console")
        for mapping in made.all(stack, "AWS::Lambda::EventSourceMapping")
        if ":sqs:" in mapping.properties["EventSourceArn"]
    ]

    assert sorted(found) == shares


def test_failed_events_of_scheduled_functions_are_retained(assembly: Assembly) -> None:
    kept = {
        each.properties["FunctionName"]: each.properties["DestinationConfig"]["OnFailure"]
        for each in assembly.all("pipeline", "AWS::Lambda::EventInvokeConfig")
    }

    assert kept.keys() == {"stackroom-ingest", "stackroom-reconciler"}
    for function, destination in kept.items():
        assert destination["Destination"].endswith(":stackroom-recovery-dead")
        granted = assembly.granted(function.removeprefix("stackroom-"))
        assert ("sqs:SendMessage", "stackroom-recovery-dead") in granted
