"""
What the use cases need of the world, each as small as its users allow.

The adapters are in `stackroom.aws`; tests have fakes with state that share a contract suite.
Every write of a record is conditional on what was read: `RecordChanged` means read again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from stackroom.filters import Filter
from stackroom.model import Catalog, CatalogStatus, DataSourceType, Document, Receipt


@dataclass(frozen=True, kw_only=True)
class DataSource:
    knowledge_base_id: str
    data_source_id: str
    type: DataSourceType = DataSourceType.S3


class Catalogs(Protocol):
    def get(self, catalog_id: str) -> Catalog | None: ...

    def of_user(self, user_id: str) -> Iterator[Catalog]: ...

    def place(self, catalog_id: str, source: DataSource) -> None:
        """Store where the catalog lives; a place once stored is never changed."""
        ...

    def displace(self, catalog_id: str) -> None:
        """Forget where a catalog that is being deleted lived. Raises RecordChanged if it isn't."""
        ...

    def summarise(
        self, catalog_id: str, *, status: CatalogStatus, count: int, size: int, at: datetime
    ) -> None:
        """Its status, unless it is being deleted, and its totals."""
        ...

    def condemn(self, catalog_id: str, *, at: datetime) -> None:
        """From now on the catalog is being deleted. Raises RecordChanged if there is none."""
        ...

    def revive(self, catalog_id: str, *, at: datetime) -> None:
        """It is being deleted no more. Raises RecordChanged if it is gone already."""
        ...


class CatalogRegister(Catalogs, Protocol):
    """Where catalogs are opened too, which takes counting them."""

    def open(self, catalog: Catalog) -> Catalog:
        """Keep a new catalog, or answer the one that is there. Raises CatalogLimitReached."""
        ...

    def close(self, catalog: Catalog) -> None:
        """Forget a catalog that is being deleted. Raises RecordChanged if it isn't any more."""
        ...


class Documents(Protocol):
    def get(self, catalog_id: str, document_id: str) -> Document | None: ...

    def save(self, document: Document) -> Document:
        """Keep it if it is still at the version that was read. Raises RecordChanged."""
        ...

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        """Save each; answer those saved, leaving out what changed since it was read."""
        ...

    def remove(self, document: Document) -> None:
        """Forget it if it is still at the version that was read. Raises RecordChanged."""
        ...

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        """All of a catalog, read consistently."""
        ...


@dataclass(frozen=True, kw_only=True)
class StoredObject:
    """An object as HEAD finds it now; `attributes` are its `x-amz-meta-*` values, undecoded."""

    key: str
    size: int
    etag: str
    version_id: str | None
    content_type: str
    last_modified: datetime
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StoredSidecar:
    body: bytes
    last_modified: datetime


class DocumentBucket(Protocol):
    def head(self, key: str) -> StoredObject | None: ...

    def sidecar_of(self, key: str) -> StoredSidecar | None: ...

    def sidecars_of(self, keys: Sequence[str]) -> dict[str, StoredSidecar]:
        """By key, of those that have one; read beside each other."""
        ...

    def write_sidecar(self, key: str, body: bytes) -> None: ...

    def remove_sidecar(self, key: str) -> None: ...

    def remove(self, key: str) -> None:
        """Delete the object; a versioned bucket keeps what it was for a while."""
        ...

    def purge(self, prefix: str, *, until: datetime) -> Iterator[list[str]]:
        """
        Delete for good every version under the prefix that was written by then, page by page.

        Answers each page's keys once they are deleted; sidecars are among them.
        """
        ...

    def holds_any(self, prefix: str) -> bool:
        """Whether any object lies under the prefix now."""
        ...

    def uri_of(self, key: str) -> str:
        """The `s3://` URI by which a knowledge base knows the object."""
        ...


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A catalog's control item: how often a run was asked for, and which run is live, if any."""

    catalog_id: str
    requested: int
    epoch: int
    held: bool
    started: bool
    until: datetime | None = None
    failures: int = 0  # runs in a row that broke

    @property
    def execution_name(self) -> str:
        return f"{self.catalog_id}-{self.epoch}"


class Leases(Protocol):
    def get(self, catalog_id: str) -> Lease | None: ...

    def ask(self, catalog_id: str) -> Lease:
        """Count one more request for a run."""
        ...

    def take(
        self, seen: Lease, *, until: datetime, failures: int, epoch: int | None = None
    ) -> Lease | None:
        """
        The lease under that epoch, by default the next, unless anyone else has moved it since
        `seen`.
        """
        ...

    def mark_started(self, lease: Lease) -> None: ...

    def renew(self, catalog_id: str, epoch: int, *, until: datetime) -> Lease:
        """Keep the lease and read the counter. Raises RunSuperseded."""
        ...

    def release(self, catalog_id: str, epoch: int, *, served: int) -> bool:
        """Give the lease back if no request came after `served`. Raises RunSuperseded."""
        ...

    def held(self) -> Iterator[Lease]:
        """Every lease that is held. Reads all there are: for repairs, not for every day."""
        ...

    def expired(self, at: datetime) -> Iterator[Lease]:
        """Those held leases that expired before that moment; found without reading the others."""
        ...


class Executions(Protocol):
    def start(self, name: str, payload: Mapping[str, object]) -> bool:
        """
        Start the execution of that name; one that was already started stays the only one.

        False if that one has ended: then nothing runs under this name, now or later.
        """
        ...

    def is_running(self, name: str) -> bool: ...


class Slots(Protocol):
    """Which catalogs hold one of a knowledge base's places for data sources of their own."""

    def take(self, knowledge_base_id: str, catalog_id: str, *, limit: int) -> bool: ...

    def taken(self, knowledge_base_id: str) -> int: ...

    def holder_of(self, catalog_id: str, knowledge_base_ids: Iterable[str]) -> str | None: ...

    def exhaust(self, knowledge_base_id: str, catalog_id: str) -> None:
        """Bedrock refused one more data source here: give the place back and count it lost."""
        ...

    def free(self, knowledge_base_id: str, catalog_id: str) -> None:
        """The catalog's data source is gone. Safe to repeat."""
        ...

    def holders(self, knowledge_base_id: str) -> frozenset[str]: ...


class DataSourceLimit(Exception):
    """Bedrock has no room for another data source on the knowledge base."""


class DataSources(Protocol):
    def find(self, knowledge_base_id: str, name: str) -> str | None: ...

    def create(self, knowledge_base_id: str, name: str, *, prefix: str, token: str) -> str:
        """A new S3 data source over the prefix. Raises DataSourceLimit."""
        ...

    def is_available(self, knowledge_base_id: str, data_source_id: str) -> bool:
        """False while it is being made. Raises DataSourceBroken if it will never be."""
        ...

    def remove(self, knowledge_base_id: str, data_source_id: str) -> bool:
        """
        Delete the data source, and say whether it is gone by now. Safe to repeat.

        Its documents must be out of the index: one whose vectors can't be deleted is told to
        retain them, and deleted all the same.
        """
        ...

    def all(self, knowledge_base_id: str) -> dict[str, str]:
        """The ids of its data sources, by name."""
        ...


class JobState(StrEnum):
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True)
class Job:
    job_id: str
    state: JobState
    started_at: datetime
    updated_at: datetime
    failed_documents: int = 0
    failure_reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Busy:
    """Back-pressure, not failure: Bedrock would have taken the call at a quieter moment."""

    why: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A knowledge base's word on one document: a Bedrock DocumentStatus and when it changed."""

    status: str
    updated_at: datetime | None
    reason: str | None = None


class IngestionJobs(Protocol):
    def start(self, source: DataSource, *, token: str, description: str) -> Job | Busy: ...

    def get(self, source: DataSource, job_id: str) -> Job | None: ...

    def running(self, source: DataSource, *, description: str) -> Job | None:
        """The running job of that description, should a lost answer have hidden it from us."""
        ...

    def stop(self, source: DataSource, job_id: str) -> None: ...

    def verdicts(self, source: DataSource, uris: Iterable[str]) -> dict[str, Verdict]:
        """By URI; one that the knowledge base doesn't know reads NOT_FOUND, or is left out."""
        ...


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A document to ingest directly, with exactly the attributes of its sidecar."""

    document_id: str
    uri: str
    attributes: Mapping[str, str | list[str]]


class DirectDocuments(Protocol):
    """
    Documents of a CUSTOM data source, ingested and deleted directly, ten a call at most.

    A call answers what the knowledge base says of each document at that moment, by document id, and
    works on: until the documents are settled it counts among the account's concurrent calls.
    """

    def ingest(
        self, source: DataSource, documents: Sequence[Submission], *, token: str
    ) -> dict[str, Verdict] | Busy: ...

    def delete(
        self, source: DataSource, document_ids: Sequence[str], *, token: str
    ) -> dict[str, Verdict] | Busy: ...

    def verdicts(self, source: DataSource, document_ids: Iterable[str]) -> dict[str, Verdict]:
        """One that it doesn't know reads NOT_FOUND. Raises KnowledgeBaseThrottled."""
        ...


class Mode(StrEnum):
    """How a knowledge base is used: by an ingestion job alone, or by direct calls together."""

    EXCLUSIVE = "exclusive"
    SHARED = "shared"


@dataclass(frozen=True, kw_only=True)
class Waiter:
    """A run that waits for its turn at a knowledge base; `token` wakes it."""

    catalog_id: str
    epoch: int
    knowledge_base_id: str
    mode: Mode
    since: datetime
    calls: int  # direct calls that its work takes; 1 for a job
    token: str


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A run's turn. `slots` direct calls at a time, or one job; void after `until`."""

    catalog_id: str
    epoch: int
    knowledge_base_id: str
    mode: Mode
    slots: int
    granted_at: datetime
    until: datetime
    start_at: datetime | None = None  # EXCLUSIVE: the job may start then, and not before
    claimed: bool = False  # the run has woken and taken it


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Every turn that is taken at the moment, of the whole account."""

    version: int = 0
    grants: tuple[Grant, ...] = ()
    next_start: datetime | None = None  # of an ingestion job, by the rate of StartIngestionJob
    # By knowledge base: since when jobs have it, one after another.
    phases: Mapping[str, datetime] = field(default_factory=dict)


class AdmissionBook(Protocol):
    def read(self) -> Ledger: ...

    def write(self, ledger: Ledger) -> Ledger:
        """Keep it if nobody has written since it was read. Raises RecordChanged."""
        ...

    def enqueue(self, waiter: Waiter) -> None:
        """Keep its place by `since`; the same place again overwrites the token."""
        ...

    def dequeue(self, waiter: Waiter) -> bool:
        """Give up the place, unless another token stands there by now."""
        ...

    def waiting(self, knowledge_base_id: str, mode: Mode, *, limit: int) -> list[Waiter]:
        """The oldest first, read consistently."""
        ...


class Turns(Protocol):
    def wake(self, token: str) -> bool:
        """Let the run that waits with this token go on; False if nobody waits with it any more."""
        ...


class Receipts(Protocol):
    def get(self, user_id: str, receipt_id: str) -> Receipt | None: ...

    def keep(self, receipt: Receipt) -> None:
        """As it is now; but one that is closed stays as it was closed, whoever comes later."""
        ...

    def of_user(self, user_id: str) -> Iterator[Receipt]:
        """The newest first."""
        ...


class Findings(Protocol):
    """What our own inspection found wrong with a file, for Bedrock promises no reasons."""

    def reasons_for(self, documents: Iterable[Document]) -> dict[str, str]:
        """By document id, for those of which this very version is found wanting."""
        ...


@dataclass(frozen=True, kw_only=True)
class Passage:
    """
    A piece of a document that a knowledge base found.

    `score` grows with relevance; its scale is the store's. `attributes` are those of the sidecar,
    plus whatever the store added. `page` counts from 1 and is None where the store doesn't tell.
    """

    text: str
    score: float
    uri: str | None = None
    page: int | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Retrieved:
    passages: tuple[Passage, ...]
    guardrail_action: str = "NONE"


class KnowledgeBase(Protocol):
    """One searchable store. It must be safe to call from several threads at once."""

    # A002: `filter` is what stores call it, and nothing here needs the built-in of that name.
    def retrieve(self, query: str, filter: Filter, limit: int) -> Retrieved:  # noqa: A002
        """
        The passages nearest to the query among those the filter lets through, best first.

        Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable; never answers less than it
        knows without saying so, and never more than the filter allows.
        """
        ...


class Pages(Protocol):
    """Where in one document a text stands."""

    def page_of(self, passage: str) -> int | None: ...


class PageMaps(Protocol):
    def get(self, document_id: str) -> Pages | None:
        """The page map of a document, or None: not made (yet), or nothing with pages."""
        ...


T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, kw_only=True)
class Page(Generic[T_co]):
    """A part of a listing, and where it goes on; None at its end."""

    items: Sequence[T_co]
    next: str | None = None


@dataclass(frozen=True, kw_only=True)
class ListedObject:
    """What a listing of the bucket tells; the rest takes a HEAD."""

    key: str
    size: int
    etag: str
    last_modified: datetime


@dataclass(frozen=True, kw_only=True)
class KnownSource:
    """
    A data source as its knowledge base has it. `status` is Bedrock's DataSourceStatus, `prefix`
    what an S3 data source crawls, `reasons` why its deletion failed.
    """

    source: DataSource
    name: str
    status: str
    prefix: str = ""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ListedDocument:
    """A document as its data source lists it: by URI in an S3 one, by our id in a CUSTOM one."""

    identifier: str
    verdict: Verdict


class Inventory(Protocol):
    """
    All there is, page by page, for repairs.

    Objects come in the order of their keys, sidecars among them; a user's records of one catalog
    come together. Records may be some seconds old: whoever acts on them reads them again.
    """

    def objects(self, *, after: str = "", prefix: str = "") -> Page[ListedObject]: ...

    def records(self, cursor: str | None) -> Page[Catalog | Document]: ...

    def sources(self, knowledge_base_id: str) -> list[KnownSource]: ...

    def indexed(self, source: DataSource, cursor: str | None) -> Page[ListedDocument] | None:
        """
        None if Bedrock lists nothing there: an S3 data source must have been synced once.

        Raises KnowledgeBaseThrottled: all such calls of an account share five a second.
        """
        ...


class Bookmark(Protocol):
    """Where a reconciliation goes on."""

    def read(self) -> str | None: ...

    def keep(self, place: str | None) -> None: ...
