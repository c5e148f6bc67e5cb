"""The results of the tools (docs/tools.md), with the tools' field names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, TypeVar

T = TypeVar("T")
_TIMES = {"last_updated", "uploaded_at", "at", "time"}


@dataclass(frozen=True, kw_only=True)
class Catalog:
    catalog_id: str
    catalog_name: str
    document_count: int = 0
    total_size_mb: float = 0.0
    indexing_status: str = "ready"
    last_updated: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True, kw_only=True)
class Document:
    """
    A document of a catalog.

    `indexing_status` is uploading, pending, indexing, indexed, failed or deleting; `gaps` say which
    parts of an indexed document can't be found.
    """

    catalog_id: str
    document_id: str
    filename: str
    file_size_kb: float
    indexing_status: str
    status_reason: str | None
    uploaded_at: datetime
    etag: str = ""  # earlier versions of a deployment return none
    gaps: tuple[str, ...] = ()

    @property
    def waits_for_cap(self) -> bool:
        """
        True if a cap of the user holds the document back, which only then has a reason while
        pending.
        """
        return self.indexing_status == "pending" and self.status_reason is not None

    @property
    def is_settled(self) -> bool:
        """True if the document is indexed, failed, or held back by a cap."""
        return self.indexing_status in ("indexed", "failed") or self.waits_for_cap


@dataclass(frozen=True, kw_only=True)
class Upload:
    """An uploaded file; the upload lasted from `at` to `ended_at`, by the bucket's clock."""

    catalog_id: str
    document_id: str
    filename: str
    etag: str
    at: datetime
    ended_at: datetime

    def is_settled_in(self, document: Document) -> bool:
        """
        Return True if the document is indexed or failed in this version.

        An indexed document stays as it is if the same file is uploaded again; a failed one is tried
        again.
        """
        if not document.is_settled or document.etag not in (self.etag, ""):
            return False
        is_same = document.etag == self.etag and document.indexing_status == "indexed"
        return is_same or document.uploaded_at >= self.at

    def is_replaced_by(self, document: Document) -> bool:
        """Return True if the document is of a file that was uploaded in place of this one."""
        return document.etag not in (self.etag, "") and document.uploaded_at > self.ended_at


@dataclass(frozen=True, kw_only=True)
class IndexingStatus:
    """
    The progress of a catalog.

    `documents` has the number of indexed, indexing, pending and failed ones; `failures` have
    document_id, filename and reason.
    """

    catalog_id: str
    overall_status: str
    documents: Mapping[str, int]
    eta_seconds: float | None
    failures: Sequence[Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Source:
    """
    The source of a passage, with None for what is unknown.

    `version_id` is the file's version in S3, if a newer one exists by now.
    """

    document_id: str | None
    filename: str | None
    page: int | None
    page_first: int | None = None
    page_last: int | None = None
    section: str | None
    uri: str | None = None
    catalog_id: str | None = None
    version_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Passage:
    """
    A passage; `other_sources` have exactly the same text, and `gaps` are those of its document.
    """

    content: str
    source: Source
    score: float
    metadata: Mapping[str, Any] = field(default_factory=dict)
    other_sources: tuple[Source, ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SearchResults:
    results: tuple[Passage, ...]
    metadata: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer; `[1]` in `text` refers to the first of `sources`."""

    text: str
    query: str
    catalog_id: str
    sources: tuple[Passage, ...]
    guardrail_action: str


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """
    The receipt of a document's deletion; `vectors_removed` is true only if a search proved it.
    """

    receipt_id: str
    document_id: str
    filename: str
    vectors_removed: bool


@dataclass(frozen=True, kw_only=True)
class CatalogDeletion:
    catalog_id: str
    documents_deleted: int
    storage_freed_mb: float
    data_source_deleted: bool
    vectors_cleanup_initiated: bool
    receipt_ids_count: int


@dataclass(frozen=True, kw_only=True)
class Feedback:
    question: str
    verdict: str
    origin: str
    at: datetime
    catalog_id: str | None = None
    agent_id: str | None = None
    file: str | None = None
    page: int | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """
    A user's usage and caps.

    `documents` and `bytes` are the current numbers, with `waiting` documents over a cap; `used` and
    `dollars` are those of a month, by the price list of that time (`prices_of`). `caps` has
    documents, bytes and dollars, None if there is no cap; caps of dollars start again on
    `month_ends`. `catalogs` have the same fields, one by one.
    """

    month: str
    documents: int
    bytes: int
    waiting: int
    dollars: float
    prices_of: str
    caps: Mapping[str, float | None]
    month_ends: str
    used: Mapping[str, int]
    catalogs: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Event:
    """A change of state, as docs/events.md describes it; a webhook's event has no `sequence`."""

    id: str
    source: str
    detail_type: str
    time: datetime
    detail: Mapping[str, Any]
    sequence: int | None = None


def from_fields(kind: type[T], data: Mapping[str, Any], **others: Any) -> T:
    """Create a `kind`, without the fields that a later version may add."""
    values = {name.replace("-", "_"): each for name, each in data.items()} | others
    names = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: _parse(name, each) for name, each in values.items() if name in names})


def _parse(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if name in _TIMES and isinstance(value, str) else value


def parse_passage(data: Mapping[str, Any]) -> Passage:
    """Return a passage of a search, or of an answer, where the source's fields are at the top."""
    others = tuple(from_fields(Source, each) for each in data.get("other_sources", ()))
    if "chunk_text" in data:
        content, score, source = data["chunk_text"], data["relevance_score"], data
        gaps = data.get("gaps", ())
    else:
        content, score, source = data["content"], data["score"], data["source"]
        gaps = data.get("metadata", {}).get("gaps", ())
    return Passage(
        content=content,
        source=from_fields(Source, source),
        score=score,
        metadata=data.get("metadata", {}),
        other_sources=others,
        gaps=tuple(gaps),
    )
