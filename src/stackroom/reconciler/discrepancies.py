"""The kinds of discrepancies, and the remedy for each."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Self

# A younger item may be under way: its event, its run, the index that follows. S3's events come
# within seconds mostly [S3 user guide: EventNotifications, "typically delivered in seconds"], and a
# message waits in its batch for less than a minute.
QUIET = timedelta(minutes=2)
# Reading a file takes at most ten minutes [infra/pipeline_functions.py] and usually starts with its
# event. A file that takes longer is in a queue, or its message is lost or a dead letter; reading it
# again does no harm.
READ_TIMEOUT = timedelta(minutes=15)
BETWEEN = timedelta(hours=1)  # two full rounds, at the least


class Kind(StrEnum):
    """A kind of discrepancy: its name in logs, metrics and answers, and its remedy."""

    remedy: str

    def __new__(cls, value: str, remedy: str) -> Self:
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.remedy = remedy
        return kind

    OBJECT_WITHOUT_RECORD = "object_without_record", "registered as if its event had come"
    STALE_RECORD = "stale_record", "updated to match the object"
    WRONG_SIDECAR = "wrong_sidecar", "written again, and the document ingested again"
    SIDECAR_WITHOUT_OBJECT = "sidecar_without_object", "removed"
    RECORD_WITHOUT_OBJECT = (
        "record_without_object",
        "to be removed from the index, verified, then forgotten",
    )
    UNUSED_LINK = "unused_link", "forgotten: nobody uploaded the file while the link was valid"
    RECORD_WITHOUT_CATALOG = (
        "record_without_catalog",
        "its catalog opened again, or the record forgotten",
    )
    UNPLACED_WITHOUT_OBJECT = "stray_without_object", "forgotten"
    UNLISTED_DOCUMENT = "unlisted_document", "listed and counted as its record is; a run requested"
    WRONG_COUNTS = "wrong_counts", "counted again"
    STALLED_DOCUMENT = "stalled_document", "a run requested"
    STALLED_CATALOG = "stalled_catalog", "a run requested"
    STALE_CAP_WAIT = "waits_for_nothing", "released, because its user is no longer over a cap"
    HALF_DELETED_CATALOG = (
        "half_deleted_catalog",
        "open again, because it has objects; its owner may delete it again",
    )
    MISSING_FROM_INDEX = "missing_from_index", "pending again, and a run requested"
    FAILED_BY_BEDROCK = (
        "failed_by_bedrock",
        "pending again, and a run requested, because Bedrock now takes other files",
    )
    INDEXED_AFTER_ALL = "indexed_after_all", "pending again, so that a run checks it"
    INDEXED_WITHOUT_RECORD = (
        "indexed_without_record",
        "to be removed from the index and verified",
    )
    FOUND_AFTER_DELETION = (
        "found_after_deletion",
        "to be removed from the index once more and verified; the receipt of its deletion says so",
    )
    REJECTED_IN_INDEX = "rejected_in_index", "to be removed from the index and verified"
    DEAD_RUN = "dead_run", "followed by another run"
    UNUSED_SLOT = "unused_slot", "freed"
    ORPHAN_DATA_SOURCE = (
        "orphan_data_source",
        "deleted with all that it indexed, because no catalog uses it",
    )
    BROKEN_DATA_SOURCE = (
        "broken_data_source",
        "left alone: give the knowledge base's role its rights and the index back, or use"
        " UpdateDataSource with all of its configuration and dataDeletionPolicy RETAIN; then"
        " DeleteDataSource again",
    )
    MALFORMED_RECORD = (
        "malformed_record",
        "left alone: its catalog can't be worked on until you mend or remove the item in DynamoDB;"
        " what is removed is made anew from the bucket",
    )
    UNREAD_FILE = "unread_file", "requested again: the document waits for the file to be read"
    TEXT_WITHOUT_DOCUMENT = "text_without_document", "removed"
    NOT_COMPARED = "not_compared", "left for the next time"


class Outcome(StrEnum):
    MENDED = "mended"  # and looked at again: nothing of it is out of step any more
    ASKED_FOR = "asked for"  # a run, or the knowledge base, has the rest to do
    LEFT = "left"  # for a person, or for the next time; all that a dry run finds
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Discrepancy:
    """
    A difference that an audit found.

    `remedy` is what was done about it or, if nothing was, what would be done or is left to a
    person. `error` is an unexpected failure.
    """

    kind: Kind
    what: str
    remedy: str
    outcome: Outcome
    error: BaseException | None = None

    @classmethod
    def not_compared(cls, what: str, error: BaseException) -> Self:
        """Return a discrepancy for something that could not be compared."""
        return cls(
            kind=Kind.NOT_COMPARED,
            what=what,
            remedy=f"{type(error).__name__}: {error}",
            outcome=Outcome.FAILED,
            error=error,
        )
