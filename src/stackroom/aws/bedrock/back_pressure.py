"""Bedrock's answers that mean "later", told apart from those that mean "never"."""

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import THROTTLES, code_of, message_of
from stackroom.ingestion.bedrock_calls import Busy

# ConflictException while a job of the knowledge base runs, ServiceQuotaExceededException, and
# ValidationExceptions whose text tells of work under way [HatmanStack/RAGStack-Lambda
# lib/ragstack_common/ingestion.py; repost.aws]. [assumed: document.during-job]
BUSY_CODES = THROTTLES | {"ConflictException", "ServiceQuotaExceededException"}
_BUSY_TEXTS = ("ongoing", "running", "can't exceed")


def back_pressure(error: Exception, codes: frozenset[str] = BUSY_CODES) -> Busy:
    """The error of a call as back-pressure; raises it again if it isn't."""
    cause = error if isinstance(error, ClientError) else error.__cause__
    if isinstance(cause, ClientError) and _means_later(cause, codes):
        return Busy(why=f"{code_of(cause)}: {message_of(cause)}")
    raise error


def means_work_under_way(error: ClientError) -> bool:
    """Whether a ValidationException is none of a mistake, but of something else at work."""
    return any(text in message_of(error) for text in _BUSY_TEXTS)


def _means_later(error: ClientError, codes: frozenset[str]) -> bool:
    if code_of(error) == "ValidationException":
        return means_work_under_way(error)
    return code_of(error) in codes
