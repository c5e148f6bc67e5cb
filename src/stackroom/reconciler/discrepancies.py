"""What can be out of step, and what is done about each."""

from collections.abc import Generator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, Self

# What is younger may be under way: its event, its run, the index that follows. S3's events come
# within seconds mostly [S3 user guide: EventNotifications, "typically delivered in seconds"], and
# a message waits in its batch for less than a minute.
QUIET = timedelta(minutes=2)


class Kind(StrEnum):
    OBJECT_WITHOUT_RECORD = "object_without_record"
    STALE_RECORD = "stale_record"
    WRONG_SIDECAR = "wrong_sidecar"
    SIDECAR_WITHOUT_OBJECT = "sidecar_without_object"
    RECORD_WITHOUT_OBJECT = "record_without_object"
    UNUSED_LINK = "unused_link"
    RECORD_WITHOUT_CATALOG = "record_without_catalog"
    UNPLACED_WITHOUT_OBJECT = "stray_without_object"
    UNLISTED_DOCUMENT = "unlisted_document"
    WRONG_COUNTS = "wrong_counts"
    STALLED_DOCUMENT = "stalled_document"
    STALLED_CATALOG = "stalled_catalog"
    HALF_DELETED_CATALOG = "half_deleted_catalog"
    MISSING_FROM_INDEX = "missing_from_index"
    INDEXED_AFTER_ALL = "indexed_after_all"
    INDEXED_WITHOUT_RECORD = "indexed_without_record"
    FOUND_AFTER_DELETION = "found_after_deletion"
    REJECTED_IN_INDEX = "rejected_in_index"
    DEAD_RUN = "dead_run"
    DEAD_GRANT = "dead_turn"
    DEAD_WAITER = "dead_waiter"
    UNUSED_SLOT = "unused_slot"
    LOST_SLOT = "lost_slot"
    ORPHAN_DATA_SOURCE = "orphan_data_source"
    BROKEN_DATA_SOURCE = "broken_data_source"
    STRAY_LISTING = "stray_listing"
    MALFORMED_RECORD = "malformed_record"
    UNINSPECTED_FILE = "uninspected_file"
    NOT_COMPARED = "not_compared"


REMEDIES = {
    Kind.OBJECT_WITHOUT_RECORD: "registered as if its event had come",
    Kind.STALE_RECORD: "brought in step with the object that lies there",
    Kind.WRONG_SIDECAR: "written anew, and the document ingested again",
    Kind.SIDECAR_WITHOUT_OBJECT: "removed",
    Kind.RECORD_WITHOUT_OBJECT: "to be removed from the index, verified, then forgotten",
    Kind.UNUSED_LINK: "forgotten: nobody uploaded the file while the link was valid",
    Kind.RECORD_WITHOUT_CATALOG: "its catalog opened again, or the record forgotten",
    Kind.UNPLACED_WITHOUT_OBJECT: "forgotten",
    Kind.UNLISTED_DOCUMENT: "listed and counted as its record is; a run asked for if it is open",
    Kind.WRONG_COUNTS: "counted anew",
    Kind.STALLED_DOCUMENT: "a run asked for",
    Kind.STALLED_CATALOG: "a run asked for",
    Kind.HALF_DELETED_CATALOG: (
        "open again, for objects lie in it; its owner may delete it once more"
    ),
    Kind.MISSING_FROM_INDEX: "pending again, and a run asked for",
    Kind.INDEXED_AFTER_ALL: "pending again, so that a run looks at it anew",
    Kind.INDEXED_WITHOUT_RECORD: "to be removed from the index and verified",
    Kind.FOUND_AFTER_DELETION: (
        "to be removed from the index once more and verified; the receipt of its deletion says so"
    ),
    Kind.REJECTED_IN_INDEX: "to be removed from the index and verified",
    Kind.DEAD_RUN: "followed by another run",
    Kind.DEAD_GRANT: "given back",
    Kind.DEAD_WAITER: "taken out of the queue",
    Kind.UNUSED_SLOT: "freed",
    Kind.LOST_SLOT: "counted as free, for there is room for a data source again",
    Kind.ORPHAN_DATA_SOURCE: "deleted with all that it indexed, for no catalog lives there",
    Kind.BROKEN_DATA_SOURCE: (
        "left alone: give the knowledge base's role its rights and the index back, or use"
        " UpdateDataSource with all of its configuration and dataDeletionPolicy RETAIN; then"
        " DeleteDataSource again"
    ),
    Kind.STRAY_LISTING: "removed",
    Kind.MALFORMED_RECORD: (
        "left alone: its catalog can't be worked on until you mend or remove the item in DynamoDB;"
        " what is removed is made anew from the bucket"
    ),
    Kind.UNINSPECTED_FILE: "an inspection asked for: it finds a defect, or makes the place map",
    Kind.NOT_COMPARED: "left for the next time",
}


class Outcome(StrEnum):
    MENDED = "mended"  # and looked at again: nothing of it is out of step any more
    ASKED_FOR = "asked for"  # a run, or the knowledge base, has the rest to do
    LEFT = "left"  # for a person, or for the next time; all that a dry run finds
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Discrepancy:
    """
    `remedy` is what was done about it or, of what is left, what would be or is for a person.
    `error` is why it failed, if it did so unexpectedly.
    """

    kind: Kind
    what: str
    remedy: str
    outcome: Outcome
    error: BaseException | None = None

    @classmethod
    def not_compared(cls, what: str, error: BaseException) -> Self:
        """One that could not even be looked at."""
        return cls(
            kind=Kind.NOT_COMPARED,
            what=what,
            remedy=f"{type(error).__name__}: {error}",
            outcome=Outcome.FAILED,
            error=error,
        )


# Yields what is found, as it is found, and returns where to go on; None at the end.
Step = Generator[Discrepancy, None, str | None]


class Audit(Protocol):
    def step(self, cursor: str | None) -> Step:
        """A bounded piece of the comparison, from `cursor` on. Safe to repeat."""
        ...
