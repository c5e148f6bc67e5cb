"""
The work of an ingestion job: make the index match the objects under the data source's prefixes,
whatever was ingested or deleted directly meanwhile (rule job.equal-to-bucket).

A job skips unchanged documents, indexes changed and failed ones, updates the attributes of those
with only a changed sidecar, and removes vanished ones. Reading and parsing the next documents (in
another process) overlaps with embedding the current ones (rule job.at-a-time).
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import BackgroundTask, Clock, Signal
from bedrock_kb_simulator.bucket_objects import SUFFIX, S3Object, SidecarTooLarge
from bedrock_kb_simulator.connectors import Source
from bedrock_kb_simulator.document_records import INDEXED
from bedrock_kb_simulator.indexing import Destination, Draft, Indexing
from bedrock_kb_simulator.service_errors import Stopped, Unindexable
from bedrock_kb_simulator.store import Row

# The statistics and failure reasons of a job, in AWS's words.

_COUNTS = (
    "numberOfDocumentsScanned",
    "numberOfMetadataDocumentsScanned",
    "numberOfNewDocumentsIndexed",
    "numberOfModifiedDocumentsIndexed",
    "numberOfMetadataDocumentsModified",
    "numberOfDocumentsDeleted",
    "numberOfDocumentsFailed",
    "numberOfDocumentsSkipped",
)


def empty_statistics() -> dict[str, int]:
    return dict.fromkeys(_COUNTS, 0)


@dataclass
class Tally:
    counts: Counter[str] = field(default_factory=Counter)
    _at_source: dict[str, list[str]] = field(default_factory=dict)
    _at_store: list[str] = field(default_factory=list)

    def count(self, what: str, number: int = 1) -> None:
        assert what in _COUNTS, f"no statistic is called {what}"
        self.counts[what] += number

    def count_failure(self, uri: str, error: Unindexable) -> None:
        """Count a failed document and keep the reason."""
        self.count("numberOfDocumentsFailed")
        if error.at_store:
            self._at_store.append(
                f"Encountered error: {error.cause} Issue occurred while processing file: {uri}. "
                "Call to Amazon S3 Vectors did not succeed."
            )
        else:
            self._at_source.setdefault(error.cause, []).append(uri)

    def statistics(self) -> dict[str, int]:
        return empty_statistics() | dict(self.counts)

    def failure_reasons(self) -> list[str]:
        """Return the reasons; files with the same cause share one, as observed on AWS."""
        shared = [
            f"Encountered error: {cause.format(count=len(uris))} [Files: {', '.join(uris)}]. "
            "Call to Customer Source did not succeed."
            for cause, uris in self._at_source.items()
        ]
        return (shared + self._at_store)[: rules.FAILURE_REASONS.limit]


# Changes of a document since it was last indexed: rule job.incremental.


@dataclass(frozen=True, kw_only=True)
class Change:
    """A document as it is in the bucket and, in `before`, as it was recorded."""

    found: S3Object
    sidecar: S3Object | None
    before: Row | None

    @property
    def uri(self) -> str:
        return self.found.uri

    @property
    def is_settled(self) -> bool:
        """True if nothing changed since it was last indexed."""
        return self._is_indexed and self._has_same_content and self.has_same_sidecar

    @property
    def is_new(self) -> bool:
        return self.before is None or self.before["etag"] is None

    @property
    def has_same_sidecar(self) -> bool:
        etag = self.sidecar.etag if self.sidecar else None
        return self.before is not None and self.before["sidecar_etag"] == etag

    @property
    def only_sidecar_changed(self) -> bool:
        """True if nothing needs embedding; by the guide, CSV files are always read again."""
        return self._is_indexed and self._has_same_content and self.found.format != "csv"

    @property
    def _is_indexed(self) -> bool:
        return self.before is not None and self.before["status"] in INDEXED

    @property
    def _has_same_content(self) -> bool:
        return self.before is not None and self.before["etag"] == self.found.etag


_AHEAD = 4  # documents read before the embedder needs them

Ahead = Iterator[tuple[Change, BackgroundTask[Draft | None]]]


@dataclass
class Synchronisation:
    """One run of a job. `report` is called whenever the tally changes."""

    indexing: Indexing
    destination: Destination
    source: Source
    clock: Clock
    at_a_time: int
    stop: Signal
    report: Callable[[Tally], None]
    tally: Tally = field(default_factory=Tally)
    _unsettled: dict[str, Change] = field(default_factory=dict)

    def run(self) -> None:
        """Run the job. Raises Stopped or what S3 raised; unsettled documents are then restored."""
        changes, vanished = self._plan()
        self.report(self.tally)
        self._unsettled = {change.uri: change for change in changes}
        self._mark([change.uri for change in changes], "PENDING")
        try:
            self._remove(vanished)
            self.report(self.tally)
            self._settle_all(self._read_ahead(changes))
        finally:
            for change in self._unsettled.values():
                self._restore(change)

    def _plan(self) -> tuple[list[Change], list[str]]:
        known = self.indexing.records.known(self.destination.data_source_id)
        before = len(known)
        objects = list(self.source.objects(self.indexing.drafts.objects))
        sidecars = {found.uri: found for found in objects if found.is_sidecar}
        changes = [
            Change(
                found=found,
                sidecar=sidecars.get(found.uri + SUFFIX),
                before=known.pop(found.uri, None),
            )
            for found in objects
            if not found.is_sidecar and not found.key.endswith("/")
        ]
        self._count(changes)
        unsettled = [change for change in changes if not change.is_settled]
        return unsettled, self.source.deletable(list(known), total=before)

    def _count(self, changes: list[Change]) -> None:
        self.tally.count("numberOfDocumentsScanned", len(changes))
        with_sidecar = sum(change.sidecar is not None for change in changes)
        self.tally.count("numberOfMetadataDocumentsScanned", with_sidecar)
        settled = sum(change.is_settled for change in changes)
        self.tally.count("numberOfDocumentsSkipped", settled)

    def _remove(self, vanished: list[str]) -> None:
        self._mark(vanished, "DELETING")
        for uri in vanished:
            self._mark([uri], "DELETE_IN_PROGRESS")
            self.indexing.remove(self.destination, uri)
            self.tally.count("numberOfDocumentsDeleted")

    def _settle_all(self, ahead: Ahead) -> None:
        lanes = [
            BackgroundTask(self.clock, partial(self._settle_each, ahead))
            for _ in range(self.at_a_time)
        ]
        for lane in lanes:
            lane.wait()
        for lane in lanes:
            lane.result()

    def _settle_each(self, ahead: Ahead) -> None:
        """Settle documents that no other lane has taken."""
        for change, reading in ahead:
            if self.stop.is_set():
                raise Stopped
            self._settle(change, reading)
            del self._unsettled[change.uri]
            self.report(self.tally)

    def _read_ahead(self, changes: list[Change]) -> Ahead:
        begun: deque[tuple[Change, BackgroundTask[Draft | None]]] = deque()
        for change in changes:
            begun.append((change, BackgroundTask(self.clock, partial(self._read, change))))
            if len(begun) > _AHEAD:
                yield begun.popleft()
        yield from begun

    def _read(self, change: Change) -> Draft | None:
        """Return the parsed document, or None if only its sidecar changed."""
        if change.only_sidecar_changed:
            return None
        return self.indexing.drafts.read(self.destination.ingestion, change.found, change.sidecar)

    def _settle(self, change: Change, reading: BackgroundTask[Draft | None]) -> None:
        self._mark([change.uri], "IN_PROGRESS")
        try:
            draft = reading.result()
            if draft is None:
                self._update_attributes(change)
            else:
                self._index(change, draft)
        except SidecarTooLarge as error:
            self._restore(change)
            self.tally.count_failure(change.uri, error)
        except Unindexable as error:
            self._fail(change, error)

    def _index(self, change: Change, draft: Draft) -> None:
        outcome = self.indexing.index(self.destination, draft, stop=self.stop)
        if outcome.reason is not None:
            self.tally.count_failure(change.uri, Unindexable(outcome.reason, at_store=True))
        elif change.is_new:
            self.tally.count("numberOfNewDocumentsIndexed")
        else:
            self.tally.count("numberOfModifiedDocumentsIndexed")
        if not change.is_new and not change.has_same_sidecar:
            self.tally.count("numberOfMetadataDocumentsModified")

    def _update_attributes(self, change: Change) -> None:
        ingestion = self.destination.ingestion
        attributes, etag = self.indexing.drafts.attributes(ingestion, change.sidecar)
        outcome = self.indexing.redescribe(
            self.destination, change.uri, attributes, etag=change.found.etag, sidecar=etag
        )
        self.tally.count("numberOfMetadataDocumentsModified")
        if outcome.reason is not None:
            self.tally.count_failure(change.uri, Unindexable(outcome.reason, at_store=True))

    def _fail(self, change: Change, error: Unindexable) -> None:
        self.tally.count_failure(change.uri, error)
        if change.only_sidecar_changed:
            self._mark([change.uri], "METADATA_UPDATE_FAILED")
        else:
            self.indexing.fail(self.destination, change.uri, error)

    def _mark(self, uris: list[str], status: str) -> None:
        self.indexing.records.mark(self.destination.data_source_id, uris, status)

    def _restore(self, change: Change) -> None:
        """Restore the record as it was, including `updatedAt`."""
        if change.before is None:
            self.indexing.records.forget(self.destination.data_source_id, change.uri)
        else:
            self.indexing.store.insert("documents", dict(change.before))
