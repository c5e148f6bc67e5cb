"""
What an estimate may ask for, asked for at once: one round trip instead of one after another.

Of a settled catalog a few small items are read in vain; whoever waits for the answer of any other
waits a fraction as long.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace

from stackroom.ingestion.estimates import Estimates
from stackroom.ingestion.standing import LOOKED_AT
from stackroom.model import Catalog, Document
from stackroom.ports.admission import Ledger, Mode, Waiter
from stackroom.ports.runs import Lease


@dataclass(frozen=True)
class _Documents:
    found: Future[list[Document]]

    def of_catalog(self, _catalog_id: str) -> Iterator[Document]:
        return iter(self.found.result())


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

    def documents() -> list[Document]:
        return list(estimates.documents.of_catalog(catalog.catalog_id))

    def queue(mode: Mode) -> list[Waiter]:
        if catalog.source is None:
            return []
        return estimates.book.waiting(catalog.source.knowledge_base_id, mode, limit=LOOKED_AT)

    with ThreadPoolExecutor(3 + len(Mode)) as readers:
        book = _Book(
            ledger=readers.submit(estimates.book.read),
            queues={mode: readers.submit(queue, mode) for mode in Mode},
        )
        yield replace(
            estimates,
            documents=_Documents(readers.submit(documents)),
            leases=_Lease(readers.submit(estimates.leases.get, catalog.catalog_id)),
            book=book,
        )
