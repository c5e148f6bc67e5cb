"""
AWS's errors as ours: throttled and failed calls become `Unavailable`, all others pass through.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's own, base of its connection errors
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
)
from urllib3.exceptions import HTTPError

from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    ModelRefused,
    ModelThrottled,
    ModelUnavailable,
    SearchRefused,
    ServiceRefused,
    StoreUnavailable,
    Unavailable,
)

# Error codes of throttling: botocore's standard retry mode repeats them, KMS's excepted, and has
# given up by now.
THROTTLES = frozenset(
    {
        "KmsThrottled",  # the key of a queue [API model of sqs]
        "KmsThrottlingException",  # the key of a state machine [API model of stepfunctions]
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",  # [API model of sqs]
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",  # our own, whose answer got lost, is still at work
    }
)
# "The number of requests exceeds the service quota. Resubmit your request later." [API models of
# bedrock-agent, where it comes with status 402, and of bedrock-agent-runtime, where it is 400]
_OVER_QUOTA = "ServiceQuotaExceededException"
# Errors of our credentials, clock or rights, or of a key or queue of the deployment's, never of one
# item [AWS General Reference: Common Errors; S3 API reference: ErrorResponses; API models of sqs
# and stepfunctions]. S3's AccessDenied is not among them: see s3/document_bucket.py.
REFUSALS = frozenset(
    {
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "KmsAccessDenied",
        "KmsAccessDeniedException",
        "KmsDisabled",
        "KmsInvalidKeyUsage",
        "KmsInvalidState",
        "KmsInvalidStateException",
        "KmsNotFound",
        "KmsOptInRequired",
        "NoSuchBucket",
        "NotAuthorized",
        "QueueDoesNotExist",
        "RequestTimeTooSkewed",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)

# Answered with a 4xx, or within a stream, and yet they pass by themselves [API models of s3vectors,
# bedrock-runtime, dynamodb and stepfunctions; S3 API reference: ErrorResponses].
_PASSING = frozenset(
    {
        "ExecutionLimitExceeded",
        "InternalServerException",
        "ModelErrorException",
        "ModelNotReadyException",
        "ModelStreamErrorException",
        "ModelTimeoutException",
        "ReplicatedWriteConflictException",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailableException",
        "TransactionConflictException",
    }
)


def code_of(error: ClientError) -> str:
    """
    Return the name that the API model gives the error.

    SQS and CloudWatch send the code of their former protocol, too, and botocore puts that one
    first: `KMS.ThrottlingException` is KmsThrottled there.
    https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#aws-protocols-awsquerycompatible-trait
    """
    fields: Mapping[str, Any] = error.response.get("Error", {})
    return str(fields.get("QueryErrorCode") or fields.get("Code", ""))


def message_of(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Message", ""))


@contextmanager
def knowledge_base_errors() -> Iterator[None]:
    """Raise KnowledgeBaseThrottled or KnowledgeBaseUnavailable for errors that will pass."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        operation, what = _operation_and_code(error)
        if _is_throttle(what):
            raise KnowledgeBaseThrottled(operation) from error
        if _is_transient(error):
            raise KnowledgeBaseUnavailable(operation, what) from error
        raise


def search_error(error: ClientError | BotoCoreError, operation: str) -> Unavailable:
    """
    Return the error of a search, for refusals too: one knowledge base that refuses us must not cost
    the others' answers.
    """
    _, what = _operation_and_code(error)
    if _is_throttle(what):
        return KnowledgeBaseThrottled(operation)
    return KnowledgeBaseUnavailable(operation, what)


@contextmanager
def direct_search_errors(operation: str) -> Iterator[None]:
    """
    Translate errors of S3 Vectors and of the models called before it. Raises KnowledgeBaseThrottled
    or KnowledgeBaseUnavailable for errors that will pass, SearchRefused for all others.
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        _, what = _operation_and_code(error)
        if _is_throttle(what) or _is_transient(error):
            raise search_error(error, operation) from error
        how = "answered" if isinstance(error, ClientError) else "can't be called:"
        raise SearchRefused(f"{operation} {how} {what}") from error


@contextmanager
def understood(operation: str) -> Iterator[None]:
    """
    Raise KnowledgeBaseUnavailable for an answer that doesn't follow the API's model.

    botocore doesn't check an answer's types. A proxy between may answer in AWS's stead, or half the
    answer may be lost; then reading it fails in one of these ways.
    """
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise KnowledgeBaseUnavailable(operation, "AnswerNotUnderstood") from error


@contextmanager
def model_errors(operation: str) -> Iterator[None]:
    """
    Translate errors of a model that answers an agent. Raises ModelThrottled or ModelUnavailable for
    errors that will pass, ModelRefused for a request that it rejects, ServiceRefused for all
    others.
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        _, code = _operation_and_code(error)
        # Within a stream an error is an event, whose name begins with a small letter.
        what = code[:1].upper() + code[1:]
        if _is_throttle(what):
            raise ModelThrottled(operation) from error
        if what in _PASSING or _is_transient(error):
            raise ModelUnavailable(operation, what) from error
        if isinstance(error, ClientError) and what == "ValidationException":
            raise ModelRefused(what, message_of(error)) from error
        raise ServiceRefused(operation, what) from error
    except HTTPError as error:  # of a stream that breaks off, which botocore hands on
        raise ModelUnavailable(operation, type(error).__name__) from error


@contextmanager
def store_errors() -> Iterator[None]:
    """
    Translate errors of DynamoDB, S3, SQS and Step Functions. Raises StoreUnavailable for errors
    that will pass, and ServiceRefused for the fault of our own credentials or rights.
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        operation, what = _operation_and_code(error)
        if what in THROTTLES or _is_transient(error):
            raise StoreUnavailable(operation, what) from error
        if what in REFUSALS or isinstance(error, NoCredentialsError | CredentialRetrievalError):
            raise ServiceRefused(operation, what) from error
        raise


def _operation_and_code(error: ClientError | BotoCoreError) -> tuple[str, str]:
    """
    Return the operation and the error's code; without an answer, botocore's name of the error.
    """
    if isinstance(error, ClientError):
        return error.operation_name, code_of(error)
    return "the call", type(error).__name__


def _is_throttle(code: str) -> bool:
    return code in THROTTLES or code == _OVER_QUOTA


def _is_transient(error: ClientError | BotoCoreError) -> bool:
    """
    Return True for the server's own faults, and for connections that fail or time out. A parameter
    that botocore refuses is permanent.
    """
    if isinstance(error, ClientError):
        if code_of(error) in _PASSING:
            return True
        return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) >= 500
    return isinstance(error, ConnectionError | HTTPClientError)
