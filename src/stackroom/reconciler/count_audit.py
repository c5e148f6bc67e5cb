"""
What each catalog counts, and what lists its documents as open or failed, against its records.

These are written with each document, or neither (aws/document_writes.py); a table that was
restored, or written to by hand, may have them apart. A catalog's records are read page by page
between two looks at its counters: only if these are the same, and nothing was written in between,
do they count for the records that were read. Of a catalog that is never quiet for so long, nothing
is told.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from pydantic import NonNegativeInt

from stackroom.catalog_counts import Counts, counts_in, counts_of, is_booked
from stackroom.model import Catalog, Document, Record
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.document_lists import DocumentLists, ListingItem
from stackroom.ports.documents import Documents
from stackroom.ports.inventory import Inventory
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Step
from stackroom.reconciler.mending import Mending

PAGES = 50  # of a step, unless a catalog's last page is yet to come
_DOCUMENTS = 1000  # of a page


class _Sum(Record):
    """Of the records of `catalog`, as its own record was then, those up to `after`."""

    catalog: Catalog
    after: str | None = None
    documents: NonNegativeInt = 0
    size: NonNegativeInt = 0
    failed: NonNegativeInt = 0
    waiting: NonNegativeInt = 0
    open: NonNegativeInt = 0

    @property
    def counts(self) -> Counts:
        return Counts(
            documents=self.documents,
            size=self.size,
            failed=self.failed,
            waiting=self.waiting,
            open=self.open,
        )

    def plus(self, documents: tuple[Document, ...], after: str | None) -> "_Sum":
        total = sum(map(counts_of, documents), self.counts)
        values = dict(
            zip(("documents", "size", "failed", "waiting", "open"), total.each, strict=True)
        )
        return self.model_copy(update={**values, "after": after})


class _Cursor(Record):
    """In that page of the catalogs, those after that one, of which `sum` is under way."""

    page: str | None = None
    after: str = ""
    sum: _Sum | None = None


@dataclass(frozen=True, kw_only=True)
class CountAudit:
    inventory: Inventory
    catalogs: Catalogs
    documents: Documents
    document_lists: DocumentLists
    mending: Mending

    def step(self, cursor: str | None) -> Step:
        at = _Cursor.model_validate_json(cursor) if cursor else _Cursor()
        page = self.inventory.all_catalogs(at.page)
        left = PAGES
        for catalog in sorted(page.items, key=lambda each: each.catalog_id):
            if catalog.catalog_id <= at.after:
                continue
            if left <= 0:
                return at.model_dump_json()
            counted = self._under_way(at, catalog.catalog_id)
            while counted is not None:
                found = self.documents.page(
                    catalog.catalog_id, after=counted.after, limit=_DOCUMENTS
                )
                yield from self.mending.apart(catalog.catalog_id, self._of(found.documents))
                counted = counted.plus(found.documents, found.next)
                left -= 1
                if found.next is None:
                    break
                if left <= 0:
                    return at.model_copy(update={"sum": counted}).model_dump_json()
            if counted is not None:
                yield from self.mending.apart(catalog.catalog_id, self._compared(counted))
                yield from self.mending.apart(catalog.catalog_id, self._strays(catalog.catalog_id))
            at = _Cursor(page=at.page, after=catalog.catalog_id)
        return _Cursor(page=page.next).model_dump_json() if page.next is not None else None

    def _under_way(self, at: _Cursor, catalog_id: str) -> _Sum | None:
        """None if there is no such catalog any more."""
        if at.sum is not None and at.sum.catalog.catalog_id == catalog_id:
            return at.sum
        catalog = self.catalogs.get(catalog_id)
        return _Sum(catalog=catalog) if catalog is not None else None

    def _of(self, documents: tuple[Document, ...]) -> Iterator[Discrepancy]:
        for each in documents:
            if not is_booked(each):
                save = partial(self.documents.save, each)
                is_told = partial(self._is_booked, each)
                yield from self.mending.mended(
                    Kind.UNLISTED_DOCUMENT, each.s3_key, by=save, until=is_told
                )
        for each in self.document_lists.unlisted(documents):
            list_anew = partial(self.document_lists.list_anew, each)
            yield from self.mending.mended(
                Kind.UNLISTED_DOCUMENT,
                each.s3_key,
                by=list_anew,
                until=partial(self._is_listed, each),
            )

    def _is_booked(self, document: Document) -> bool:
        now = self.documents.get(document.catalog_id, document.document_id)
        return now is None or is_booked(now)

    def _is_listed(self, document: Document) -> bool:
        now = self.documents.get(document.catalog_id, document.document_id)
        return now is None or not self.document_lists.unlisted([now])

    def _compared(self, counted: _Sum) -> Iterator[Discrepancy]:
        catalog_id = counted.catalog.catalog_id
        now = self.catalogs.get(catalog_id)
        if now is None or _written(now) != _written(counted.catalog):
            return
        if counts_in(now) == counted.counts:
            return

        def mend() -> None:
            self.catalogs.recount(now, counted.counts)
            self.catalogs.settle_status(catalog_id, at=self.mending.now())

        yield from self.mending.mended(
            Kind.WRONG_COUNTS,
            catalog_id,
            by=mend,
            until=lambda: self._counts_otherwise(now),
        )

    def _counts_otherwise(self, before: Catalog) -> bool:
        now = self.catalogs.get(before.catalog_id)
        return now is None or counts_in(now) != counts_in(before)

    def _strays(self, catalog_id: str) -> Iterator[Discrepancy]:
        cursor, goes_on = None, True
        while goes_on:
            page = self.document_lists.listings(catalog_id, cursor)
            for each in self.document_lists.stray(page.items):
                yield from self.mending.mended(
                    Kind.STRAY_LISTING,
                    f"{catalog_id}: {each.name}",
                    by=partial(self.document_lists.drop, each),
                    until=partial(self._is_gone, each),
                )
            cursor, goes_on = page.next, page.next is not None

    def _is_gone(self, item: ListingItem) -> bool:
        return not self.document_lists.stands(item)


def _written(catalog: Catalog) -> tuple[Counts, datetime]:
    """What is another after each write of a document that is counted."""
    return counts_in(catalog), catalog.updated_at


@dataclass(frozen=True, kw_only=True)
class Recount:
    """
    Whether each document is listed and counted as its record is: out of step only where somebody
    else wrote, a restored backup, a person, or a deployment from before they were kept.
    """

    documents: Documents
    mending: Mending

    def of_documents(self, documents: Iterable[Document]) -> Iterator[Discrepancy]:
        """Of catalogs that there are; what is open is asked a run for."""
        for document in documents:
            if is_booked(document):
                continue
            if document.is_open:
                yield from self.mending.saved(document, Kind.UNLISTED_DOCUMENT)
            else:
                save = partial(self.documents.save, document)
                yield from self.mending.mended(Kind.UNLISTED_DOCUMENT, document.s3_key, by=save)
