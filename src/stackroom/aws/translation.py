"""AWS's errors in our words: throttled and failed calls become `Unavailable`, all else goes on."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    StackroomError,
    StoreUnavailable,
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
        raise _unanswered(error, KnowledgeBaseUnavailable("the call", "no answer")) from error


@contextmanager
def store_errors() -> Iterator[None]:
    """Raises StoreUnavailable for what will pass, of DynamoDB, S3 and Step Functions."""
    try:
        yield
    except ClientError as error:
        if code_of(error) in THROTTLES or _is_servers_fault(error):
            raise StoreUnavailable(error.operation_name, code_of(error)) from error
        raise
    except BotoCoreError as error:
        raise _unanswered(error, StoreUnavailable("the call", "no answer")) from error


def _is_servers_fault(error: ClientError) -> bool:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) >= 500


def _unanswered(error: BotoCoreError, passing: StackroomError) -> Exception:
    """Connections that fail or time out will pass; a parameter that botocore refuses won't."""
    transient = ("ConnectionError", "HTTPClientError", "ConnectionClosedError")
    names = {kind.__name__ for kind in type(error).__mro__}
    return passing if names & set(transient) else error
