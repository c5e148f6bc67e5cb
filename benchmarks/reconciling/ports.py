"""The reconciler's ports over synthetic shelves; calls are counted and take time."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NoReturn, TypeVar

from benchmarks.reconciling.shelves import LONG_AGO, OF_A_CATALOG, SHARED, Shelves
from stackroom.model.bucket import FileVersion, StoredObject, StoredSidecar
from stackroom.model.keys import TEXT_PREFIX, TextName
from stackroom.model.passages import Retrieved
from stackroom.model.records import Catalog, DataSource, Document
from stackroom.model.repositories import DocumentPage, Inspected, ListingPage
from stackroom.runs.bedrock_calls import DocumentDetail
from stackroom.runs.inventory import KnownSource, ListedDocument, ListedObject

START = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
_PAGE = 1000
_DOCUMENT_BYTES = 900  # as in benchmarks/metering.py
# Assumed times of calls, as a 512 MB function sees them.
_SECONDS = {
    "ListKnowledgeBaseDocuments": 0.3,
    "GetKnowledgeBaseDocuments": 0.15,
    "ListDataSources": 0.1,
    "GetDataSource": 0.1,
    "Retrieve": 0.3,
    "ListObjectsV2": 0.15,
    "HeadObject": 0.025,
    "Scan": 0.15,
    "Query": 0.1,
    "GetItem": 0.012,
    "PutItem": 0.02,
    "DeleteItem": 0.012,
    "BatchGetItem": 0.05,
}


T = TypeVar("T")


def in_turn(actions: Sequence[Callable[[], T]]) -> list[T]:
    """`RunParallel` without threads: the actions run one after the other."""
    return [action() for action in actions]


class NeverAsked:
    """A port that a dry run over consistent shelves never uses."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"asked for {name}")


@dataclass
class Clock:
    """A clock that advances only when somebody lets time pass."""

    time: datetime = START

    def __call__(self) -> datetime:
        return self.time

    def since_1970(self) -> float:
        return self.time.timestamp()

    def pass_by(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class Meter:
    """Counts requests by operation and DynamoDB's units, and lets their time pass."""

    clock: Clock
    requests: Counter[str] = field(default_factory=Counter)
    reads: float = 0.0
    writes: float = 0.0
    largest_bookmark: int = 0
    _processed: float = field(default_factory=time.process_time)

    def count(self, operation: str, *, reads: float = 0.0, writes: float = 0.0) -> None:
        self.requests[operation] += 1
        self.reads += reads
        self.writes += writes
        self.clock.pass_by(_SECONDS[operation] + self._worked())

    def _worked(self) -> float:
        """Return the seconds of computation since the last call."""
        before, self._processed = self._processed, time.process_time()
        return self._processed - before


@dataclass(kw_only=True)
class Bookmarks:
    meter: Meter
    kept: str | None = None

    def read(self) -> str | None:
        self.meter.count("GetItem", reads=math.ceil(len(self.kept or " ") / 4096))
        return self.kept

    def keep(self, cursor: str | None) -> None:
        size = len(cursor or "")
        self.meter.largest_bookmark = max(self.meter.largest_bookmark, size)
        self.meter.count("PutItem" if cursor else "DeleteItem", writes=math.ceil((size + 1) / 1024))
        self.kept = cursor


@dataclass(kw_only=True)
class MemoryIdParts:
    meter: Meter
    kept: dict[str, dict[int, bytes]] = field(default_factory=dict)

    def keep(self, reading: str, part: int, ids: bytes) -> None:
        self.meter.count("PutItem", writes=math.ceil((len(ids) + 100) / 1024))
        self.kept.setdefault(reading, {})[part] = ids

    def parts(self, reading: str) -> Iterator[bytes]:
        for part in self.kept.get(reading, {}).values():
            self.meter.count("Query", reads=math.ceil(len(part) / 4096))
            yield part


@dataclass(kw_only=True)
class MadeUp:
    """A synthetic `Inventory`, read-only."""

    shelves: Shelves
    meter: Meter

    def objects(self, *, after: str = "", prefix: str = "") -> ListingPage[ListedObject]:
        self.meter.count("ListObjectsV2")
        if prefix == TEXT_PREFIX:
            return _listed(self.shelves.text_keys(after))
        first = self.shelves.number_of(after or prefix + "000.txt") if after or prefix else 0
        keys = (each for each in self.shelves.keys(first) if each > after)
        return _listed(each for each in keys if each.startswith(prefix))

    def records(self, cursor: str | None) -> ListingPage[Catalog | Document]:
        """Return a page of two catalogs, each with its own record at the end."""
        first = int(cursor or 0)
        last = min(first + _PAGE // OF_A_CATALOG, len(self.shelves.catalogs))
        items: list[Catalog | Document] = []
        for catalog in range(first, last):
            items += [*self.shelves.documents(catalog), self.shelves.catalog(catalog)]
        self.meter.count("Scan", reads=len(items) * _DOCUMENT_BYTES / 8192)
        return ListingPage(
            items=items, next=str(last) if last < len(self.shelves.catalogs) else None
        )

    def all_catalogs(self, cursor: str | None) -> ListingPage[Catalog]:
        """Return a page of the index, whose catalogs are then read by their keys."""
        first = int(cursor or 0)
        numbers = range(first, min(first + _PAGE, len(self.shelves.catalogs)))
        self.meter.count("Scan", reads=len(numbers) * 200 / 8192)
        for at in range(0, len(numbers), 100):
            self.meter.count("BatchGetItem", reads=len(numbers[at : at + 100]) / 2)
        following = first + _PAGE
        goes_on = following < len(self.shelves.catalogs)
        return ListingPage(
            items=[self.shelves.catalog(each) for each in numbers],
            next=str(following) if goes_on else None,
        )

    def results_for(self, _documents: Iterable[Document]) -> dict[str, Inspected]:
        """Return no result: a file without a record was never read."""
        self.meter.count("GetItem", reads=1)
        return {}

    def source_ids(self, _knowledge_base_id: str) -> list[str]:
        self.meter.count("ListDataSources")
        return [SHARED.data_source_id]

    def source(self, _knowledge_base_id: str, _data_source_id: str) -> KnownSource:
        self.meter.count("GetDataSource")
        return KnownSource(source=SHARED, name="shared", status="AVAILABLE")

    def indexed(self, _source: DataSource, cursor: str | None) -> ListingPage[ListedDocument]:
        self.meter.count("ListKnowledgeBaseDocuments")
        first = int(cursor or 0)
        items = [
            ListedDocument(identifier=document_id, detail=detail)
            for document_id, detail in self.shelves.listed(first, _PAGE)
        ]
        following = first + _PAGE
        return ListingPage(
            items=items, next=str(following) if following < self.shelves.size else None
        )

    def details(
        self, _source: DataSource, document_ids: Iterable[str]
    ) -> dict[str, DocumentDetail]:
        self.meter.count("GetKnowledgeBaseDocuments")
        return self.shelves.details(document_ids)

    def retrieve(self, *_arguments: object, **_named: object) -> Retrieved:
        """Find nothing, as no search finds a document that only the listing has."""
        self.meter.count("Retrieve")
        return Retrieved(passages=())


@dataclass(kw_only=True)
class MadeUpCatalogs:
    shelves: Shelves
    meter: Meter

    def get(self, catalog_id: str) -> Catalog | None:
        self.meter.count("GetItem", reads=1)
        number = self.shelves.catalogs.get(catalog_id)
        return self.shelves.catalog(number) if number is not None else None


@dataclass(kw_only=True)
class MadeUpDocuments:
    shelves: Shelves
    meter: Meter

    def get(self, catalog_id: str, document_id: str) -> Document | None:
        self.meter.count("GetItem", reads=1)
        return next(
            (each for each in self._all(catalog_id) if each.document_id == document_id), None
        )

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        found = self._all(catalog_id)
        self.meter.count("Query", reads=len(found) * _DOCUMENT_BYTES / 4096)
        return iter(found)

    def page(self, catalog_id: str, *, after: str | None, limit: int) -> DocumentPage:
        left = [each for each in self._all(catalog_id) if after is None or each.document_id > after]
        some = left[:limit]
        self.meter.count("Query", reads=len(some) * _DOCUMENT_BYTES / 4096)
        return DocumentPage(
            documents=tuple(some), next=some[-1].document_id if len(left) > limit else None
        )

    def _all(self, catalog_id: str) -> list[Document]:
        number = self.shelves.catalogs.get(catalog_id)
        return self.shelves.documents(number) if number is not None else []


@dataclass(kw_only=True)
class MadeUpBucket:
    shelves: Shelves
    meter: Meter

    def head(self, key: str) -> StoredObject | None:
        self.meter.count("HeadObject")
        if not self.shelves.has_object(key):
            return None
        return StoredObject(
            key=key,
            size=20_000,
            etag="etag",
            version_id="v1",
            content_type="",
            last_modified=LONG_AGO,
            attributes={},
        )

    def sidecar_of(self, key: str) -> StoredSidecar | None:
        self.meter.count("HeadObject")
        there = self.shelves.has_object(key)
        return StoredSidecar(body=b"{}", last_modified=LONG_AGO) if there else None

    def version_of(self, key: str) -> FileVersion | None:
        found = self.head(key)
        return None if found is None else FileVersion(found.etag, found.version_id)

    def was_deleted(self, _key: str) -> bool:
        self.meter.count("HeadObject")
        return True

    def uri_of(self, key: str) -> str:
        return f"s3://docs/{key}"


@dataclass(kw_only=True)
class MadeUpTexts:
    shelves: Shelves
    documents: MadeUpDocuments

    def names(self, _user_id: str, catalog_id: str, document_id: str) -> list[TextName]:
        self.documents.meter.count("ListObjectsV2")
        document = self.documents.get(catalog_id, document_id)
        return [] if document is None else self.shelves.texts(document)

    def remove(self, _names: Iterable[TextName]) -> NoReturn:
        raise AssertionError("a dry run removes nothing")


def _listed(keys: Iterator[str]) -> ListingPage[ListedObject]:
    found = [
        ListedObject(key=each, size=20_000, etag="etag", last_modified=LONG_AGO)
        for each in islice(keys, _PAGE + 1)
    ]
    items = found[:_PAGE]
    return ListingPage(items=items, next=items[-1].key if len(found) > _PAGE else None)
