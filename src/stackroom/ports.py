"""
What the use cases need of the world, each as small as its users allow.

The adapters are in `stackroom.aws`; tests have fakes with state that share a contract suite.
Every write of a record is conditional on what was read: `RecordChanged` means read again.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from stackroom.filters import Filter
from stackroom.model import Catalog, CatalogStatus, Document


class Catalogs(Protocol):
    def get(self, catalog_id: str) -> Catalog | None: ...

    def of_user(self, user_id: str) -> Iterator[Catalog]: ...

    def place(self, catalog_id: str, *, knowledge_base_id: str, data_source_id: str) -> None:
        """Store where the catalog lives; a place once stored is never changed."""
        ...

    def summarise(
        self, catalog_id: str, *, status: CatalogStatus, count: int, size: int, at: datetime
    ) -> None: ...


class CatalogRegister(Catalogs, Protocol):
    """Where catalogs are opened too, which takes counting them."""

    def open(self, catalog: Catalog) -> Catalog:
        """Keep a new catalog, or answer the one that is there. Raises CatalogLimitReached."""
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

    def write_sidecar(self, key: str, body: bytes) -> None: ...

    def remove_sidecar(self, key: str) -> None: ...

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

    def take(self, seen: Lease, *, until: datetime, failures: int) -> Lease | None:
        """The lease under the next epoch, unless anyone else has moved it since `seen`."""
        ...

    def mark_started(self, lease: Lease) -> None: ...

    def renew(self, catalog_id: str, epoch: int, *, until: datetime) -> Lease:
        """Keep the lease and read the counter. Raises RunSuperseded."""
        ...

    def release(self, catalog_id: str, epoch: int, *, served: int) -> bool:
        """Give the lease back if no request came after `served`. Raises RunSuperseded."""
        ...

    def held(self) -> Iterator[Lease]: ...


class Executions(Protocol):
    def start(self, name: str, payload: Mapping[str, object]) -> None:
        """Start the execution of that name; one that was already started stays the only one."""
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
class DataSource:
    knowledge_base_id: str
    data_source_id: str


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
