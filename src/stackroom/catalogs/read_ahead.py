"""
What an estimate may ask for, asked for at once: one round trip instead of one after another.

Of a settled catalog a few small items are read in vain; whoever waits for the answer of any other
waits a fraction as long.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace

from stackroom.ingestion.estimates import LISTED, PAGE, Estimates, fits_a_page
from stackroom.ingestion.queue_position import LOOKED_AT
from stackroom.model import Catalog, Document
from stackroom.ports.admission import Ledger, Mode, Waiter
from stackroom.ports.documents import DocumentLists, DocumentPage
from stackroom.ports.runs import Lease


@dataclass(frozen=True, kw_only=True)
class _Documents:
    """What is not read ahead is read when it is asked for."""

    there: DocumentLists
    first_page: Future[DocumentPage] | None = None
    still_open: Future[list[Document]] | None = None
    failed: Future[list[Document]] | None = None

    def page(self, catalog_id: str, *, after: str | None, limit: int) -> DocumentPage:
        if after is None and self.first_page is not None:
            return self.first_page.result()
        return self.there.page(catalog_id, after=after, limit=limit)

    def open_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        if self.still_open is None:
            return self.there.open_in(catalog_id, limit=limit)
        return iter(self.still_open.result())

    def failed_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        if self.failed is None:
            return self.there.failed_in(catalog_id, limit=limit)
        return iter(self.failed.result())


@dataclass(frozen=True)
class _Lease:
    found: Future[Lease | None]

    def get(self, _catalog_id: str) -> Lease | None:
        return self.found.result()


@dataclass(frozen=True, kw_only=True)
class _Book:
    ledger: Future[Ledger]
    queues: Mapping[Mode, Future[list[Waiter]]]

    def read(self) -> Ledger:
        return self.ledger.result()

    def waiting(self, _knowledge_base_id: str, mode: Mode, *, limit: int) -> list[Waiter]:
        return self.queues[mode].result()[:limit]


@contextmanager
def read_ahead(estimates: Estimates, catalog: Catalog) -> Iterator[Estimates]:
    """The same estimates, of this one catalog, over what is being read already."""

    there, catalog_id = estimates.documents, catalog.catalog_id

    def documents(readers: ThreadPoolExecutor) -> _Documents:
        if fits_a_page(catalog):
            page = readers.submit(there.page, catalog_id, after=None, limit=PAGE)
            return _Documents(there=there, first_page=page)
        return _Documents(
            there=there,
            still_open=readers.submit(lambda: list(there.open_in(catalog_id, limit=LISTED))),
            failed=readers.submit(lambda: list(there.failed_in(catalog_id, limit=LISTED))),
        )

    def queue(mode: Mode) -> list[Waiter]:
        if catalog.source is None:
            return []
        return estimates.book.waiting(catalog.source.knowledge_base_id, mode, limit=LOOKED_AT)

    with ThreadPoolExecutor(4 + len(Mode)) as readers:
        book = _Book(
            ledger=readers.submit(estimates.book.read),
            queues={mode: readers.submit(queue, mode) for mode in Mode},
        )
        yield replace(
            estimates,
            documents=documents(readers),
            leases=_Lease(readers.submit(estimates.leases.get, catalog.catalog_id)),
            book=book,
        )
