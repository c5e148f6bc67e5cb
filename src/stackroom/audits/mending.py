"""What an audit does about a discrepancy; in a rehearsal, nothing but to say what it would do."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeVar

from stackroom.audits.discrepancies import QUIET, REMEDIES, Discrepancy, Kind
from stackroom.audits.rehearsal import (
    NotedBucket,
    NotedCatalogs,
    NotedDocuments,
    NotedReceipts,
    Notes,
)
from stackroom.clock import utc_now
from stackroom.errors import RecordChanged
from stackroom.keys import Location, locate
from stackroom.model import Document, DocumentStatus
from stackroom.runs.leases import Runs
from stackroom.uploads.reconcile import Uploads
from stackroom.uploads.reconciled import Outcome

# Each reconciliation of a key is a handful of calls one after another; boto3's pool has ten
# connections.
_AT_ONCE = 8
_CHUNK = 100

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Mended:
    """What came of a key; `found` if anything had to be written, `catalog_id` if a run must go."""

    outcome: Outcome | None  # None: others keep writing the same record; it is in good hands
    found: Discrepancy | None = None
    catalog_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Mending:
    """`at_once` keys are reconciled at a time; 1 does it without threads."""

    uploads: Uploads
    runs: Runs
    dry_run: bool = False
    at_once: int = _AT_ONCE
    quiet: timedelta = QUIET
    now: Callable[[], datetime] = utc_now

    def is_settled(self, moment: datetime) -> bool:
        """Whether it is long enough ago that nothing of it should be under way."""
        return self.now() - moment >= self.quiet

    def reconciled(self, suspects: Iterable[tuple[str, Kind]]) -> Iterator[Discrepancy]:
        """Do with each key what its event would have done; a run is asked for where one must go."""
        for chunk in _chunks(suspects):
            mended = self._each(chunk)
            self.ask({each.catalog_id for each in mended if each.catalog_id is not None})
            yield from (each.found for each in mended if each.found is not None)

    def reconcile(self, key: str, kind: Kind) -> Mended:
        notes = Notes(dry_run=self.dry_run)
        uploads = replace(
            self.uploads,
            catalogs=NotedCatalogs(catalogs=self.uploads.catalogs, notes=notes),
            documents=NotedDocuments(documents=self.uploads.documents, notes=notes),
            bucket=NotedBucket(bucket=self.uploads.bucket, notes=notes),
            receipts=NotedReceipts(receipts=self.uploads.receipts, notes=notes),
        )
        try:
            reconciled = uploads.reconcile(key)
        except RecordChanged:
            return Mended(outcome=None)
        if not notes.written:
            return Mended(outcome=reconciled.outcome)
        remedy = reconciled.reason and f"recorded as rejected: {reconciled.reason}"
        return Mended(
            outcome=reconciled.outcome,
            found=self.discrepancy(kind, key, remedy=remedy),
            catalog_id=_opened(notes, key) or reconciled.catalog_id,
        )

    def ask(self, catalog_ids: Iterable[str]) -> None:
        if not self.dry_run:
            for catalog_id in catalog_ids:
                self.runs.ask(catalog_id)

    def look_again(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        """Pending again, as it is now; unless it has changed since it was read."""
        pending = document.moved(DocumentStatus.PENDING, at=self.now())
        yield from self.rewritten(pending.model_copy(update={"attempts": 0}), kind)

    def rewritten(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        """Save the document and ask for a run; unless it has changed since it was read."""
        if not self.dry_run:
            try:
                self.uploads.documents.save(document)
            except RecordChanged:
                return
        self.ask([document.catalog_id])
        yield self.discrepancy(kind, document.s3_key)

    def forgotten(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        """Remove the record; unless it has changed since it was read."""
        if not self.dry_run:
            try:
                self.uploads.documents.remove(document)
            except RecordChanged:
                return
        yield self.discrepancy(kind, document.s3_key)

    def discrepancy(
        self, kind: Kind, what: str, *, remedy: str | None = None, mended: bool = True
    ) -> Discrepancy:
        return Discrepancy(
            kind=kind,
            what=what,
            remedy=remedy or REMEDIES[kind],
            mended=mended and not self.dry_run,
        )

    def _each(self, suspects: list[tuple[str, Kind]]) -> list[Mended]:
        if self.at_once == 1:
            return [self.reconcile(key, kind) for key, kind in suspects]
        with ThreadPoolExecutor(self.at_once) as workers:
            return list(workers.map(lambda each: self.reconcile(*each), suspects))


def _opened(notes: Notes, key: str) -> str | None:
    """A catalog that was opened again needs its place, whether or not a document needs a run."""
    place = locate(key)
    return place.catalog_id if "open" in notes.written and isinstance(place, Location) else None


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(items)
    yield from iter(lambda: list(islice(remaining, _CHUNK)), [])
