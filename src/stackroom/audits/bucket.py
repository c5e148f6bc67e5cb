"""
Objects against records, both ways, a shelf at a time.

A shelf is what lies under one `{user}/{folder}/`; the listing brings it in one piece, and the
catalog's records are read beside it. Nothing is asked of S3 for an object that its record agrees
with, and where nothing disagrees, nothing is written. Catalogs without any object are left to
`stackroom.audits.records`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from stackroom.audits.comparison import Seen, difference, is_the_same
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
    unplaced_reason,
)
from stackroom.model import Document, DocumentStatus, Record
from stackroom.ports.inventory import Inventory, ListedObject
from stackroom.uploads.unplaced import unplaced_partition

_STEP = 1000  # objects, as in a page of the listing


class _Place(Record):
    """After that key; on its shelf, ids above `low`."""

    after: str = ""
    low: str = ""


@dataclass(frozen=True, kw_only=True)
class BucketAudit:
    """`capacity` is how many objects of a shelf are held at a time."""

    inventory: Inventory
    mending: Mending
    capacity: int = 20_000

    def step(self, place: str | None) -> Step:
        at = _Place.model_validate_json(place) if place else _Place()
        listed = 0
        for prefix, shelf in groupby(self._listing(at.after), key=_shelf_of):
            counted = _Counted(shelf)
            window: Window[Seen] = Window(self.capacity, low=at.low)
            if prefix:
                yield from self._of_shelf(prefix, counted, window)
            else:
                yield from self._unplaced(counted)
            if window.high is not None:
                return _Place(after=at.after, low=window.high).model_dump_json()
            at = _Place(after=counted.last)
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

    def _of_shelf(
        self, prefix: str, shelf: Iterable[ListedObject], window: Window[Seen]
    ) -> Iterator[Discrepancy]:
        for item in shelf:
            document_id = _place_of(item.key).document_id
            if not item.key.endswith(SIDECAR_SUFFIX):
                window.put(document_id, Seen(item))
            elif seen := window.get(document_id):
                seen.sidecar = item.last_modified
            elif window.covers(document_id):  # a document comes before its sidecar
                yield from self._sidecar_alone(item)
        yield from self._compared(_place_of(f"{prefix}any"), window)

    def _compared(self, place: Location, window: Window[Seen]) -> Iterator[Discrepancy]:
        catalogs = self.mending.uploads.catalogs
        catalog = catalogs.get(place.catalog_id)
        probed = None if catalog else next(self._settled(window), None)
        if probed is not None and self.mending.dry_run and self._is_told(probed):
            probed = None  # whether it would be refused again, only an attempt shows
        if probed is not None:
            # The catalog's record is lost, or it was never opened: what becomes of one tells.
            yield from self.mending.reconciled([(probed.key, Kind.OBJECT_WITHOUT_RECORD)])
            catalog = catalogs.get(place.catalog_id)
        if catalog is None or unplaced_reason(place, catalog):
            strays = (seen.item for seen in window.values() if seen.item is not probed)
            yield from self.mending.reconciled(self._unlike_their_records(strays))
            return
        yield from self.mending.reconciled(self._suspects(place.catalog_id, window))

    def _suspects(self, catalog_id: str, window: Window[Seen]) -> Iterator[tuple[str, Kind]]:
        for record in self.mending.uploads.documents.of_catalog(catalog_id):
            if not window.covers(record.document_id):
                continue
            seen = window.pop(record.document_id)
            if seen is None:
                if self._may_be_lost(record):
                    yield record.s3_key, Kind.RECORD_WITHOUT_OBJECT
            elif (kind := difference(record, seen)) and self._is_settled(seen):
                yield seen.item.key, kind
        yield from ((item.key, Kind.OBJECT_WITHOUT_RECORD) for item in self._settled(window))

    def _settled(self, window: Window[Seen]) -> Iterator[ListedObject]:
        return (seen.item for seen in window.values() if self._is_settled(seen))

    def _is_settled(self, seen: Seen) -> bool:
        return self.mending.is_settled(seen.item.last_modified)

    def _may_be_lost(self, record: Document) -> bool:
        known = record.status in (DocumentStatus.DELETING, DocumentStatus.UPLOADING)
        return not known and self.mending.is_settled(record.updated_at)

    def _unplaced(self, shelf: Iterable[ListedObject]) -> Iterator[Discrepancy]:
        documents = (each for each in shelf if not each.key.endswith(SIDECAR_SUFFIX))
        yield from self.mending.reconciled(self._unlike_their_records(documents))

    def _unlike_their_records(self, strays: Iterable[ListedObject]) -> Iterator[tuple[str, Kind]]:
        for item in strays:
            if self.mending.is_settled(item.last_modified) and not self._is_told(item):
                yield item.key, Kind.OBJECT_WITHOUT_RECORD

    def _is_told(self, stray: ListedObject) -> bool:
        shelf = unplaced_partition(locate(stray.key).user_id)
        record = self.mending.uploads.documents.get(shelf, unplaced_id_of(stray.key))
        return record is not None and is_the_same(record, stray)

    def _sidecar_alone(self, sidecar: ListedObject) -> Iterator[Discrepancy]:
        uploads, place = self.mending.uploads, _place_of(sidecar.key)
        if not self.mending.is_settled(sidecar.last_modified):
            return
        if uploads.documents.get(place.catalog_id, place.document_id) is not None:
            return  # the comparison with the record follows, and takes the sidecar along
        if uploads.bucket.head(place.key) is not None:
            return
        if not self.mending.dry_run:
            uploads.bucket.remove_sidecar(place.key)
        yield self.mending.discrepancy(Kind.SIDECAR_WITHOUT_OBJECT, sidecar.key)


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


def _shelf_of(item: ListedObject) -> str:
    """`{user}/{folder}/`, or nothing for what has no place."""
    place = locate(_document_key(item.key))
    return place.prefix if isinstance(place, Location) else ""


def _place_of(key: str) -> Location:
    place = locate(_document_key(key))
    assert isinstance(place, Location), "what has no location is on no shelf"
    return place


def _document_key(key: str) -> str:
    return key.removesuffix(SIDECAR_SUFFIX)
