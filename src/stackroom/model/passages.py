"""Searching, and the places at which passages stand."""

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
    The places, from 1, that made a passage's own among all the `found` ones: by how near its
    meaning is to the question's, and by the question's words; None if it has none of them.
    """

    by_meaning: int
    by_words: int | None
    found: int


@dataclass(frozen=True, kw_only=True)
class Passage:
    """
    A piece of a document that a knowledge base found.

    `score` grows with relevance; its scale is the store's. `attributes` are those of the sidecar,
    plus whatever the store added. `page` counts from 1 and is None where the store doesn't tell.
    `similarity` is the cosine of its meaning and the question's; None where the store didn't
    compare them, or doesn't tell. `relevance` is what a reranking model makes of it, from 0 to 1;
    None if none was asked.

    Where it came from is the store's own word: `custom_id` is the id that a document of a CUSTOM
    data source was ingested under, `uri` the object of any other, `data_source_id` the data source
    of either. None is what the store doesn't tell: a passage of a CUSTOM one may have no more than
    the last. `knowledge_base_id` is for whoever asks several: a store need not say it.
    `raw_text` is the text as the store has it, with the context lines that `text` goes without;
    empty where there are none. `title_words`, of its document's title, `gaps`, what of its document
    can't be found, `text_id` and `version_id`, of the text and the version of the file that it is
    of, whether that `is_earlier` than another that lies there, and `ranks`, which made its place,
    are ours.
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
        """Return the id of the text that a direct call sent; None of what a job has crawled."""
        sent = self.attributes.get(TEXT_ID)
        return sent if isinstance(sent, str) else None


class Search(StrEnum):
    """How passages were found, in the words of Bedrock and S3 Vectors."""

    SEMANTIC = "semantic"  # by meaning alone
    TEXT = "text"  # by words alone
    HYBRID = "hybrid"  # by both, each over all there is
    RANKED = "semantic+text"  # by meaning, and what that found then ranked by words, too


@dataclass(frozen=True, kw_only=True)
class Retrieved:
    """
    `is_reranked` if a model put the best in order; `notice` is for the operator: why it was
    searched in another way than is configured.
    """

    passages: tuple[Passage, ...]
    guardrail_action: str = "NONE"
    search: Search = Search.SEMANTIC
    is_reranked: bool = False
    notice: str | None = None


class KnowledgeBase(Protocol):
    """One searchable store. It must be safe to call from several threads at once."""

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        """
        The passages nearest to the query among those the filter lets through, best first; of all,
        if there is none. `limit` counts what the filter has let through, and is at most 100.

        Once the deadline has passed no further call is begun.

        Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable, or SearchRefused for a filter
        that the store can't express, or what else no repetition mends; never answers less than it
        knows without saying so, and never more than the filter allows.
        """


class Reranker(Protocol):
    """A model that reads question and passage together. Safe to call from several threads."""

    def rank(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        """
        How relevant each of the texts is, from 0 to 1.

        Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable.
        """


@dataclass(frozen=True, kw_only=True)
class Place:
    """
    Where in a document a passage stands; None for what is not known, or not of its format.

    Pages count from 1: `page` has most of the passage, which reaches from `page_first` to
    `page_last`. `section` is the text of the nearest heading above its beginning. `span` is where
    it begins and ends in the document's text, in letters and digits: neighbours touch there. A
    table of contents and an index only say where something stands: `is_navigation`.
    """

    page: int | None = None
    page_first: int | None = None
    page_last: int | None = None
    section: str | None = None
    span: tuple[int, int] | None = None
    is_navigation: bool = False


class Places(Protocol):
    """Where in one document a text stands."""

    def place_of(self, passage: str) -> Place:
        """Where the passage stands; a place without page and section if that is not certain."""


class PlaceMapReader(Protocol):
    def get(self, name: TextName) -> Places | None:
        """Return the places of a document's text; None if there is no such text any more."""


@dataclass(frozen=True)
class OnlyPlaces:
    """A `PlaceMapReader` of passages that are all of one document; of None, of no place map."""

    places: Places | None

    # ARG002: the port's argument
    def get(self, name: TextName) -> Places | None:  # noqa: ARG002
        return self.places
