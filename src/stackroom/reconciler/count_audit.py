"""
Compare each catalog's counts with the records of its documents.

Both are written in one transaction (aws/dynamodb/document_records.py), but may differ in a table
that somebody edited by hand. A document saved before its catalog existed is counted once it exists.
The records are read between two readings of the counters: only if these are equal, and nothing was
written in between, are they compared. A catalog that is never quiet for so long is skipped.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from stackroom.concurrency import chunks
from stackroom.model.catalog_counts import Counts, counts_in, counts_of, is_booked
from stackroom.model.records import Catalog, Record
from stackroom.reconciler.audited import Audited, Piece
from stackroom.reconciler.discrepancies import Discrepancy, Kind
from stackroom.reconciler.mending import isolate_failures

_STEP = 50_000  # documents, unless a catalog alone has more
_AT_ONCE = 1000  # documents held at a time


class _Cursor(Record):
    """A position: in that page of catalogs, after that catalog."""

    page: str | None = None
    after: str = ""


@dataclass(frozen=True)
class CountAudit:
    context: Audited

    def step(self, cursor: str | None) -> Piece:
        at = _Cursor.model_validate_json(cursor) if cursor else _Cursor()
        page = self.context.inventory.all_catalogs(at.page)
        counted = 0
        for catalog in sorted(page.items, key=lambda each: each.catalog_id):
            if catalog.catalog_id <= at.after:
                continue
            if counted >= _STEP:
                return at.model_dump_json()
            yield from isolate_failures(catalog.catalog_id, self._of(catalog.catalog_id))
            counted += max(1, catalog.document_count)
            at = _Cursor(page=at.page, after=catalog.catalog_id)
        return _Cursor(page=page.next).model_dump_json() if page.next is not None else None

    def _of(self, catalog_id: str) -> Iterator[Discrepancy]:
        before = self.context.catalogs.get(catalog_id)
        if before is None:
            return
        counts = Counts()
        for some in chunks(self.context.documents.of_catalog(catalog_id), of=_AT_ONCE):
            counts = sum(map(counts_of, some), counts)
            for each in some:
                if not is_booked(each):
                    yield from self.context.mending.saved(each, Kind.UNLISTED_DOCUMENT)
        yield from self._compared(before, counts)

    def _compared(self, before: Catalog, counts: Counts) -> Iterator[Discrepancy]:
        now = self.context.catalogs.get(before.catalog_id)
        if now is None or _written(now) != _written(before) or counts_in(now) == counts:
            return
        yield from self.context.mending.mended(
            Kind.WRONG_COUNTS,
            now.catalog_id,
            by=partial(self.context.catalogs.recount, now, counts),
            until=partial(self._counts_otherwise, now),
        )

    def _counts_otherwise(self, before: Catalog) -> bool:
        now = self.context.catalogs.get(before.catalog_id)
        return now is None or counts_in(now) != counts_in(before)


def _written(catalog: Catalog) -> tuple[Counts, datetime]:
    """Return what changes with each write of a counted document."""
    return counts_in(catalog), catalog.updated_at
