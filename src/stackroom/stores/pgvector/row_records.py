"""What is told of the rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class KnowledgeBaseRecord:
    """`user_id` None is of one that is shared."""

    knowledge_base_id: str
    name: str
    description: str
    user_id: str | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Stats:
    """As many as the user sees."""

    document_count: int
    chunk_count: int


@dataclass(frozen=True, kw_only=True)
class Match:
    """
    A passage that a search found. `chunk_index` counts from 0 within the document, `page` from 1;
    `similarity` is the cosine, and 0 where that is below it.
    """

    content: str
    document_name: str
    chunk_index: int
    similarity: float
    created_at: datetime
    document_id: int
    user_id: str | None = None
    source_uri: str | None = None
    page: int | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)
