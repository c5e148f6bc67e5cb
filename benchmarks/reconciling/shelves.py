"""
A deployment of any number of documents on one shared data source, generated as it is read.

Every 500 documents are a catalog. A document follows from its number, so that all used memory is
the reconciler's. Apart from the planted discrepancies, one document in a thousand failed, which is
no discrepancy.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from math import gcd

from stackroom.model.keys import (
    SIDECAR_SUFFIX,
    TextName,
    catalog_id_of,
    document_id_of,
    text_folder,
)
from stackroom.model.records import (
    Catalog,
    Counted,
    DataSource,
    DataSourceType,
    Document,
    DocumentStatus,
)
from stackroom.runs.bedrock_calls import DocumentDetail

OF_A_CATALOG = 500
OF_A_USER = 10  # catalogs
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
SHARED = DataSource(knowledge_base_id="KB1", data_source_id="SHARED1", type=DataSourceType.CUSTOM)
_ONE_FAILED_IN = 1000
_SIZE = 20_000
_TEXT, _OTHER_TEXT = "a" * 16, "b" * 16
_COUNTED, _COUNTED_FAILED = Counted(size=_SIZE), Counted(size=_SIZE, failed=True)
_SOMEWHERE_ELSE = 1_000_003  # a prime, so that the listing's order is unrelated to the records'


@dataclass(frozen=True, kw_only=True)
class Planted:
    """Discrepancies: numbers of documents that one side lacks, and ids that only one side has."""

    unlisted: frozenset[int] = frozenset()
    unrecorded: frozenset[int] = frozenset()  # never ingested either, because their event was lost
    gone: frozenset[int] = frozenset()  # without an object
    orphans: tuple[str, ...] = ()  # ids that only the listing has
    miscounted: frozenset[int] = frozenset()  # catalogs that count one document too many
    read_twice: frozenset[int] = frozenset()  # have a second text that their records don't name

    @classmethod
    def among(cls, size: int) -> "Planted":
        """Plant a few of each discrepancy among this many documents."""
        numbers = range(7, size, size // 12)
        return cls(
            unlisted=frozenset(numbers[:5]),
            unrecorded=frozenset(numbers[5:8]),
            gone=frozenset(numbers[8:11]),
            read_twice=frozenset(numbers[11:12]),
            miscounted=frozenset({0, size // OF_A_CATALOG - 1}),
            orphans=tuple(document_id_of("cat-gone", str(number)) for number in range(4)),
        )


@dataclass(frozen=True, kw_only=True)
class Shelves:
    size: int
    planted: Planted = field(default_factory=Planted)

    def __post_init__(self) -> None:
        assert self.size % OF_A_CATALOG == 0, "catalogs are full"

    @cached_property
    def catalogs(self) -> dict[str, int]:
        """Return the numbers of all catalogs by id, one small entry per five hundred documents."""
        return {self.catalog_id(each): each for each in range(self.size // OF_A_CATALOG)}

    def catalog_id(self, catalog: int) -> str:
        return catalog_id_of(_user(catalog), _folder(catalog))

    def catalog(self, catalog: int) -> Catalog:
        here = range(catalog * OF_A_CATALOG, (catalog + 1) * OF_A_CATALOG)
        recorded = [number for number in here if number not in self.planted.unrecorded]
        count = len(recorded) + (catalog in self.planted.miscounted)
        return Catalog(
            catalog_id=self.catalog_id(catalog),
            user_id=_user(catalog),
            name=_folder(catalog),
            s3_prefix=f"{_user(catalog)}/{_folder(catalog)}/",
            document_count=count,
            failed_count=sum(map(_failed, recorded)),
            total_bytes=count * _SIZE,
            knowledge_base_id=SHARED.knowledge_base_id,
            data_source_id=SHARED.data_source_id,
            data_source_type=SHARED.type,
            created_at=LONG_AGO,
            updated_at=LONG_AGO,
        )

    def documents(self, catalog: int) -> list[Document]:
        """Return the catalog's records, in order."""
        first = catalog * OF_A_CATALOG
        made = (
            self._document(number)
            for number in range(first, first + OF_A_CATALOG)
            if number not in self.planted.unrecorded
        )
        return sorted(made, key=lambda each: each.document_id)

    def keys(self, first: int) -> Iterator[str]:
        """Yield all keys from document `first` on, each before its sidecar."""
        for number in range(first, self.size):
            if number not in self.planted.gone:
                yield (key := self.key(number))
                yield key + SIDECAR_SUFFIX

    def key(self, number: int) -> str:
        catalog, at = divmod(number, OF_A_CATALOG)
        return f"{_user(catalog)}/{_folder(catalog)}/{at:03}.txt"

    def number_of(self, key: str) -> int:
        _, folder, name = key.split("/")
        return int(folder.removeprefix("c")) * OF_A_CATALOG + int(name[:3])

    def text_keys(self, after: str) -> Iterator[str]:
        """List the texts after this key, each before its places."""
        first = int(after.split("/")[1].removeprefix("user")) if after else 0
        for user in range(first, -(-len(self.catalogs) // OF_A_USER)):
            own = range(user * OF_A_USER, min((user + 1) * OF_A_USER, len(self.catalogs)))
            for catalog in sorted(own, key=self.catalog_id):
                if text_folder(_user(catalog), self.catalog_id(catalog), "e") > after:
                    names = (self.texts(each) for each in self.documents(catalog))
                    keys = ((each.key, each.places_key) for some in names for each in some)
                    yield from (each for both in keys for each in both if each > after)

    def texts(self, document: Document) -> list[TextName]:
        number = self.number_of(document.s3_key)
        ids = (_user(number // OF_A_CATALOG), document.catalog_id, document.document_id)
        own = [_TEXT, *([_OTHER_TEXT] if number in self.planted.read_twice else [])]
        return [TextName(*ids, text_id) for text_id in own]

    def has_object(self, key: str) -> bool:
        return key == self.key(self.number_of(key)) and self.number_of(key) not in self.planted.gone

    def listed(self, first: int, count: int) -> Iterator[tuple[str, DocumentDetail]]:
        """Yield `count` documents of the data source from `first` on, in its own order."""
        step = next(
            each
            for each in range(_SOMEWHERE_ELSE, 2 * _SOMEWHERE_ELSE)
            if gcd(each, self.size) == 1
        )
        for at in range(first, min(first + count, self.size)):
            number = at * step % self.size
            if number not in self.planted.unlisted and number not in self.planted.unrecorded:
                yield self._id(number), self.detail(number)
        if first + count >= self.size:
            yield from ((each, _detail("INDEXED")) for each in self.planted.orphans)

    def detail(self, number: int) -> DocumentDetail:
        return _detail("FAILED" if _failed(number) else "INDEXED")

    def details(self, document_ids: Iterable[str]) -> dict[str, DocumentDetail]:
        """Return details by id; it knows only planted and failed documents."""
        return {each: self._known.get(each, _detail("NOT_FOUND", None)) for each in document_ids}

    @cached_property
    def _known(self) -> dict[str, DocumentDetail]:
        some = {*range(0, self.size, _ONE_FAILED_IN), *self.planted.gone}
        found = {self._id(number): self.detail(number) for number in some - self.planted.unlisted}
        return {**found, **{each: _detail("INDEXED") for each in self.planted.orphans}}

    def _id(self, number: int) -> str:
        catalog, at = divmod(number, OF_A_CATALOG)
        return document_id_of(self.catalog_id(catalog), f"{at:03}.txt")

    def _document(self, number: int) -> Document:
        catalog, at = divmod(number, OF_A_CATALOG)
        catalog_id = self.catalog_id(catalog)
        failed = _failed(number)
        # Not validated, because there are millions.
        return Document.model_construct(
            catalog_id=catalog_id,
            document_id=document_id_of(catalog_id, f"{at:03}.txt"),
            filename=f"{at:03}.txt",
            s3_key=self.key(number),
            size=_SIZE,
            etag="etag",
            version_id="v1",
            text_id=_TEXT,
            indexed_text_id=_TEXT,
            status=DocumentStatus.FAILED if failed else DocumentStatus.INDEXED,
            status_reason="no text" if failed else None,
            uploaded_at=LONG_AGO,
            updated_at=LONG_AGO,
            present_since=LONG_AGO,
            indexed_at=None if failed else LONG_AGO,
            counted=_COUNTED_FAILED if failed else _COUNTED,
            version=1,
        )


def _failed(number: int) -> bool:
    return number % _ONE_FAILED_IN == 0


def _detail(status: str, at: datetime | None = LONG_AGO) -> DocumentDetail:
    return DocumentDetail(status=status, updated_at=at)


def _user(catalog: int) -> str:
    return f"user{catalog // OF_A_USER:06}"


def _folder(catalog: int) -> str:
    return f"c{catalog:07}"
