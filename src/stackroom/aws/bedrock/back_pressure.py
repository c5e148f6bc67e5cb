"""Distinguish Bedrock's answers that mean "later" from those that mean "never"."""

from collections.abc import Iterable

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import THROTTLES, code_of, message_of
from stackroom.runs.bedrock_calls import Busy

# ConflictException while a job of the knowledge base runs, ServiceQuotaExceededException, and
# ValidationExceptions whose message mentions work in progress. [assumed: document.during-job]
BUSY_CODES = THROTTLES | {"ConflictException", "ServiceQuotaExceededException"}
_BUSY_TEXTS = (
    "can't exceed",  # [HatmanStack/RAGStack-Lambda lib/ragstack_common/ingestion.py]
    "concurrent",  # "maximum number of concurrent ingestion jobs" [repost.aws]
    "ongoing",  # [HatmanStack/RAGStack-Lambda, as above]
    "running",  # "There is at least one running ingestion job for this data source" [repost.aws]
    # Not reported for Bedrock, but used by other AWS services.
    "in progress",
    "retry your request",
    "try again",
)


def back_pressure(
    error: Exception, codes: frozenset[str] = BUSY_CODES, uris: Iterable[str] = ()
) -> Busy:
    """
    Return a call's error as back-pressure, or raise it again if it isn't. `uris` are those of the
    call; they are ignored where the error's message repeats them.
    """
    cause = error if isinstance(error, ClientError) else error.__cause__
    if isinstance(cause, ClientError) and _means_later(cause, codes, uris):
        return Busy(why=f"{code_of(cause)}: {message_of(cause)}")
    raise error


def means_work_under_way(error: ClientError, uris: Iterable[str] = ()) -> bool:
    """
    Return True if a ValidationException is about work in progress rather than an invalid request.
    """
    message = message_of(error)
    for uri in uris:
        message = message.replace(uri, "")
    return any(text in message.lower() for text in _BUSY_TEXTS)


def _means_later(error: ClientError, codes: frozenset[str], uris: Iterable[str]) -> bool:
    if code_of(error) == "ValidationException":
        return means_work_under_way(error, uris)
    return code_of(error) in codes
