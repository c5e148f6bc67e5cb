"""
Objects against records, both ways, one shelf at a time: all that lies under one `{user}/{folder}/`.

The listing brings a shelf in one piece, whatever else lies on it, and the catalog's records are
read beside it. Nothing is asked of S3 for an object that its record agrees with, and where nothing
disagrees, nothing is written. Catalogs without any object are left to
`stackroom.reconciler.records`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from stackroom.keys import (
    PLACE_MAP_PREFIX,
    SIDECAR_SUFFIX,
    Location,
    Unplaced,
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
from stackroom.reconciler.comparison import Listed, difference, is_the_same
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Step
from stackroom.reconciler.mending import Mending
from stackroom.reconciler.window import Window

_STEP = 10_000  # objects, ten pages of the listing


class _Cursor(Record):
    """After that key; on its shelf, ids above `low`."""

    after: str = ""
    low: str = ""


@dataclass(frozen=True, kw_only=True)
class BucketAudit:
    """`capacity` is how many objects of a shelf are held at a time."""

    inventory: Inventory
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    mending: Mending
    capacity: int = 20_000

    def step(self, cursor: str | None) -> Step:
        at = _Cursor.model_validate_json(cursor) if cursor else _Cursor()
        listed = 0
        for shelf, on_it in groupby(self._listing(at.after), key=_shelf_of):
            counted = _Counted(on_it)
            window: Window[Listed] = Window(self.capacity, low=at.low)
            compared = self._of_shelf(shelf, counted, window)
            yield from self.mending.apart(f"objects under {shelf!r}", compared)
            counted.finish()
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
            yield from (each for each in page.items if not each.key.startswith(PLACE_MAP_PREFIX))
            following = page.next

    def _of_shelf(
        self, shelf: str, on_it: Iterable[ListedObject], window: Window[Listed]
    ) -> Iterator[Discrepancy]:
        for item in on_it:
            location = locate(item.key.removesuffix(SIDECAR_SUFFIX))
            document_id = location.document_id
            if not item.key.endswith(SIDECAR_SUFFIX):
                window.put(document_id, Listed(item))
            elif listed := window.get(document_id):
                listed.sidecar = item.last_modified
            elif window.covers(document_id) and isinstance(location, Location):
                # A document comes before its sidecar.
                alone = self._sidecar_alone(location, item)
                yield from self.mending.apart(item.key, alone)
        yield from self._of_no_catalog(window)
        catalogs_own = locate(f"{shelf}any")
        if isinstance(catalogs_own, Location):
            yield from self._compared(catalogs_own, window)

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
                if record.has_lapsed(self.mending.now()):
                    yield record.s3_key, Kind.UNUSED_LINK
                elif self._may_be_lost(record):
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

    def _of_no_catalog(self, window: Window[Listed]) -> Iterator[Discrepancy]:
        """Those of the shelf whose own key is at fault; the window is left with the others."""
        held = [listed.item for listed in window.values()]
        unplaced = [each for each in held if isinstance(locate(each.key), Unplaced)]
        for item in unplaced:
            window.pop(unplaced_id_of(item.key))
        yield from self.mending.reconciled(self._unlike_their_records(unplaced))

    def _unlike_their_records(self, items: Iterable[ListedObject]) -> Iterator[tuple[str, Kind]]:
        for item in items:
            if self.mending.is_settled(item.last_modified) and not self._is_told(item):
                yield item.key, Kind.OBJECT_WITHOUT_RECORD

    def _is_told(self, item: ListedObject) -> bool:
        """Whether a record shows the object as one that belongs to no catalog."""
        partition = unplaced_partition(locate(item.key).user_id)
        record = self.documents.get(partition, unplaced_id_of(item.key))
        return record is not None and is_the_same(record, item)

    def _sidecar_alone(self, location: Location, sidecar: ListedObject) -> Iterator[Discrepancy]:
        if not self.mending.is_settled(sidecar.last_modified):
            return
        if self.documents.get(location.catalog_id, location.document_id) is not None:
            return  # the comparison with the record follows, and takes the sidecar along
        if self.bucket.head(location.key) is not None:
            return
        yield from self.mending.mended(
            Kind.SIDECAR_WITHOUT_OBJECT,
            sidecar.key,
            by=partial(self.bucket.remove_sidecar, location.key),
            until=lambda: self.bucket.sidecar_of(location.key) is None,
        )


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
            if not is_folder_marker(item.key, item.size):
                yield item

    def finish(self) -> None:
        """Whatever kept the others from being compared, the listing goes on after them."""
        for _ in self:
            pass


def _shelf_of(item: ListedObject) -> str:
    """
    `{user}/{folder}/` as the key has it, or nothing if it has no two folders. By the text alone:
    a misplaced key among a catalog's own must not take its shelf apart.
    """
    user_id, _, rest = item.key.partition("/")
    folder, slash, _ = rest.partition("/")
    return f"{user_id}/{folder}/" if slash else ""
