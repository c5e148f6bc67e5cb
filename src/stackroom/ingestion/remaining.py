"""How long the documents of one catalog have yet to go, from how its run stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from stackroom.admission.workload import BATCH, is_large, text_size
from stackroom.ingestion.durations import Durations, longest, total
from stackroom.model import Document, DocumentStatus
from stackroom.ports.admission import Grant, Mode

# Longer than an object's event takes, and the function that it starts: what has waited for them
# longer waits behind other events, and nobody counts those.
_EVENT = timedelta(seconds=10)


@dataclass(frozen=True, kw_only=True)
class Remaining:
    """
    Seconds by our clock; None where nobody knows. `documents` are the unsettled ones, `ahead` is
    how long until the catalog's turn comes, and `grant` what its run has. By direct calls a turn
    is ten documents, and `between` is how long from one turn to the next.
    """

    durations: Durations
    mode: Mode
    documents: Sequence[Document]
    ahead: float | None = 0.0
    grant: Grant | None = None
    between: float | None = 0.0

    def seconds(self, document: Document) -> float | None:
        if self.is_behind_events(document):
            return None
        if (since := self.at_work_since(document)) is None:
            work = self.durations.of(self.mode, self._up_to(document))
            return total([self._until_next_round(), self._until_turn(document), work])
        left = self.durations.left(self.mode, self._at_work(document), since=since)
        if not self.is_held_up(document):
            return left
        return total([left, self.durations.of(self.mode, 0)])

    def is_behind_events(self, document: Document) -> bool:
        """Whether it was written long ago, and its object's event has yet to come."""
        is_unheard_of = not document.fingerprint and not document.is_to_come
        waits = document.status in (DocumentStatus.UPLOADING, DocumentStatus.PENDING)
        return is_unheard_of and waits and self.durations.at - document.updated_at > _EVENT

    def is_late(self, document: Document) -> bool:
        since = self.at_work_since(document)
        size = self._at_work(document)
        return since is not None and self.durations.is_late(self.mode, size, since=since)

    def at_work_since(self, document: Document) -> datetime | None:
        """None while it waits."""
        if document.status is DocumentStatus.INDEXING:
            return document.updated_at
        if self.grant is None or document.status is not DocumentStatus.DELETING:
            return None
        is_taken_up = document.attempts > 0 and self.grant.claimed
        if not is_taken_up and not self.is_held_up(document):
            return None
        # A shared data source's run may have had its grant long before.
        return max(self.grant.granted_at, document.updated_at)

    def is_held_up(self, document: Document) -> bool:
        """Whether it was deleted while Bedrock was at it, which can't be stopped."""
        if document.status is not DocumentStatus.DELETING or self.grant is None:
            return False
        was_ingested = document.ingestion_job_id is not None and _is_newer_than_index(document)
        since = self.grant.granted_at <= document.updated_at
        return was_ingested and self.grant.claimed and since and document.attempts == 0

    def _until_turn(self, document: Document) -> float | None:
        if self.mode is Mode.JOB or self.between is None:
            return 0.0 if self.between is not None else None
        return self.between * (self._before(document) // BATCH)

    def _before(self, document: Document) -> int:
        waiting = (each for each in self.documents if self.at_work_since(each) is None)
        return sum(_is_after(document, each) for each in waiting)

    def _at_work(self, document: Document) -> int:
        """Bytes of text that are at work together with the document."""
        if document.status is DocumentStatus.INDEXING or self.grant is None:
            return sum(map(text_size, self._being_ingested()))
        return self.grant.size

    def _being_ingested(self) -> list[Document]:
        return [each for each in self.documents if each.status is DocumentStatus.INDEXING]

    def _until_next_round(self) -> float | None:
        """Whatever the run of one catalog is at comes first."""
        if self.mode is Mode.DIRECT:
            return self.ahead
        busy = [each for each in self.documents if self.at_work_since(each) is not None]
        if not busy:
            return self.ahead
        return longest(map(self.seconds, busy))

    def _up_to(self, document: Document) -> int:
        """Bytes of text of what waits and is done no later than the document."""
        waiting = [each for each in self.documents if self.at_work_since(each) is None]
        if self.mode is Mode.JOB:
            return sum(map(text_size, waiting))
        if is_large(document):
            return text_size(document)
        small = [text_size(each) for each in waiting if not is_large(each)]
        return round(sum(small) / len(small) * min(BATCH, len(small))) if small else 0


def _is_newer_than_index(document: Document) -> bool:
    indexed_at, present_since = document.indexed_at, document.present_since
    return indexed_at is None or present_since is None or indexed_at < present_since


def _is_after(document: Document, other: Document) -> bool:
    return (document.updated_at, document.document_id) > (other.updated_at, other.document_id)
