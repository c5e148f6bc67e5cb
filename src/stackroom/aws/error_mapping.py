"""AWS's errors in our words: throttled and failed calls become `Unavailable`, all else goes on."""

from collections.abc import Iterator
from contextlib import contextmanager

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

# Error codes of throttling in botocore's standard retry mode, which has given up by now.
THROTTLES = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",  # our own, whose answer got lost, is still at work
    }
)
# Of our credentials, clock or rights, never of one item [AWS General Reference: Common Errors; S3
# API reference: ErrorResponses]. S3's AccessDenied is not among them: see s3/object_refusals.py.
REFUSALS = frozenset(
    {
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "NoSuchBucket",
        "NotAuthorized",
        "RequestTimeTooSkewed",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)

# Answered with a 4xx, or within a stream, and yet they pass by themselves [API models of s3vectors,
# bedrock-runtime].
_PASSING = frozenset(
    {
        "InternalServerException",
        "ModelErrorException",
        "ModelNotReadyException",
        "ModelStreamErrorException",
        "ModelTimeoutException",
        "RequestTimeoutException",
        "ServiceUnavailableException",
    }
)


def code_of(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def message_of(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Message", ""))


@contextmanager
def knowledge_base_errors() -> Iterator[None]:
    """Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable for what will pass."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        operation, what = _told(error)
        if what in THROTTLES:
            raise KnowledgeBaseThrottled(operation) from error
        if _is_transient(error):
            raise KnowledgeBaseUnavailable(operation, what) from error
        raise


def search_error(error: ClientError | BotoCoreError, operation: str) -> Unavailable:
    """Refusals too: one knowledge base that refuses us must not cost the others' answers."""
    _, what = _told(error)
    if what in THROTTLES:
        return KnowledgeBaseThrottled(operation)
    return KnowledgeBaseUnavailable(operation, what)


@contextmanager
def direct_search_errors(operation: str) -> Iterator[None]:
    """
    Of S3 Vectors, and of the models asked on the way to it. Raises KnowledgeBaseThrottled or
    KnowledgeBaseUnavailable for what will pass, SearchRefused for all else.
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        _, what = _told(error)
        if what in _PASSING or what in THROTTLES or _is_transient(error):
            raise search_error(error, operation) from error
        how = "answered" if isinstance(error, ClientError) else "can't be called:"
        raise SearchRefused(f"{operation} {how} {what}") from error


@contextmanager
def understood(operation: str) -> Iterator[None]:
    """
    Raises KnowledgeBaseUnavailable for an answer that isn't what the API's model says.

    botocore doesn't look whether an answer is of the types that it reads it by. What stands
    between may answer in AWS's stead, or half the answer may be lost; whoever reads it trips over
    what isn't there, in one of these ways.
    """
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise KnowledgeBaseUnavailable(operation, "AnswerNotUnderstood") from error


@contextmanager
def model_errors(operation: str) -> Iterator[None]:
    """
    Of a model that answers an agent. Raises ModelThrottled or ModelUnavailable for
    what will pass, ModelRefused for a request that it doesn't take, ServiceRefused for all else.
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        _, told = _told(error)
        # Within a stream an error is an event, whose name begins with a small letter.
        what = told[:1].upper() + told[1:]
        if what in THROTTLES:
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
    Of DynamoDB, S3 and Step Functions. Raises StoreUnavailable for what will pass, and
    ServiceRefused for what is the fault of our own credentials or rights.
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        operation, what = _told(error)
        if what in THROTTLES or _is_transient(error):
            raise StoreUnavailable(operation, what) from error
        if what in REFUSALS or isinstance(error, NoCredentialsError | CredentialRetrievalError):
            raise ServiceRefused(operation, what) from error
        raise


def _told(error: ClientError | BotoCoreError) -> tuple[str, str]:
    """The operation, and what was answered; without an answer what botocore calls it."""
    if isinstance(error, ClientError):
        return error.operation_name, code_of(error)
    return "the call", type(error).__name__


def _is_transient(error: ClientError | BotoCoreError) -> bool:
    """
    Of the server's own fault, and of connections that fail or time out; a parameter that botocore
    refuses won't pass.
    """
    if isinstance(error, ClientError):
        return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) >= 500
    return isinstance(error, ConnectionError | HTTPClientError)
