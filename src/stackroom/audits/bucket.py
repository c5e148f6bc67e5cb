"""
Objects against records, both ways, one catalog's prefix at a time.

The listing brings what lies under one `{user}/{folder}/` in one piece, and the catalog's records
are read beside it. Nothing is asked of S3 for an object that its record agrees
with, and where nothing disagrees, nothing is written. Catalogs without any object are left to
`stackroom.audits.records`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from stackroom.audits.comparison import Listed, difference, is_the_same
from stackroom.audits.discrepancies import Discrepancy, Kind, Step
from stackroom.audits.mending import Mending
from stackroom.audits.window import Window
from stackroom.keys import (
    PAGE_MAP_PREFIX,
    SIDECAR_SUFFIX,
    Location,
    is_folder_marker,
    locate,
    unplaced_id_of,
    unplaced_partition,
    unplaced_reason,
)
from stackroom.model import Document, DocumentStatus, Record
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.inventory import Inventory, ListedObject

_STEP = 1000  # objects, as in a page of the listing


class _Cursor(Record):
    """After that key; under its prefix, ids above `low`."""

    after: str = ""
    low: str = ""


@dataclass(frozen=True, kw_only=True)
class BucketAudit:
    """`capacity` is how many objects of a prefix are held at a time."""

    inventory: Inventory
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    mending: Mending
    capacity: int = 20_000

    def step(self, cursor: str | None) -> Step:
        at = _Cursor.model_validate_json(cursor) if cursor else _Cursor()
        listed = 0
        for prefix, under_it in groupby(self._listing(at.after), key=_prefix_of):
            counted = _Counted(under_it)
            window: Window[Listed] = Window(self.capacity, low=at.low)
            if prefix:
                yield from self._of_prefix(prefix, counted, window)
            else:
                yield from self._unplaced(counted)
            if window.high is not None:
                return _Cursor(after=at.after, low=window.high).model_dump_json()
            at = _Cursor(after=counted.last)
            listed += counted.count
            if listed >= _STEP:
                return at.model_dump_json()
        return None

    def _listing(self, after: str) -> Iterator[ListedObject]:
        following: str | None = after
        while following is not None:
            page = self.inventory.objects(after=following)
            yield from (each for each in page.items if not each.key.startswith(PAGE_MAP_PREFIX))
            following = page.next

    def _of_prefix(
        self, prefix: str, under_it: Iterable[ListedObject], window: Window[Listed]
    ) -> Iterator[Discrepancy]:
        for item in under_it:
            document_id = _location_of(item.key).document_id
            if not item.key.endswith(SIDECAR_SUFFIX):
                window.put(document_id, Listed(item))
            elif listed := window.get(document_id):
                listed.sidecar = item.last_modified
            elif window.covers(document_id):  # a document comes before its sidecar
                yield from self._sidecar_alone(item)
        yield from self._compared(_location_of(f"{prefix}any"), window)

    def _compared(self, location: Location, window: Window[Listed]) -> Iterator[Discrepancy]:
        catalog = self.catalogs.get(location.catalog_id)
        first = None if catalog else next(self._settled(window), None)
        if first is not None and self.mending.dry_run and self._is_told(first):
            first = None  # whether it would be refused again, only an attempt shows
        if first is not None:
            # The catalog's record is lost, or it was never opened: what becomes of one tells.
            yield from self.mending.reconciled([(first.key, Kind.OBJECT_WITHOUT_RECORD)])
            catalog = self.catalogs.get(location.catalog_id)
        if catalog is None or unplaced_reason(location, catalog):
            others = (listed.item for listed in window.values() if listed.item is not first)
            yield from self.mending.reconciled(self._unlike_their_records(others))
            return
        yield from self.mending.reconciled(self._suspects(location.catalog_id, window))

    def _suspects(self, catalog_id: str, window: Window[Listed]) -> Iterator[tuple[str, Kind]]:
        for record in self.documents.of_catalog(catalog_id):
            if not window.covers(record.document_id):
                continue
            listed = window.pop(record.document_id)
            if listed is None:
                if self._may_be_lost(record):
                    yield record.s3_key, Kind.RECORD_WITHOUT_OBJECT
            elif (kind := difference(record, listed)) and self._is_settled(listed):
                yield listed.item.key, kind
        yield from ((item.key, Kind.OBJECT_WITHOUT_RECORD) for item in self._settled(window))

    def _settled(self, window: Window[Listed]) -> Iterator[ListedObject]:
        return (listed.item for listed in window.values() if self._is_settled(listed))

    def _is_settled(self, listed: Listed) -> bool:
        return self.mending.is_settled(listed.item.last_modified)

    def _may_be_lost(self, record: Document) -> bool:
        known = record.status in (DocumentStatus.DELETING, DocumentStatus.UPLOADING)
        return not known and self.mending.is_settled(record.updated_at)

    def _unplaced(self, items: Iterable[ListedObject]) -> Iterator[Discrepancy]:
        documents = (each for each in items if not each.key.endswith(SIDECAR_SUFFIX))
        yield from self.mending.reconciled(self._unlike_their_records(documents))

    def _unlike_their_records(self, items: Iterable[ListedObject]) -> Iterator[tuple[str, Kind]]:
        for item in items:
            if self.mending.is_settled(item.last_modified) and not self._is_told(item):
                yield item.key, Kind.OBJECT_WITHOUT_RECORD

    def _is_told(self, item: ListedObject) -> bool:
        """Whether a record shows the object as one that belongs to no catalog."""
        partition = unplaced_partition(locate(item.key).user_id)
        record = self.documents.get(partition, unplaced_id_of(item.key))
        return record is not None and is_the_same(record, item)

    def _sidecar_alone(self, sidecar: ListedObject) -> Iterator[Discrepancy]:
        location = _location_of(sidecar.key)
        if not self.mending.is_settled(sidecar.last_modified):
            return
        if self.documents.get(location.catalog_id, location.document_id) is not None:
            return  # the comparison with the record follows, and takes the sidecar along
        if self.bucket.head(location.key) is not None:
            return
        remove = partial(self.bucket.remove_sidecar, location.key)
        yield from self.mending.mended(Kind.SIDECAR_WITHOUT_OBJECT, sidecar.key, by=remove)


class _Counted:
    """Iterates once, and knows afterwards how many there were and the last one's key."""

    def __init__(self, items: Iterable[ListedObject]) -> None:
        self._items = items
        self.count = 0
        self.last = ""

    def __iter__(self) -> Iterator[ListedObject]:
        for item in self._items:
            self.count += 1
            self.last = item.key
            if not is_folder_marker(item.key):
                yield item


def _prefix_of(item: ListedObject) -> str:
    """`{user}/{folder}/`, or nothing for what can belong to no catalog."""
    location = locate(_document_key(item.key))
    return location.prefix if isinstance(location, Location) else ""


def _location_of(key: str) -> Location:
    location = locate(_document_key(key))
    assert isinstance(location, Location), "only what has a location has a prefix"
    return location


def _document_key(key: str) -> str:
    return key.removesuffix(SIDECAR_SUFFIX)
