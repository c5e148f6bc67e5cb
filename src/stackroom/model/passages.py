"""The ports of a search, and the places of passages in their documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.model.attributes import TEXT_ID
from stackroom.model.filters import Filter
from stackroom.model.keys import TextName


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """
    A passage's ranks, from 1, among all `found` ones: by similarity of meaning, and by the
    question's words; None if it has none of them.
    """

    by_meaning: int
    by_words: int | None
    found: int


@dataclass(frozen=True, kw_only=True)
class Passage:
    """
    A piece of a document that a knowledge base found.

    `score` grows with relevance; its scale is the store's. `attributes` are those of the sidecar
    and those that the store added. `page` counts from 1; None if the store doesn't report it.
    `similarity` is the cosine of passage and question; None if the store didn't compute or report
    it. `relevance` is a reranking model's score from 0 to 1; None without one.

    The source is as the store reports it: `custom_id` is the id under which a document of a CUSTOM
    data source was ingested, `uri` the object of any other, `data_source_id` the data source of
    either. None is what the store doesn't report: a passage of a CUSTOM data source may have only
    the last. `knowledge_base_id` is set by a search of several. `raw_text` is the text as stored,
    with the context lines that `text` lacks; empty if there are none. We add `title_words` of the
    document's title, its `gaps`, `text_id` and `version_id` of the passage's text and file,
    `is_earlier` if a newer version exists, and `ranks`.
    """

    text: str
    score: float
    uri: str | None = None
    custom_id: str | None = None
    data_source_id: str | None = None
    page: int | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)
    similarity: float | None = None
    relevance: float | None = None
    knowledge_base_id: str | None = None
    raw_text: str = field(default="", compare=False)
    title_words: str = field(default="", compare=False)
    gaps: tuple[str, ...] = field(default=(), compare=False)
    text_id: str | None = field(default=None, compare=False)
    version_id: str | None = field(default=None, compare=False)
    is_earlier: bool = field(default=False, compare=False)
    ranks: Ranks | None = field(default=None, compare=False)

    @property
    def sent_text_id(self) -> str | None:
        """The id of the text that a direct call sent; None for what a job has crawled."""
        sent = self.attributes.get(TEXT_ID)
        return sent if isinstance(sent, str) else None


class Search(StrEnum):
    """The ways of finding passages, named as Bedrock and S3 Vectors do."""

    SEMANTIC = "semantic"  # by meaning alone
    TEXT = "text"  # by words alone
    HYBRID = "hybrid"  # by both, each over all there is
    RANKED = "semantic+text"  # by meaning, and what that found then ranked by words, too


@dataclass(frozen=True, kw_only=True)
class Retrieved:
    """
    The reply of a knowledge base. `is_reranked` if a model ordered the best; `notice` tells the
    operator why it was searched in another way than configured.
    """

    passages: tuple[Passage, ...]
    guardrail_action: str = "NONE"
    search: Search = Search.SEMANTIC
    is_reranked: bool = False
    notice: str | None = None


class KnowledgeBase(Protocol):
    """A searchable store. Several threads may call it at once."""

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        """
        Return the passages nearest to the query that the filter lets through, best first; without a
        filter, of all. `limit` counts passages after filtering, and is at most 100.

        No further call begins after the deadline.

        Raises KnowledgeBaseThrottled, KnowledgeBaseUnavailable, or SearchRefused for a filter that
        the store can't express or another permanent error. Never returns less than it knows without
        saying so, and never more than the filter allows.
        """


class Reranker(Protocol):
    """A model that reads question and passage together. Several threads may call it at once."""

    def rank(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        """
        Return how relevant each text is, from 0 to 1.

        Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable.
        """


@dataclass(frozen=True, kw_only=True)
class Place:
    """
    The place of a passage in a document; None for what is unknown or doesn't exist in its format.

    Pages count from 1: `page` has most of the passage, which extends from `page_first` to
    `page_last`. `section` is the nearest heading above its beginning. `span` are its beginning and
    end in the document's text, counted in letters and digits, so that neighbours touch.
    `is_navigation` marks a table of contents or an index.
    """

    page: int | None = None
    page_first: int | None = None
    page_last: int | None = None
    section: str | None = None
    span: tuple[int, int] | None = None
    is_navigation: bool = False


class Places(Protocol):
    """The places of passages in one document."""

    def place_of(self, passage: str) -> Place:
        """Return the place of the passage; without page and section unless it is certain."""


class PlaceMapReader(Protocol):
    def get(self, name: TextName) -> Places | None:
        """Return the places of a document's text; None if the text no longer exists."""


@dataclass(frozen=True)
class OnlyPlaces:
    """A `PlaceMapReader` with one place map, or none, for passages of one document."""

    places: Places | None

    # ARG002: the port's argument
    def get(self, name: TextName) -> Places | None:  # noqa: ARG002
        return self.places
