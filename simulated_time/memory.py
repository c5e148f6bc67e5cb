"""
The pipeline's ports in memory, with the behaviour of the adapters of DynamoDB and S3.

`tests/contract/ports` checks that both behave alike; the tests' fakes build on these classes.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count

from stackroom.errors import LimitReached, RecordChanged, RunSuperseded
from stackroom.model.attributes import MOST_RECORDED
from stackroom.model.bucket import FileVersion, StoredObject, StoredSidecar, Version
from stackroom.model.catalog_counts import (
    Counts,
    booked,
    counts_in,
    counts_of,
    indexed_last,
    status_of,
    uncounted,
)
from stackroom.model.keys import SIDECAR_SUFFIX, can_have_sidecar
from stackroom.model.records import (
    Catalog,
    CatalogStatus,
    DataSource,
    DataSourceType,
    Document,
    DocumentStatus,
    Receipt,
)
from stackroom.model.repositories import DocumentKey, DocumentNotes, DocumentPage, ListingPage
from stackroom.runs.run_leases import Lease, WorklistEntry

BUCKET = "docs"
PAGE = 3  # keys that MemoryBucket.purge takes at a time


@dataclass
class MemoryCatalogs:
    limit: int = 100
    kept: dict[str, Catalog] = field(default_factory=dict)

    def get(self, catalog_id: str) -> Catalog | None:
        return self.kept.get(catalog_id)

    def of_user(self, user_id: str) -> Iterator[Catalog]:
        return (each for each in list(self.kept.values()) if each.user_id == user_id)

    def open(self, catalog: Catalog) -> Catalog:
        if catalog.catalog_id in self.kept:
            return self.kept[catalog.catalog_id]
        if len(list(self.of_user(catalog.user_id))) >= self.limit:
            raise LimitReached("Catalog", self.limit)
        self.kept[catalog.catalog_id] = catalog
        return catalog

    def close(self, catalog: Catalog) -> None:
        kept = self.kept.get(catalog.catalog_id)
        if kept is None:
            return
        if kept.status is not CatalogStatus.DELETING or kept.created_at != catalog.created_at:
            raise RecordChanged(catalog.catalog_id)
        del self.kept[catalog.catalog_id]

    def place(self, catalog_id: str, source: DataSource) -> None:
        placed = self._there(catalog_id).data_source_id
        if placed not in (None, source.data_source_id):
            raise RecordChanged(catalog_id)
        self._change(
            catalog_id,
            knowledge_base_id=source.knowledge_base_id,
            data_source_id=source.data_source_id,
            data_source_type=source.type,
            data_source_shared=source.is_shared,
        )

    def record_attributes(self, catalog_id: str, types: frozenset[str]) -> None:
        there = self.kept.get(catalog_id)
        if there is not None and len(there.attribute_types) < MOST_RECORDED:
            self._change(catalog_id, attribute_types=there.attribute_types | types)

    def describe(self, catalog_id: str, *, name: str, description: str, at: datetime) -> None:
        if self._there(catalog_id).status is CatalogStatus.DELETING:
            raise RecordChanged(catalog_id)
        self._change(catalog_id, name=name, description=description, updated_at=at)

    def clear_data_source(self, catalog_id: str) -> None:
        if self._there(catalog_id).status is not CatalogStatus.DELETING:
            raise RecordChanged(catalog_id)
        self._change(
            catalog_id,
            knowledge_base_id=None,
            data_source_id=None,
            data_source_type=DataSourceType.S3,
            data_source_shared=False,
        )

    def recount(self, seen: Catalog, counts: Counts) -> None:
        if counts_in(self._there(seen.catalog_id)) != counts_in(seen):
            raise RecordChanged(seen.catalog_id)
        self._set_counts(seen.catalog_id, counts)

    def count(self, catalog_id: str, change: Counts, kept: Document | None) -> None:
        """Change the counts as a write of a document does; no count falls below zero."""
        there = self.kept[catalog_id]
        counts = counts_in(there)
        counts += change.within(counts)
        if kept is not None:
            self._change(catalog_id, updated_at=kept.updated_at)
        if kept is not None and (indexed_at := indexed_last([kept])) is not None:
            self._change(catalog_id, indexed_at=indexed_at)
        self._set_counts(catalog_id, counts)

    def _set_counts(self, catalog_id: str, counts: Counts) -> None:
        is_going = self.kept[catalog_id].status is CatalogStatus.DELETING
        self._change(
            catalog_id,
            status=CatalogStatus.DELETING if is_going else status_of(counts),
            document_count=counts.documents,
            total_bytes=counts.size,
            failed_count=counts.failed,
            waiting_count=counts.waiting,
            open_count=counts.open,
            over_count=counts.over,
            over_new_count=counts.over_new,
            over_new_bytes=counts.over_new_size,
        )

    def mark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        since = self._there(catalog_id).deleting_since or at
        self._change(catalog_id, status=CatalogStatus.DELETING, updated_at=at, deleting_since=since)

    def unmark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        there = self._there(catalog_id)
        if there.status is CatalogStatus.DELETING:
            status = status_of(counts_in(there))
            self._change(catalog_id, status=status, updated_at=at, deleting_since=None)

    def _there(self, catalog_id: str) -> Catalog:
        if catalog_id not in self.kept:
            raise RecordChanged(catalog_id)
        return self.kept[catalog_id]

    def _change(self, catalog_id: str, **changes: object) -> None:
        self.kept[catalog_id] = self.kept[catalog_id].model_copy(update=changes)


@dataclass
class MemoryDocuments:
    """Documents in memory, counted in their `catalogs`."""

    catalogs: MemoryCatalogs = field(default_factory=MemoryCatalogs)
    kept: dict[tuple[str, str], Document] = field(default_factory=dict)

    def get(self, catalog_id: str, document_id: str) -> Document | None:
        return self.kept.get((catalog_id, document_id))

    def save(self, document: Document) -> Document:
        self._check(document)
        first = int(
            document.updated_at.timestamp() * 1_000_000
        )  # unlike that of a removed document
        version = document.version + 1 if document.version else first
        return self._keep(document.model_copy(update={"version": version}))

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        saved = []
        for document in documents:
            try:
                saved.append(self.save(document))
            except RecordChanged:
                continue
        return saved

    def remove(self, document: Document) -> None:
        there = self.kept.get((document.catalog_id, document.document_id))
        if there is None:
            return
        self._check(document)
        del self.kept[(document.catalog_id, document.document_id)]
        self._count(document.catalog_id, Counts() - counts_of(there), None)

    def staying(self, keys: Iterable[DocumentKey]) -> dict[DocumentKey, DocumentNotes]:
        return {
            key: DocumentNotes.of(document)
            for key in keys
            if (document := self.kept.get(key)) is not None
            and document.status is not DocumentStatus.DELETING
            and (catalog := self.catalogs.kept.get(key[0])) is not None
            and catalog.status is not CatalogStatus.DELETING
        }

    def open_in(
        self, catalog_id: str, *, limit: int | None = None, newest: bool = False
    ) -> Iterator[Document]:
        found = self._open_of(catalog_id)
        in_order = sorted(found, key=lambda each: (each.opened_at, each.document_id))
        return iter((in_order[::-1] if newest else in_order)[:limit])

    def failed_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        found = self._failed_of(catalog_id)
        return iter(sorted(found, key=lambda each: each.document_id)[:limit])

    def over_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        since = {
            each.document_id: each.counted.over_since
            for each in self._of(catalog_id)
            if each.counted and each.counted.over_since
        }
        found = [each for each in self._of(catalog_id) if each.document_id in since]
        return iter(
            sorted(found, key=lambda each: (since[each.document_id], each.document_id))[:limit]
        )

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        return iter(self._of(catalog_id))

    def page(self, catalog_id: str, *, after: str | None, limit: int) -> DocumentPage:
        found = sorted(self._of(catalog_id), key=lambda each: each.document_id)
        left = [each for each in found if after is None or each.document_id > after]
        goes_on = len(left) > limit
        return DocumentPage(
            documents=tuple(left[:limit]), next=left[limit - 1].document_id if goes_on else None
        )

    def _of(self, catalog_id: str) -> list[Document]:
        return [each for (where, _), each in list(self.kept.items()) if where == catalog_id]

    def _open_of(self, catalog_id: str) -> list[Document]:
        return [each for each in self._of(catalog_id) if each.opened_at is not None]

    def _failed_of(self, catalog_id: str) -> list[Document]:
        return [each for each in self._of(catalog_id) if each.counted and each.counted.failed]

    def _check(self, document: Document) -> None:
        kept = self.kept.get((document.catalog_id, document.document_id))
        if (kept.version if kept else 0) != document.version:
            raise RecordChanged(document.document_id)

    def _keep(self, document: Document) -> Document:
        key = (document.catalog_id, document.document_id)
        there = self.kept.get(key)
        is_counted = document.catalog_id in self.catalogs.kept
        since = there.opened_at if there else None
        if since is not None and document.opened_at is not None:
            since = max(since, document.opened_at)  # it enters the queue again
        self.kept[key] = booked(document, since) if is_counted else uncounted(document)
        before = counts_of(there) if there else Counts()
        self._count(document.catalog_id, counts_of(self.kept[key]) - before, self.kept[key])
        return self.kept[key]

    def _count(self, catalog_id: str, change: Counts, kept: Document | None) -> None:
        if catalog_id in self.catalogs.kept and change != Counts():
            self.catalogs.count(catalog_id, change, kept)


@dataclass
class MemoryBucket:
    clock: Callable[[], datetime]
    objects: dict[str, StoredObject] = field(default_factory=dict)
    sidecars: dict[str, StoredSidecar] = field(default_factory=dict)
    uploads: int = 0
    markers: set[str] = field(default_factory=set)

    def delete(self, key: str) -> None:
        del self.objects[key]
        self.markers.add(key)

    def head(self, key: str) -> StoredObject | None:
        return self.objects.get(key)

    def version_of(self, key: str) -> FileVersion | None:
        found = self.objects.get(key)
        return None if found is None else FileVersion(found.etag, found.version_id)

    def sidecar_of(self, key: str) -> StoredSidecar | None:
        return self.sidecars.get(key)

    def sidecars_of(self, keys: Sequence[str]) -> dict[str, StoredSidecar]:
        return {key: self.sidecars[key] for key in keys if key in self.sidecars}

    def write_sidecar(self, key: str, body: bytes) -> None:
        assert not key.endswith(SIDECAR_SUFFIX), "a sidecar has no sidecar"
        if not can_have_sidecar(key):
            return
        self.sidecars[key] = StoredSidecar(body=body, last_modified=self.clock())

    def remove_sidecar(self, key: str) -> None:
        self.sidecars.pop(key, None)

    def remove(self, key: str) -> None:
        if self.objects.pop(key, None):
            self.markers.add(key)

    def holds_any(self, prefix: str) -> bool:
        return any(key.startswith(prefix) for key in self._all_keys())

    def versions_since(self, prefix: str, moment: datetime) -> frozenset[Version]:
        return frozenset(
            (key, str(written))
            for key, written in self._all_keys().items()
            if key.startswith(prefix) and written >= moment
        )

    def purge(
        self, prefix: str, *, before: datetime, recent: Collection[Version] = ()
    ) -> Iterator[list[str]]:
        there = sorted(
            key
            for key, written in self._all_keys().items()
            if key.startswith(prefix) and (written < before or (key, str(written)) in recent)
        )
        for start in range(0, len(there), PAGE):
            keys = there[start : start + PAGE]
            for key in keys:
                if key.endswith(SIDECAR_SUFFIX):
                    self.remove_sidecar(key.removesuffix(SIDECAR_SUFFIX))
                else:
                    self.remove(key)
            yield keys

    def _all_keys(self) -> dict[str, datetime]:
        """Return all keys, each with the time of its write."""
        objects = {key: each.last_modified for key, each in self.objects.items()}
        sidecars = {key + SIDECAR_SUFFIX: each.last_modified for key, each in self.sidecars.items()}
        return {**objects, **sidecars}

    def uri_of(self, key: str) -> str:
        return f"s3://{BUCKET}/{key}"


@dataclass
class MemoryLeases:
    kept: dict[str, Lease] = field(default_factory=dict)

    def get(self, catalog_id: str) -> Lease | None:
        return self.kept.get(catalog_id)

    def ask(self, catalog_id: str) -> Lease:
        nothing = Lease(worklist_id=catalog_id, requested=0, epoch=0, held=False, started=False)
        lease = self.kept.get(catalog_id, nothing)
        return self._keep(replace(lease, requested=lease.requested + 1))

    def claim(self, worklist_id: str, *, until: datetime) -> Lease | None:
        there = self.kept.get(worklist_id)
        if there is not None and there.held:
            return None
        return self.take(self.ask(worklist_id), until=until, failures=0)

    def take(
        self, seen: Lease, *, until: datetime, failures: int, epoch: int | None = None
    ) -> Lease | None:
        now = self.kept[seen.worklist_id]
        if (now.epoch, now.held) != (seen.epoch, seen.held):
            return None
        taken = replace(
            now,
            epoch=now.epoch + 1 if epoch is None else epoch,
            held=True,
            started=False,
            until=until,
        )
        return self._keep(replace(taken, failures=failures))

    def mark_started(self, lease: Lease) -> None:
        now = self.kept.get(lease.worklist_id)
        if now and now.held and now.epoch == lease.epoch:
            self._keep(replace(now, started=True))

    def renew(
        self, catalog_id: str, epoch: int, *, until: datetime, is_well: bool = False
    ) -> Lease:
        mine = self._mine(catalog_id, epoch)
        failures = 0 if is_well else mine.failures
        return self._keep(replace(mine, until=until, started=True, failures=failures))

    def release(self, catalog_id: str, epoch: int, *, served: int) -> bool:
        now = self.kept.get(catalog_id)
        if now and not now.held and now.epoch == epoch:
            return True
        mine = self._mine(catalog_id, epoch)
        if mine.requested != served:
            return False
        self._keep(replace(mine, held=False, started=False, until=None, failures=0))
        return True

    def held(self) -> Iterator[Lease]:
        return (lease for lease in list(self.kept.values()) if lease.held)

    def expired(self, at: datetime) -> Iterator[Lease]:
        return (lease for lease in self.held() if lease.until is not None and lease.until < at)

    def _mine(self, catalog_id: str, epoch: int) -> Lease:
        now = self.kept.get(catalog_id)
        if now is None or not now.held or now.epoch != epoch:
            raise RunSuperseded(catalog_id, epoch)
        return now

    def _keep(self, lease: Lease) -> Lease:
        self.kept[lease.worklist_id] = lease
        return lease


@dataclass
class MemorySlots:
    kept: dict[str, set[str]] = field(default_factory=dict)
    sharers: dict[str, int] = field(default_factory=dict)

    def take(self, knowledge_base_id: str, catalog_id: str, *, limit: int) -> bool:
        holders = self.kept.setdefault(knowledge_base_id, set())
        if catalog_id not in holders and len(holders) >= limit:
            return False
        holders.add(catalog_id)
        return True

    def holder_of(self, catalog_id: str, knowledge_base_ids: Iterable[str]) -> str | None:
        return next((k for k in knowledge_base_ids if catalog_id in self.kept.get(k, ())), None)

    def holders(self, knowledge_base_id: str) -> frozenset[str]:
        return frozenset(self.kept.get(knowledge_base_id, ()))

    def sharing(self, knowledge_base_id: str) -> int:
        return self.sharers.get(knowledge_base_id, 0)

    def count_sharing(self, knowledge_base_id: str) -> None:
        self.sharers[knowledge_base_id] = self.sharing(knowledge_base_id) + 1

    def free(self, knowledge_base_id: str, catalog_id: str) -> None:
        self.kept.get(knowledge_base_id, set()).discard(catalog_id)


@dataclass
class MemoryReceipts:
    kept: dict[tuple[str, str], Receipt] = field(default_factory=dict)
    let_go_of: set[str] = field(default_factory=set)

    def get(self, user_id: str, receipt_id: str) -> Receipt | None:
        return self.kept.get((user_id, receipt_id))

    def keep(self, receipt: Receipt) -> None:
        there = self.get(receipt.user_id, receipt.receipt_id)
        if there is None or there.is_open:
            self.kept[(receipt.user_id, receipt.receipt_id)] = receipt

    def of_user(self, user_id: str) -> Iterator[Receipt]:
        own = sorted(key for key in self.kept if key[0] == user_id)
        return (self.kept[key] for key in reversed(own))

    def proven(self, cursor: str | None) -> ListingPage[Receipt]:
        assert cursor is None, "all are on one page"
        closed = [each for each in self.kept.values() if each.not_found_at is not None]
        proven = [each for each in closed if each.receipt_id not in self.let_go_of]
        latest = sorted(proven, key=lambda each: str(each.unsearchable_since), reverse=True)
        return ListingPage(items=latest)

    def end_checks(self, receipt: Receipt) -> None:
        self.let_go_of.add(receipt.receipt_id)

    def reopen(self, receipt: Receipt, *, at: datetime) -> None:
        changes = {"found_again_at": at, "not_found_at": None, "unsearchable_since": None}
        self.kept[receipt.user_id, receipt.receipt_id] = receipt.model_copy(update=changes)


@dataclass
class MemoryWorklists:
    """Worklists in memory; `kept` has the stamp of each catalog, by worklist."""

    kept: dict[str, dict[str, str]] = field(default_factory=dict)
    _stamps: "count[int]" = field(default_factory=count)

    def add(self, worklist_id: str, catalog_id: str) -> None:
        self.kept.setdefault(worklist_id, {})[catalog_id] = str(next(self._stamps))

    def entries(
        self, worklist_id: str, *, after: str | None = None, limit: int
    ) -> Iterator[WorklistEntry]:
        listed = sorted(self.kept.get(worklist_id, {}).items())
        return iter(
            [
                WorklistEntry(catalog_id=catalog_id, stamp=stamp)
                for catalog_id, stamp in listed
                if after is None or catalog_id > after
            ][:limit]
        )

    def remove_if_unchanged(self, worklist_id: str, entry: WorklistEntry) -> bool:
        kept = self.kept.get(worklist_id, {})
        if kept.get(entry.catalog_id, entry.stamp) != entry.stamp:
            return False
        kept.pop(entry.catalog_id, None)
        return True
