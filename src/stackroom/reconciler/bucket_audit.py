"""
Compare objects with records, in both directions, one prefix `{user}/{folder}/` at a time.

The listing returns the objects of a prefix together, and the catalog's records are read alongside.
An object that its record agrees with costs no request to S3, and if nothing differs, nothing is
written. Catalogs without any object are left to `stackroom.reconciler.record_audit`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby

from stackroom.model.keys import (
    SIDECAR_SUFFIX,
    TEXT_PREFIX,
    Location,
    Unplaced,
    can_have_sidecar,
    is_folder_marker,
    is_junk,
    locate,
)
from stackroom.model.records import DataSourceType, Document, DocumentStatus, Record
from stackroom.reconciler.audited import Audited, Piece
from stackroom.reconciler.discrepancies import Discrepancy, Kind
from stackroom.reconciler.mending import isolate_failures
from stackroom.runs.inventory import ListedObject

_STEP = 10_000  # objects, ten pages of the listing


class _Cursor(Record):
    """A position: after that key; within its prefix, ids above `low`."""

    after: str = ""
    low: str = ""


@dataclass
class ListedFile:
    """
    An object, and when its sidecar was written; None if there is none. `twins` are objects with the
    same name in another encoding.
    """

    item: ListedObject
    sidecar: datetime | None = None
    twins: list[ListedObject] = field(default_factory=list)

    @property
    def items(self) -> tuple[ListedObject, ...]:
        return (self.item, *self.twins)


@dataclass
class IdWindow:
    """
    The ids of a prefix's objects that fit into bounded memory: the lowest ids above the end of the
    last window, up to `high`; None if all fit.

    The records come in an order of their own and are compared with each window. Ids are hashes, so
    the windows are equally full, and a prefix takes (length / capacity) readings of both sides.
    """

    capacity: int
    low: str = ""
    high: str | None = None
    held: dict[str, ListedFile] = field(default_factory=dict)

    def put(self, document_id: str, listed: ListedFile) -> None:
        if not self.covers(document_id):
            return
        if there := self.held.get(document_id):
            there.twins.append(listed.item)
            return
        self.held[document_id] = listed
        if len(self.held) > self.capacity:  # to three quarters, so that sorting stays rare
            kept = sorted(self.held)[: max(1, self.capacity * 3 // 4)]
            self.high = kept[-1]
            self.held = {each: self.held[each] for each in kept}

    def covers(self, document_id: str) -> bool:
        return document_id > self.low and (self.high is None or document_id <= self.high)


@dataclass(frozen=True)
class BucketAudit:
    context: Audited

    def step(self, cursor: str | None) -> Piece:
        at = _Cursor.model_validate_json(cursor) if cursor else _Cursor()
        listed = 0
        for folder, on_it in groupby(self._listing(at.after), key=_folder_of):
            counted = _Counted(on_it)
            window = IdWindow(self.context.capacity, low=at.low)
            yield from isolate_failures(
                f"objects under {folder!r}", self._of_folder(folder, counted, window)
            )
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
            page = self.context.inventory.objects(after=following)
            yield from (each for each in page.items if not each.key.startswith(TEXT_PREFIX))
            following = None if page.next is None else _past_ours(page.next)

    def _of_folder(
        self, folder: str, on_it: Iterable[ListedObject], window: IdWindow
    ) -> Iterator[Discrepancy]:
        junk = list[str]()
        for item in on_it:
            location = locate(item.key.removesuffix(SIDECAR_SUFFIX))
            document_id = location.document_id
            if is_junk(item.key):
                junk.append(item.key)
            elif not item.key.endswith(SIDECAR_SUFFIX):
                window.put(document_id, ListedFile(item))
            elif listed := window.held.get(document_id):
                listed.sidecar = item.last_modified
            elif window.covers(document_id) and isinstance(location, Location):
                # A document comes before its sidecar.
                yield from isolate_failures(item.key, self._sidecar_alone(location, item))
        yield from self._of_no_catalog(window)
        catalogs_own = locate(f"{folder}any")
        if isinstance(catalogs_own, Location):
            yield from self._quarantined(catalogs_own, junk)
            yield from self._compared(catalogs_own, window)

    def _quarantined(self, location: Location, junk: Sequence[str]) -> Iterator[Discrepancy]:
        """Quarantine junk files where ingestion jobs crawl them; they have no record."""
        catalog = self.context.catalogs.get(location.catalog_id) if junk else None
        source = catalog.source if catalog is not None else None
        if source is not None and source.type is DataSourceType.S3:
            yield from self.context.mending.reconciled((each, Kind.WRONG_SIDECAR) for each in junk)

    def _of_no_catalog(self, window: IdWindow) -> Iterator[Discrepancy]:
        """Yield what is wrong with keys that belong to no catalog; the window keeps the others."""
        unplaced = list[ListedObject]()
        for item in [listed.item for listed in window.held.values()]:
            location = locate(item.key)
            if isinstance(location, Unplaced):
                window.held.pop(location.document_id, None)
                unplaced.append(item)
        yield from self.context.mending.reconciled(self._unlike_their_records(unplaced))

    def _compared(self, location: Location, window: IdWindow) -> Iterator[Discrepancy]:
        catalog = self.context.catalogs.get(location.catalog_id)
        first = None if catalog else next(self._settled(window), None)
        if first is not None and self.context.mending.dry_run and self._is_recorded(first):
            first = None  # whether it would be refused again, only an attempt shows
        if first is not None:
            # The catalog's record is lost, or it was never opened: what becomes of one tells.
            yield from self.context.mending.reconciled([(first.key, Kind.OBJECT_WITHOUT_RECORD)])
            catalog = self.context.catalogs.get(location.catalog_id)
        if catalog is None or location.unplaced_reason(catalog):
            items = (item for each in window.held.values() for item in each.items)
            others = (item for item in items if item is not first)
            yield from self.context.mending.reconciled(self._unlike_their_records(others))
            return
        yield from self.context.mending.reconciled(self._suspects(location.catalog_id, window))

    def _suspects(self, catalog_id: str, window: IdWindow) -> Iterator[tuple[str, Kind]]:
        for record in self.context.documents.of_catalog(catalog_id):
            if not window.covers(record.document_id):
                continue
            listed = window.held.pop(record.document_id, None)
            if listed is None:
                if record.has_lapsed(self.context.mending.now()):
                    yield record.s3_key, Kind.UNUSED_LINK
                elif self._may_be_lost(record):
                    yield record.s3_key, Kind.RECORD_WITHOUT_OBJECT
            elif listed.twins or record.s3_key != listed.item.key:
                # Comparing each shows which of them the record belongs to.
                keys = {record.s3_key, *(each.key for each in listed.items)}
                yield from ((key, Kind.STALE_RECORD) for key in sorted(keys))
            elif (kind := _difference(record, listed)) and self._is_settled(listed.item):
                yield listed.item.key, kind
        yield from ((item.key, Kind.OBJECT_WITHOUT_RECORD) for item in self._settled(window))

    def _settled(self, window: IdWindow) -> Iterator[ListedObject]:
        items = (item for each in window.held.values() for item in each.items)
        return (item for item in items if self._is_settled(item))

    def _is_settled(self, item: ListedObject) -> bool:
        return self.context.mending.is_settled(item.last_modified)

    def _may_be_lost(self, record: Document) -> bool:
        known = record.status in (DocumentStatus.DELETING, DocumentStatus.UPLOADING)
        return not known and self.context.mending.is_settled(record.uploaded_at)

    def _unlike_their_records(self, items: Iterable[ListedObject]) -> Iterator[tuple[str, Kind]]:
        for item in items:
            if self._is_settled(item) and not self._is_recorded(item):
                yield item.key, Kind.OBJECT_WITHOUT_RECORD

    def _is_recorded(self, item: ListedObject) -> bool:
        """Return True if a record shows the object as one without a catalog."""
        unplaced = locate(item.key).unplaced()
        record = self.context.documents.get(unplaced.partition, unplaced.document_id)
        return record is not None and _is_the_same(record, item)

    def _sidecar_alone(self, location: Location, sidecar: ListedObject) -> Iterator[Discrepancy]:
        if not self._is_settled(sidecar):
            return
        record = self.context.documents.get(location.catalog_id, location.document_id)
        if record is not None and record.s3_key == location.key:
            return  # the comparison with the record follows, and takes the sidecar along
        if self.context.bucket.head(location.key) is not None:
            return
        yield from self.context.mending.mended(
            Kind.SIDECAR_WITHOUT_OBJECT,
            sidecar.key,
            by=partial(self.context.bucket.remove_sidecar, location.key),
            until=lambda: self.context.bucket.sidecar_of(location.key) is None,
        )


class _Counted:
    """An iterator that counts its items and remembers the key of the last one."""

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
        """Exhaust the iterator, so that the listing continues after all items."""
        for _ in self:
            pass


def _past_ours(after: str) -> str:
    """Return the key after which a listing continues, past our own prefix."""
    return f"{TEXT_PREFIX}\U0010ffff" if after.startswith(TEXT_PREFIX) else after


def _folder_of(item: ListedObject) -> str:
    """
    Return `{user}/{folder}/` of the key, or nothing if it has no two folders. Only the text of the
    key counts, so that a misplaced key among a catalog's objects does not split their prefix.
    """
    user_id, _, rest = item.key.partition("/")
    folder, slash, _ = rest.partition("/")
    return f"{user_id}/{folder}/" if slash else ""


def _difference(record: Document, listed: ListedFile) -> Kind | None:
    """Return the kind of a suspected difference, to be confirmed by HeadObject."""
    if record.status in (DocumentStatus.DELETING, DocumentStatus.UPLOADING):
        return Kind.STALE_RECORD
    if not _is_the_same(record, listed.item):
        return Kind.STALE_RECORD
    return None if _has_its_sidecar(record, listed) else Kind.WRONG_SIDECAR


def _is_the_same(record: Document, item: ListedObject) -> bool:
    """
    Compare by what a listing returns. HeadObject returns whole seconds, a listing may return
    fractions.
    """
    at = record.uploaded_at.replace(microsecond=0)
    return has_the_same_content(record, item) and at == item.last_modified.replace(microsecond=0)


def has_the_same_content(record: Document, item: ListedObject) -> bool:
    return (record.etag, record.size) == (item.etag, item.size)


def _has_its_sidecar(record: Document, listed: ListedFile) -> bool:
    """
    Return True unless the sidecar is newer than the record: its writer failed before saving the
    record.
    """
    if not can_have_sidecar(record.s3_key):
        return True
    known_since = record.present_since or record.updated_at
    return listed.sidecar is not None and listed.sidecar <= known_since
