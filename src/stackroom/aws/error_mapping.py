"""AWS's errors in our words: throttled and failed calls become `Unavailable`, all else goes on."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
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
    except ClientError as error:
        if code_of(error) in THROTTLES:
            raise KnowledgeBaseThrottled(error.operation_name) from error
        if _is_servers_fault(error):
            raise KnowledgeBaseUnavailable(error.operation_name, code_of(error)) from error
        raise
    except BotoCoreError as error:
        if _is_transient(error):
            raise KnowledgeBaseUnavailable("the call", type(error).__name__) from error
        raise


def search_error(error: ClientError | BotoCoreError, operation: str) -> Unavailable:
    """Refusals too: one knowledge base that refuses us must not cost the others' answers."""
    if not isinstance(error, ClientError):
        return KnowledgeBaseUnavailable(operation, type(error).__name__)
    if code_of(error) in THROTTLES:
        return KnowledgeBaseThrottled(operation)
    return KnowledgeBaseUnavailable(operation, code_of(error))


@contextmanager
def direct_search_errors(operation: str) -> Iterator[None]:
    """
    Of S3 Vectors, and of the models asked on the way to it. Raises KnowledgeBaseThrottled or
    KnowledgeBaseUnavailable for what will pass, SearchRefused for all else.
    """
    try:
        yield
    except ClientError as error:
        code = code_of(error)
        if code in THROTTLES:
            raise KnowledgeBaseThrottled(operation) from error
        if code in _PASSING or _is_servers_fault(error):
            raise KnowledgeBaseUnavailable(operation, code) from error
        raise SearchRefused(f"{operation} answered {code}") from error
    except BotoCoreError as error:
        if _is_transient(error):
            raise KnowledgeBaseUnavailable(operation, type(error).__name__) from error
        raise SearchRefused(f"{operation} can't be called: {type(error).__name__}") from error


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
    except ClientError as error:
        # Within a stream an error is an event, whose name begins with a small letter.
        code = code_of(error)[:1].upper() + code_of(error)[1:]
        if code in THROTTLES:
            raise ModelThrottled(operation) from error
        if code in _PASSING or _is_servers_fault(error):
            raise ModelUnavailable(operation, code) from error
        if code == "ValidationException":
            raise ModelRefused(code, message_of(error)) from error
        raise ServiceRefused(operation, code) from error
    except BotoCoreError as error:
        if _is_transient(error):
            raise ModelUnavailable(operation, type(error).__name__) from error
        raise ServiceRefused(operation, type(error).__name__) from error
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
    except ClientError as error:
        if code_of(error) in THROTTLES or _is_servers_fault(error):
            raise StoreUnavailable(error.operation_name, code_of(error)) from error
        if code_of(error) in REFUSALS:
            raise ServiceRefused(error.operation_name, code_of(error)) from error
        raise
    except BotoCoreError as error:
        if _is_transient(error):
            raise StoreUnavailable("the call", type(error).__name__) from error
        if isinstance(error, NoCredentialsError | CredentialRetrievalError):
            raise ServiceRefused("the call", type(error).__name__) from error
        raise


def _is_servers_fault(error: ClientError) -> bool:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) >= 500


def _is_transient(error: BotoCoreError) -> bool:
    """Connections that fail or time out will pass; a parameter that botocore refuses won't."""
    return isinstance(error, ConnectionError | HTTPClientError | ConnectionClosedError)
