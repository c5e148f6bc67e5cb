"""A knowledge base in memory: keyword overlap for relevance, real evaluation of filters."""

import operator
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import SearchRefused, Unavailable
from stackroom.model.filters import (
    AllOf,
    AnyOf,
    Compares,
    Comparison,
    Exists,
    Filter,
    Has,
    Lists,
)
from stackroom.model.passages import Passage, Retrieved, Search
from stackroom.model.repositories import DocumentKey, DocumentNotes
from tests.fakes.disturbed import Disturbed


class FakeKnowledgeBase(Disturbed):
    """
    A `KnowledgeBase` that finds what was put into it.

    `failure` is raised instead of an answer, `delay` is slept before one; `filters` are those it
    was asked with, and `ignores_filters` makes it the emulator that we never want to trust. It says
    that it searched in the way `search`, and `notice` about it.
    """

    def __init__(
        self, *, failure: SearchRefused | Unavailable | None = None, delay: float = 0
    ) -> None:
        self.passages: list[Passage] = []
        self.filters: list[Filter | None] = []
        self.failure = failure
        self.delay = delay
        self.guardrail_action = "NONE"
        self.search = Search.SEMANTIC
        self.notice: str | None = None
        self.ignores_filters = False

    def put(
        self,
        text: str,
        *,
        user_id: str = "alice",
        catalog_id: str = "cat-1",
        filename: str = "handbook.txt",
        score: float | None = None,
        similarity: float | None = None,
        page: int | None = None,
        attributes: Mapping[str, object] | None = None,
        key: str | None = None,
        custom_id: str | None = None,
        data_source_id: str | None = None,
        tells_source: bool = True,
    ) -> Passage:
        """
        Ingest one passage; without a `score` it is scored by the words it shares.

        It comes from the object under `key`, or was ingested directly under `custom_id`. Unless it
        `tells_source`, neither is told.
        """
        key = key or f"{user_id}/{catalog_id}/{filename}"
        passage = Passage(
            text=text,
            score=-1.0 if score is None else score,
            similarity=similarity,
            uri=f"s3://docs/{key}" if custom_id is None and tells_source else None,
            custom_id=custom_id,
            data_source_id=data_source_id,
            page=page,
            attributes={
                "user_id": user_id,
                "catalog_id": catalog_id,
                "document_id": f"doc-{filename}",
                "filename": filename,
                **(attributes or {}),
            },
        )
        self.passages.append(passage)
        return passage

    def forget(self, document_id: str | None = None) -> None:
        """No search finds the document any more; any document, if none is named."""
        self.passages = [
            each
            for each in self.passages
            if document_id is not None and each.attributes["document_id"] != document_id
        ]

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        time.sleep(self.delay)
        self.filters.append(condition)
        if self.failure is not None:
            raise self.failure
        found = [
            _scored(passage, query)
            for passage in self.passages
            if self.ignores_filters or condition is None or matches(condition, passage.attributes)
        ]
        found.sort(key=lambda passage: passage.score, reverse=True)
        return Retrieved(
            passages=tuple(found[:limit]),
            guardrail_action=self.guardrail_action,
            search=self.search,
            notice=self.notice,
        )


A_TEXT = DocumentNotes(text_id="0" * 16)  # of what no job has crawled, nor a call has sent


class AllStaying(Disturbed):
    """`StayingDocuments` for what has no records here: all of them, but for the ids in `going`."""

    def __init__(self) -> None:
        self.going: set[str] = set()
        self.notes: dict[str, DocumentNotes] = {}  # by document id

    def staying(self, keys: Iterable[DocumentKey]) -> dict[DocumentKey, DocumentNotes]:
        staying = (each for each in keys if each[1] not in self.going)
        return {each: self.notes.get(each[1], A_TEXT) for each in staying}


def matches(condition: Filter | None, attributes: Mapping[str, object]) -> bool:
    whole: Filter = condition or AllOf(())
    match whole:
        case Has(key, value):
            present = attributes.get(key)
            members = present if isinstance(present, list) else [present]
            return any(_same(member, value) for member in members)
        case Lists(key, value):
            present = attributes.get(key)
            return isinstance(present, list) and value in present
        case Exists(key, is_there):
            return (key in attributes) is is_there
        case Compares(key, comparison, value):
            present = attributes.get(key)
            members = present if isinstance(present, list) else [] if present is None else [present]
            return _compares(members, comparison, value)
        case AnyOf(choices):
            return any(matches(choice, attributes) for choice in choices)
        case AllOf(conditions):
            return all(matches(member, attributes) for member in conditions)


def _compares(members: list[object], comparison: Comparison, value: object) -> bool:
    wanted = value if isinstance(value, tuple) else (value,)
    is_in = any(_same(member, each) for member in members for each in wanted)
    match comparison:
        case Comparison.IN:
            return is_in
        case Comparison.NOT_EQUALS | Comparison.NOT_IN:
            return not is_in
        case Comparison.STARTS_WITH:
            return any(isinstance(each, str) and each.startswith(str(value)) for each in members)
        case Comparison.STRING_CONTAINS:
            return any(isinstance(each, str) and str(value) in each for each in members)
    order = _ORDERS[comparison]
    numbers = [each for each in members if isinstance(each, int | float)]
    return any(order(each, value) for each in numbers if not isinstance(each, bool))


_ORDERS: Mapping[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.GREATER: operator.gt,
    Comparison.GREATER_OR_EQUAL: operator.ge,
    Comparison.LESS: operator.lt,
    Comparison.LESS_OR_EQUAL: operator.le,
}


def _same(present: object, wanted: object) -> bool:
    """Python's True is 1; a store's is not."""
    return present == wanted and isinstance(present, bool) == isinstance(wanted, bool)


def _scored(passage: Passage, query: str) -> Passage:
    if passage.score >= 0:
        return passage
    asked = set(query.casefold().split())
    shared = asked & set(passage.text.casefold().split())
    return replace(passage, score=len(shared) / len(asked))
