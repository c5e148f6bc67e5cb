"""
The ports in memory with an index for what is asked often: for ten thousand catalogs, not for two.
"""

import hashlib
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from simulated_time.memory import MemoryBucket, MemoryCatalogs, MemoryDocuments, MemoryLeases
from stackroom.errors import RecordChanged
from stackroom.model.bucket import StoredObject
from stackroom.model.keys import SIDECAR_SUFFIX
from stackroom.model.records import Catalog, Document
from stackroom.runs.ledger import Ledger, Mode, Waiter
from stackroom.runs.run_leases import Lease


@dataclass
class Catalogs(MemoryCatalogs):
    by_user: dict[str, dict[str, None]] = field(default_factory=dict)

    def of_user(self, user_id: str) -> Iterator[Catalog]:
        return (
            self.kept[each] for each in list(self.by_user.get(user_id, ())) if each in self.kept
        )

    def open(self, catalog: Catalog) -> Catalog:
        opened = super().open(catalog)
        self.by_user.setdefault(catalog.user_id, {})[catalog.catalog_id] = None
        return opened


@dataclass
class Documents(MemoryDocuments):
    """Documents that also call `watch` for every document saved or removed."""

    shelves: dict[str, dict[str, Document]] = field(default_factory=dict)
    open: dict[str, dict[str, Document]] = field(default_factory=dict)
    failed: dict[str, dict[str, Document]] = field(default_factory=dict)
    watch: Callable[[Document, bool], None] = lambda _document, _removed: None

    def save(self, document: Document) -> Document:
        saved = super().save(document)
        self.watch(saved, False)
        return saved

    def remove(self, document: Document) -> None:
        super().remove(document)
        for shelves in (self.shelves, self.open, self.failed):
            shelves.get(document.catalog_id, {}).pop(document.document_id, None)
        self.watch(document, True)

    def _keep(self, document: Document) -> Document:
        kept = super()._keep(document)
        is_failed = kept.counted is not None and kept.counted.failed
        for shelves, is_in in (
            (self.shelves, True),
            (self.open, kept.opened_at is not None),
            (self.failed, is_failed),
        ):
            shelf = shelves.setdefault(kept.catalog_id, {})
            if is_in:
                shelf[kept.document_id] = kept
            else:
                shelf.pop(kept.document_id, None)
        return kept

    def _of(self, catalog_id: str) -> list[Document]:
        return list(self.shelves.get(catalog_id, {}).values())

    def _open_of(self, catalog_id: str) -> list[Document]:
        return list(self.open.get(catalog_id, {}).values())

    def _failed_of(self, catalog_id: str) -> list[Document]:
        return list(self.failed.get(catalog_id, {}).values())


@dataclass
class Leases(MemoryLeases):
    live: dict[str, Lease] = field(default_factory=dict)

    def held(self) -> Iterator[Lease]:
        return iter(list(self.live.values()))

    def _keep(self, lease: Lease) -> Lease:
        if lease.held:
            self.live[lease.worklist_id] = lease
        else:
            self.live.pop(lease.worklist_id, None)
        return super()._keep(lease)


@dataclass
class AdmissionBook:
    """The ledger of grants and its queues."""

    ledger: Ledger = field(default_factory=Ledger)
    queues: dict[tuple[str, Mode], list[tuple[datetime, str]]] = field(default_factory=dict)
    waiters: dict[tuple[str, Mode, datetime, str], Waiter] = field(default_factory=dict)

    def read(self) -> Ledger:
        return self.ledger

    def write(self, ledger: Ledger) -> Ledger:
        if ledger.version != self.ledger.version:
            raise RecordChanged("the admission ledger")
        self.ledger = replace(ledger, version=ledger.version + 1)
        return self.ledger

    def enqueue(self, waiter: Waiter) -> None:
        place = _place(waiter)
        if place not in self.waiters:
            insort(self.queues.setdefault(place[:2], []), place[2:])
        self.waiters[place] = waiter

    def dequeue(self, waiter: Waiter) -> bool:
        place = _place(waiter)
        there = self.waiters.get(place)
        if there is None:
            return True
        if there.token != waiter.token:
            return False
        del self.waiters[place]
        queue = self.queues[place[:2]]
        del queue[bisect_left(queue, place[2:])]
        return True

    def waiting(self, knowledge_base_id: str, mode: Mode, *, limit: int) -> list[Waiter]:
        queue = self.queues.get((knowledge_base_id, mode), [])
        return [self.waiters[(knowledge_base_id, mode, *place)] for place in queue[:limit]]


def _place(waiter: Waiter) -> tuple[str, Mode, datetime, str]:
    return (waiter.knowledge_base_id, waiter.mode, waiter.since, waiter.worklist_id)


@dataclass
class Bucket(MemoryBucket):
    """
    A bucket that the simulator reads: documents by their first two folders, and for texts the size
    and ETag of their files.
    """

    folders: dict[str, dict[str, None]] = field(default_factory=dict)
    texts: dict[str, tuple[int, str]] = field(default_factory=dict)

    def put(self, key: str, *, size: int, etag: str) -> None:
        self.uploads += 1
        self.objects[key] = StoredObject(
            key=key,
            size=size,
            etag=etag,
            version_id=f"v{self.uploads}",
            content_type="",
            last_modified=self.clock(),
        )
        self.folders.setdefault(_folder(key), {})[key] = None

    def delete(self, key: str) -> None:
        super().delete(key)
        self.folders[_folder(key)].pop(key, None)

    def under(self, prefix: str) -> Iterator[tuple[str, int, str]]:
        keys = self.folders.get(prefix, ()) if prefix else tuple(self.objects)
        for key in list(keys):
            found = self.objects.get(key)
            if found is not None:
                yield key, found.size, found.etag
            sidecar = self.sidecars.get(key)
            if sidecar is not None:
                yield key + SIDECAR_SUFFIX, len(sidecar.body), _etag(sidecar.body)

    def find(self, key: str) -> tuple[int, str] | None:
        found = self.objects.get(key)
        return self.texts.get(key) if found is None else (found.size, found.etag)

    def sidecar(self, key: str) -> tuple[bytes, str] | None:
        found = self.sidecars.get(key.removesuffix(SIDECAR_SUFFIX))
        return None if found is None else (found.body, _etag(found.body))


def _folder(key: str) -> str:
    user, catalog, _ = key.split("/", 2)
    return f"{user}/{catalog}/"


def _etag(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()
