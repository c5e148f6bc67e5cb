"""Searching, and the places at which passages stand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from stackroom.filters import Filter


@dataclass(frozen=True, kw_only=True)
class Passage:
    """
    A piece of a document that a knowledge base found.

    `score` grows with relevance; its scale is the store's. `attributes` are those of the sidecar,
    plus whatever the store added. `page` counts from 1 and is None where the store doesn't tell.

    Where it came from is the store's own word: `custom_id` is the id that a document of a CUSTOM
    data source was ingested under, `uri` the object of any other.
    """

    text: str
    score: float
    uri: str | None = None
    custom_id: str | None = None
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


class Questions(Protocol):
    """What is known of the questions that agents ask, whichever knowledge base they were for."""

    def any_between(self, start: datetime, end: datetime) -> bool | None:
        """
        Whether a tool answered one in that time; None if that can't be told.

        One of the last minute or two may not be known yet.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Place:
    """
    Where in a document something begins; None for what is not known, or not of its format.

    `page` counts from 1, `section` is the text of the nearest heading above.
    """

    page: int | None = None
    section: str | None = None


class Places(Protocol):
    """Where in one document a text stands."""

    def place_of(self, passage: str) -> Place:
        """Where the passage begins; a place without page and section if that is not certain."""
        ...


class PlaceMaps(Protocol):
    def get(self, document_id: str) -> Places | None:
        """The place map of a document, or None: not made (yet), or nothing with pages."""
        ...
