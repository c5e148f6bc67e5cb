"""
A job's work: make the index equal to what lies under the data source's prefixes.

Unchanged documents are left alone, changed ones indexed anew, those whose sidecar alone changed
described anew, failed ones tried again, vanished ones removed. Reading and parsing the next
documents (in another process) overlaps with embedding the present one.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from stackroom_local.simulator.errors import Unindexable
from stackroom_local.simulator.indexing import Draft, Home, Indexing
from stackroom_local.simulator.objects import S3Object
from stackroom_local.simulator.records import KEPT
from stackroom_local.simulator.rules import FILE_FORMAT
from stackroom_local.simulator.sidecars import SUFFIX, SidecarTooLarge
from stackroom_local.simulator.store import Row
from stackroom_local.simulator.tally import Tally

_AHEAD = 4  # documents read before the embedder needs them


class Stopped(Exception):
    """StopIngestionJob was called."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """The bucket of an S3 data source and the prefix under which its documents lie."""

    bucket: str
    prefix: str = ""

    @staticmethod
    def configured(configuration: dict[str, Any]) -> "Source":
        """From a dataSourceConfiguration; the model allows one inclusion prefix."""
        s3 = configuration["s3Configuration"]
        prefixes = s3.get("inclusionPrefixes") or [""]
        return Source(bucket=s3["bucketArn"].rpartition(":")[2], prefix=prefixes[0])


@dataclass(frozen=True, kw_only=True)
class _Task:
    """A document to index or to describe anew; `before` is its record as the job found it."""

    found: S3Object
    sidecar: S3Object | None
    before: Row | None

    @property
    def uri(self) -> str:
        return self.found.uri

    @property
    def is_settled(self) -> bool:
        """Nothing changed since it was last indexed."""
        return self._is_kept and self._has_same_content and self.has_same_sidecar

    @property
    def is_new(self) -> bool:
        return self.before is None or self.before["etag"] is None

    @property
    def has_same_sidecar(self) -> bool:
        etag = self.sidecar.etag if self.sidecar else None
        return self.before is not None and self.before["sidecar_etag"] == etag

    @property
    def only_sidecar_changed(self) -> bool:
        """Then nothing need be embedded; CSV is always read again, says the guide."""
        return self._is_kept and self._has_same_content and self.found.format != "csv"

    @property
    def _is_kept(self) -> bool:
        return self.before is not None and self.before["status"] in KEPT

    @property
    def _has_same_content(self) -> bool:
        return self.before is not None and self.before["etag"] == self.found.etag


@dataclass
class Synchronisation:
    """One run. `report` is called whenever the tally has changed."""

    indexing: Indexing
    home: Home
    source: Source
    stop: threading.Event
    report: Callable[[Tally], None]
    tally: Tally = field(default_factory=Tally)

    def run(self) -> None:
        """Raises Stopped; documents not yet taken up are then as they were before."""
        tasks, vanished = self._planned()
        self.report(self.tally)
        waiting = deque(tasks)
        self._mark([task.uri for task in tasks], "PENDING")
        try:
            self._remove(vanished)
            for task, draft in self._read_ahead(tasks):
                if self.stop.is_set():
                    raise Stopped
                waiting.popleft()
                self._settle(task, draft)
                self.report(self.tally)
        finally:
            for task in waiting:
                self._put_back(task)

    def _planned(self) -> tuple[list[_Task], list[str]]:
        known = self.indexing.records.known(self.home.data_source_id)
        objects = list(self.indexing.objects.under(self.source.bucket, self.source.prefix))
        sidecars = {found.uri: found for found in objects if found.is_sidecar}
        tasks = [
            _Task(
                found=found,
                sidecar=sidecars.get(found.uri + SUFFIX),
                before=known.pop(found.uri, None),
            )
            for found in objects
            if not found.is_sidecar and not found.key.endswith("/")
        ]
        self._count(tasks)
        return [task for task in tasks if not task.is_settled], list(known)

    def _count(self, tasks: list[_Task]) -> None:
        self.tally.count("numberOfDocumentsScanned", len(tasks))
        with_sidecar = sum(task.sidecar is not None for task in tasks)
        self.tally.count("numberOfMetadataDocumentsScanned", with_sidecar)
        settled = sum(task.is_settled for task in tasks)
        self.tally.count("numberOfDocumentsSkipped", settled)

    def _remove(self, vanished: list[str]) -> None:
        self._mark(vanished, "DELETING")
        for uri in vanished:
            self._mark([uri], "DELETE_IN_PROGRESS")
            self.indexing.remove(self.home, uri)
            self.tally.count("numberOfDocumentsDeleted")

    def _read_ahead(self, tasks: list[_Task]) -> Iterator[tuple[_Task, "Future[Draft]"]]:
        with ThreadPoolExecutor(max_workers=2, thread_name_prefix="reader") as readers:
            begun: deque[tuple[_Task, Future[Draft]]] = deque()
            try:
                for task in tasks:
                    begun.append(
                        (task, readers.submit(self.indexing.read, task.found, task.sidecar))
                    )
                    if len(begun) > _AHEAD:
                        yield begun.popleft()
                while begun:
                    yield begun.popleft()
            finally:
                for _, future in begun:
                    future.cancel()

    def _settle(self, task: _Task, draft: "Future[Draft]") -> None:
        self._mark([task.uri], "IN_PROGRESS")
        try:
            if task.only_sidecar_changed:
                self._redescribe(task)
            else:
                self._index(task, draft.result())
        except SidecarTooLarge as error:
            self._put_back(task)
            self.tally.blame(task.uri, error)
        except Unindexable as error:
            self._fail(task, error)

    def _index(self, task: _Task, draft: Draft) -> None:
        outcome = self.indexing.index(self.home, draft)
        if outcome.reason is not None:
            self.tally.blame(task.uri, Unindexable(outcome.reason, at_store=True))
        elif task.is_new:
            self.tally.count("numberOfNewDocumentsIndexed")
        else:
            self.tally.count("numberOfModifiedDocumentsIndexed")
        if not task.is_new and not task.has_same_sidecar:
            self.tally.count("numberOfMetadataDocumentsModified")

    def _redescribe(self, task: _Task) -> None:
        attributes, etag = self.indexing.attributes(task.sidecar)
        outcome = self.indexing.redescribe(
            self.home, task.uri, attributes, etag=task.found.etag, sidecar=etag
        )
        self.tally.count("numberOfMetadataDocumentsModified")
        if outcome.reason is not None:
            self.tally.blame(task.uri, Unindexable(outcome.reason, at_store=True))

    def _fail(self, task: _Task, error: Unindexable) -> None:
        self.tally.blame(task.uri, error)
        if task.only_sidecar_changed:
            self._mark([task.uri], "METADATA_UPDATE_FAILED")
        elif error.cause == FILE_FORMAT.message:
            reason = error.cause.format(count=1)
            self.indexing.fail(self.home, task.uri, "IGNORED", reason)
        else:
            self.indexing.fail(self.home, task.uri, "FAILED")

    def _mark(self, uris: list[str], status: str) -> None:
        self.indexing.records.mark(self.home.data_source_id, uris, status)

    def _put_back(self, task: _Task) -> None:
        """The record as it was, its `updatedAt` too."""
        if task.before is None:
            self.indexing.records.forget(self.home.data_source_id, task.uri)
        else:
            self.indexing.store.insert("documents", dict(task.before))
