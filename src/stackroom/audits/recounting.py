"""
Whether each document is listed and counted as its record is, and a catalog counts what it holds.

Both are written with every document, so they are out of step only where somebody else wrote: a
restored backup, a person, or a deployment from before they were kept. A catalog is counted page by
page, and its counters are corrected only if they are still those that it had before.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from stackroom.audits.discrepancies import Discrepancy, Kind
from stackroom.audits.mending import Mending
from stackroom.counting import Counts, counts_in, counts_of, is_booked
from stackroom.model import Catalog, Document
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import DocumentPages, Documents

_PAGE = 1000  # documents; fewer, if a megabyte holds fewer


@dataclass(frozen=True, kw_only=True)
class Recounting:
    catalogs: Catalogs
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

    def of_catalog(self, catalog_id: str) -> Iterator[Discrepancy]:
        seen = self.catalogs.get(catalog_id)
        counts = self._counted(catalog_id)
        if seen is None or counts is None or counts == counts_in(seen):
            return
        yield from self.mending.mended(
            Kind.WRONG_COUNTS,
            catalog_id,
            by=partial(self.catalogs.recount, seen, counts),
            until=lambda: self._counts(catalog_id, counts),
        )

    def _counted(self, catalog_id: str) -> Counts | None:
        """By the records; None if there is one that has yet to be listed and counted."""
        counts = Counts()
        for document in _all(self.documents, catalog_id):
            if not is_booked(document):
                return None
            counts += counts_of(document)
        return counts

    def _counts(self, catalog_id: str, counts: Counts) -> bool:
        catalog: Catalog | None = self.catalogs.get(catalog_id)
        return catalog is not None and counts_in(catalog) == counts


def _all(pages: DocumentPages, catalog_id: str) -> Iterator[Document]:
    """A page in memory at a time."""
    after: str | None = None
    while True:
        page = pages.page(catalog_id, after=after, limit=_PAGE)
        yield from page.documents
        if page.next is None:
            return
        after = page.next
