"""What the tools answer (docs/tools.md), by the names that it has there."""

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
    `indexing_status` is uploading, pending, indexing, indexed, failed or deleting; `gaps` say what
    of an indexed document can't be found.
    """

    catalog_id: str
    document_id: str
    filename: str
    file_size_kb: float
    indexing_status: str
    status_reason: str | None
    uploaded_at: datetime
    etag: str = ""  # a deployment of an earlier version tells none
    gaps: tuple[str, ...] = ()

    @property
    def waits_for_cap(self) -> bool:
        """Over a cap of its user, as `status_reason` says; no other has one while pending."""
        return self.indexing_status == "pending" and self.status_reason is not None

    @property
    def is_settled(self) -> bool:
        """Whether no more comes of it by itself."""
        return self.indexing_status in ("indexed", "failed") or self.waits_for_cap


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file that lies in the bucket since `at`, by the bucket's clock."""

    catalog_id: str
    document_id: str
    filename: str
    etag: str
    at: datetime

    def is_settled_in(self, document: Document) -> bool:
        """
        Whether the document is indexed or failed as it was sent. What is indexed already is left
        as it is if it comes again; what has failed is tried anew.
        """
        if not document.is_settled or document.etag not in (self.etag, ""):
            return False
        is_same = document.etag == self.etag and document.indexing_status == "indexed"
        return is_same or document.uploaded_at >= self.at


@dataclass(frozen=True, kw_only=True)
class IndexingStatus:
    """
    `documents` are how many are indexed, indexing, pending and failed; `failures` have document_id,
    filename and reason.
    """

    catalog_id: str
    overall_status: str
    documents: Mapping[str, int]
    eta_seconds: float | None
    failures: Sequence[Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Source:
    """
    Where a passage stands; what is not known is None. `version_id` is that of the file's version,
    in S3, where a newer one lies there by now.
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
    """`other_sources` say exactly the same; `gaps` say what of its document can't be found."""

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
    """`[1]` in `text` is a mark for the first of `sources`."""

    text: str
    query: str
    catalog_id: str
    sources: tuple[Passage, ...]
    guardrail_action: str


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """Of a document's deletion; `vectors_removed` is true only where a search proved it."""

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
    What there is now (`documents`, `bytes`, of them `waiting` over a cap), and what a month has
    `used` and costs, by the price list as it was then (`prices_of`). `caps` has documents, bytes
    and dollars, None where there is no cap; those of dollars begin anew on `month_ends`. `catalogs`
    are told likewise, one by one.
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
    """A change of state, as docs/events.md has it; a webhook's has no `sequence`."""

    id: str
    source: str
    detail_type: str
    time: datetime
    detail: Mapping[str, Any]
    sequence: int | None = None


def made(kind: type[T], told: Mapping[str, Any], **others: Any) -> T:
    """What a later version tells beside is left out."""
    given = {name.replace("-", "_"): each for name, each in told.items()} | others
    names = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: _read(name, each) for name, each in given.items() if name in names})


def _read(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if name in _TIMES and isinstance(value, str) else value


def passage_of(told: Mapping[str, Any]) -> Passage:
    """Of the search, or of an answer, which has the source's fields beside the text."""
    others = tuple(made(Source, each) for each in told.get("other_sources", ()))
    if "chunk_text" in told:
        content, score, source = told["chunk_text"], told["relevance_score"], told
        gaps = told.get("gaps", ())
    else:
        content, score, source = told["content"], told["score"], told["source"]
        gaps = told.get("metadata", {}).get("gaps", ())
    return Passage(
        content=content,
        source=made(Source, source),
        score=score,
        metadata=told.get("metadata", {}),
        other_sources=others,
        gaps=tuple(gaps),
    )
