"""
Adapters map each error in AWS's API models, and understand answers without optional members. A
release of botocore that lists a new error, or makes a member optional, fails here.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.model import OperationModel

from stackroom.aws.dynamodb import table
from stackroom.concurrency import at_once
from stackroom.errors import StackroomError
from stackroom.runs.bedrock_calls import Busy
from stackroom.runs.inventory import ListingExpired
from tests.campaigns.permissions import needs
from tests.contract.service_answers import answer, optional_members
from tests.contract.service_calls import CALLS, Call

RAW = "raw"  # botocore's error goes on as it is
_MISTAKE = "a mistake in a request of ours, which would meet it again"
_OPERATORS = "an operator must mend it; the run breaks, and the log and an alarm name it"
_GONE = "the deployment's own resource is gone; the log and an alarm name it"

# By service and code: what comes of it, by the name of our error, and why it is final where it goes
# on as botocore's. The codes are those of the API models in botocore; what each means is told by
# the errors of the operation's page in the service's API reference:
# https://docs.aws.amazon.com/AmazonS3/latest/API/
# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/
# https://docs.aws.amazon.com/bedrock/latest/APIReference/
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/
# https://docs.aws.amazon.com/eventbridge/latest/APIReference/
# https://docs.aws.amazon.com/secretsmanager/latest/apireference/
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/
# https://docs.aws.amazon.com/step-functions/latest/apireference/
# https://docs.aws.amazon.com/textract/latest/dg/API_Reference.html
OUTCOMES: dict[str, dict[str, tuple[str, str]]] = {
    "s3": {
        "NoSuchKey": ("answered ObjectRefused", ""),
        "NoSuchBucket": ("ServiceRefused", ""),
        "InvalidObjectState": (
            "answered ObjectRefused raw",
            "nothing archives place maps or sessions, which have no rule of that kind",
        ),
        "InvalidRequest InvalidWriteOffset TooManyParts EncryptionTypeMismatch": (RAW, _MISTAKE),
    },
    "dynamodb": {
        "InternalServerError ProvisionedThroughputExceededException RequestLimitExceeded "
        "ReplicatedWriteConflictException ThrottlingException TransactionConflictException "
        "TransactionInProgressException": ("StoreUnavailable", ""),
        "ConditionalCheckFailedException": (
            "answered raw",
            "calls without a condition can't meet it",
        ),
        "TransactionCanceledException": (RAW, "whoever wrote reads the reasons of its items"),
        "IdempotentParameterMismatchException": (RAW, _MISTAKE),
        "ItemCollectionSizeLimitExceededException": (
            "CatalogFull raw",
            "calls without a condition write to the control table, which has no local index",
        ),
        "ResourceNotFoundException": (RAW, _GONE),
    },
    "bedrock-agent": {
        "ThrottlingException": ("Busy KnowledgeBaseThrottled", ""),
        "InternalServerException": ("KnowledgeBaseUnavailable", ""),
        "ServiceQuotaExceededException": ("Busy DataSourceLimit KnowledgeBaseThrottled", ""),
        "ConflictException": ("Busy KnowledgeBaseThrottled answered", ""),
        "ValidationException": ("DocumentsRefused ListingExpired answered raw", _MISTAKE),
        "ResourceNotFoundException": ("answered raw", _GONE),
        "AccessDeniedException": (RAW, _OPERATORS),
    },
    "bedrock-agent-runtime": {
        "ServiceQuotaExceededException ThrottlingException": ("KnowledgeBaseThrottled", ""),
        "AccessDeniedException BadGatewayException ConflictException DependencyFailedException "
        "InternalServerException ResourceNotFoundException ValidationException": (
            "KnowledgeBaseUnavailable",
            "",
        ),
    },
    "s3vectors": {
        "TooManyRequestsException": ("KnowledgeBaseThrottled StoreUnavailable", ""),
        "InternalServerException RequestTimeoutException ServiceUnavailableException": (
            "KnowledgeBaseUnavailable StoreUnavailable",
            "",
        ),
        "AccessDeniedException": ("SearchRefused ServiceRefused", ""),
        "ConflictException": ("SearchIndexBusy", ""),
        "NotFoundException": ("SearchIndexGone SearchRefused", ""),
        "KmsDisabledException KmsInvalidKeyUsageException KmsInvalidStateException "
        "KmsNotFoundException": ("SearchRefused", ""),
        "ValidationException": ("SearchRefused raw", _MISTAKE),
    },
    "bedrock-runtime": {
        "ThrottlingException": ("KnowledgeBaseThrottled ModelThrottled", ""),
        "ServiceQuotaExceededException": ("KnowledgeBaseThrottled", ""),
        "InternalServerException ModelErrorException ModelNotReadyException ModelTimeoutException "
        "ServiceUnavailableException": ("KnowledgeBaseUnavailable ModelUnavailable", ""),
        "AccessDeniedException ResourceNotFoundException": (
            "KnowledgeBaseUnavailable SearchRefused ServiceRefused",
            "",
        ),
        "ValidationException": ("KnowledgeBaseUnavailable ModelRefused SearchRefused", ""),
    },
    "sqs": {
        "KmsThrottled RequestThrottled": ("StoreUnavailable", ""),
        "KmsAccessDenied KmsDisabled KmsInvalidKeyUsage KmsInvalidState KmsNotFound "
        "KmsOptInRequired QueueDoesNotExist": ("ServiceRefused", ""),
        "MessageNotInflight ReceiptHandleIsInvalid": (
            RAW,
            "the message that was to be put off comes back by itself",
        ),
        "BatchEntryIdsNotDistinct BatchRequestTooLong EmptyBatchRequest InvalidAddress "
        "InvalidBatchEntryId InvalidMessageContents InvalidSecurity TooManyEntriesInBatchRequest "
        "UnsupportedOperation": (RAW, _MISTAKE),
    },
    "events": {"InternalException": ("StoreUnavailable", "")},
    "secretsmanager": {
        "InternalServiceError": ("StoreUnavailable", ""),
        "ResourceNotFoundException": (RAW, _GONE),
        "DecryptionFailure InvalidParameterException InvalidRequestException": (RAW, _OPERATORS),
    },
    "cloudwatch": {
        "DashboardNotFoundError InternalServiceFault InvalidParameterValueException": (
            "FiguresNotRead",
            "",
        ),
        # DescribeAlarms has it, too: figures show without their alarms.
        "InvalidNextToken": ("FiguresNotRead answered", ""),
    },
    "stepfunctions": {
        "ExecutionLimitExceeded KmsThrottlingException": ("StoreUnavailable", ""),
        "KmsAccessDeniedException KmsInvalidStateException": ("ServiceRefused", ""),
        "ExecutionAlreadyExists ExecutionDoesNotExist TaskDoesNotExist TaskTimedOut": (
            "answered",
            "",
        ),
        "StateMachineDeleting StateMachineDoesNotExist": (RAW, _GONE),
        "InvalidToken": ("answered raw", _MISTAKE),
        "InvalidArn InvalidExecutionInput InvalidName InvalidOutput ResourceNotFound "
        "StateMachineTypeNotSupported ValidationException": (RAW, _MISTAKE),
    },
    "textract": {
        "InternalServerError ProvisionedThroughputExceededException ThrottlingException": (
            "StoreUnavailable",
            "",
        ),
        "AccessDeniedException InvalidS3ObjectException": ("ServiceRefused", ""),
        "BadDocumentException DocumentTooLargeException InvalidParameterException "
        "UnsupportedDocumentException": ("answered", ""),
    },
}
# Members that the API model has as optional, and without which an adapter breaks. The model of S3
# requires no member of any answer, nor does DynamoDB's of those below: their API references show
# them in every answer to requests like ours.
ALWAYS_THERE = {
    "s3.GetObject": {"Body", "ContentLength", "ETag", "LastModified"},
    "s3.HeadObject": {"ContentLength", "ETag", "LastModified"},
    "s3.PutObject": {"ETag"},
    "s3.ListObjectsV2": {
        "Contents[].ETag",
        "Contents[].Key",
        "Contents[].LastModified",
        "Contents[].Size",
        "IsTruncated",
        "CommonPrefixes[].Prefix",  # botocore reads it, of an answer to requests with a delimiter
    },
    "s3.ListObjectVersions": {
        "DeleteMarkers[].Key",
        "DeleteMarkers[].LastModified",
        "Versions[].Key",
        "Versions[].LastModified",
        "CommonPrefixes[].Prefix",
    },
    "dynamodb.UpdateItem": {"Attributes"},  # ReturnValues=ALL_NEW
    "dynamodb.Query": {"Items"},
    "dynamodb.Scan": {"Items"},
    "dynamodb.BatchGetItem": {"Responses"},
    "secretsmanager.GetSecretValue": {"SecretString"},  # of a secret that holds a text
}
_PROGRAMS = (AssertionError, AttributeError, IndexError, KeyError, TypeError)

Respond = Callable[[OperationModel], dict[str, Any]]


@pytest.fixture(scope="module")
def clients() -> dict[str, Any]:
    session: Any = boto3.Session("testing", "testing", region_name="us-east-1")
    return {service: session.client(service) for service in OUTCOMES}


@contextmanager
def responding(client: Any, respond: Respond) -> Iterator[None]:
    """All calls of the client are answered below parameter validation, and nothing is sent."""

    def response(model: OperationModel, **_: Any) -> tuple[Any, dict[str, Any]]:
        told = {"ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {}}, **respond(model)}
        return SimpleNamespace(status_code=told["ResponseMetadata"]["HTTPStatusCode"]), told

    client.meta.events.register("before-call", response)
    try:
        yield
    finally:
        client.meta.events.unregister("before-call", response)


def outcome(client: Any, call: Call, respond: Respond) -> str:
    with responding(client, respond):
        try:
            found = call(client)
        except (StackroomError, ListingExpired) as error:
            return type(error).__name__
        except ClientError:
            return RAW
    return "Busy" if isinstance(found, Busy) else "answered"


def failing(operation: str, error: Any) -> Respond:
    """Return a responder with the error at that operation and complete answers elsewhere."""
    code = error.metadata.get("error", {}).get("code", error.name)
    # Models of JSON protocols name no status. [API references: 400, and 500 for Internal...]
    by_name = 500 if error.name.startswith("Internal") else 400
    status = error.metadata.get("error", {}).get("httpStatusCode", by_name)
    failed = {
        "Error": {"Code": code, "Message": "no", "QueryErrorCode": error.name},
        "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": {}},
    }
    return lambda model: failed if model.name == operation else answer(model)


def model_of(clients: dict[str, Any], name: str) -> OperationModel:
    service, _, operation = name.partition(".")
    model: OperationModel = clients[service].meta.service_model.operation_model(operation)
    return model


def test_every_operation_of_the_product_has_an_error_test() -> None:
    # How a local function gets its role is none of the product's calls.
    assert set(CALLS) == set(needs._ASKED) - {"sts.AssumeRole"}


@pytest.mark.parametrize("service", OUTCOMES)
def test_each_error_of_the_api_model_is_mapped_or_named_as_final(
    service: str, clients: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for pause in ("_among_writers", "_while_busy"):
        monkeypatch.setattr(table, pause, at_once)

    found: dict[str, set[str]] = {}
    for name in (each for each in CALLS if each.partition(".")[0] == service):
        model = model_of(clients, name)
        for error in model.error_shapes:
            outcomes = {
                outcome(clients[service], call, failing(model.name, error)) for call in CALLS[name]
            }
            found.setdefault(error.name, set()).update(outcomes)

    rows = OUTCOMES[service].items()
    assert found == {code: set(row[0].split()) for codes, row in rows for code in codes.split()}
    assert all((RAW in row[0].split()) == bool(row[1]) for _, row in rows)


@pytest.mark.parametrize("name", CALLS)
def test_an_answer_without_its_optional_members_is_understood(
    name: str, clients: dict[str, Any]
) -> None:
    model, service = model_of(clients, name), name.partition(".")[0]
    optional = set(optional_members(model))
    always_there = ALWAYS_THERE.get(name, set())
    cases = [frozenset({each}) for each in optional - always_there]

    assert always_there <= optional
    for without in [*cases, frozenset(optional - always_there)]:
        for call in CALLS[name]:
            respond = _leaving_out(model, without)
            try:
                outcome(clients[service], call, respond)
            except ValueError:
                continue  # of a body that holds nothing; its caller expects that
            except _PROGRAMS as error:
                pytest.fail(f"without {sorted(without)}: {error!r}")


def _leaving_out(model: OperationModel, without: frozenset[str]) -> Respond:
    return lambda each: answer(each, without if each.name == model.name else frozenset())
