"""
OpenSearch's query language: which documents a query matches, and how each scores.

Every query answers a score by the id of each document that it matches.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import ge, gt, le, lt
from typing import Any

from bedrock_kb_simulator.opensearch import knn, words
from bedrock_kb_simulator.opensearch.documents import Document
from bedrock_kb_simulator.opensearch.mappings import NUMBERS, Mappings, field_at
from bedrock_kb_simulator.opensearch.refusals import refused
from bedrock_kb_simulator.rules import (
    OPENSEARCH_FIELD,
    OPENSEARCH_KEY,
    OPENSEARCH_MALFORMED,
    OPENSEARCH_QUERY,
)

Scores = dict[str, float]

_RANGES: Mapping[str, Callable[[Any, Any], bool]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}


@dataclass(frozen=True, kw_only=True)
class Dsl:
    mappings: Mappings
    documents: Sequence[Document]

    def scores(self, query: Any) -> Scores:
        """Rules opensearch.unknown-query, opensearch.unknown-key and opensearch.malformed."""
        if not isinstance(query, dict) or len(query) != 1:
            raise refused(OPENSEARCH_MALFORMED, query="query")
        [(name, body)] = query.items()
        queries: Mapping[str, Callable[[Any], Scores]] = {
            "bool": self._bool,
            "ids": self._ids,
            "knn": self._knn,
            "match": self._match,
            "match_all": partial(self._constant, to=True),
            "match_none": partial(self._constant, to=False),
            "prefix": self._prefix,
            "range": self._range,
            "term": self._term,
            "terms": self._terms,
            "wildcard": self._wildcard,
        }
        if name not in queries:
            raise refused(OPENSEARCH_QUERY, name=name)
        if not isinstance(body, dict):
            raise refused(OPENSEARCH_MALFORMED, query=name)
        return queries[name](body)

    def _constant(self, body: Mapping[str, Any], *, to: bool) -> Scores:
        _only(body, (), "match_all")
        return {each.id: 1.0 for each in self.documents} if to else {}

    def _bool(self, body: Mapping[str, Any]) -> Scores:
        known = ("filter", "minimum_should_match", "must", "must_not", "should")
        _only(body, known, "bool")
        parts = {name: self._clauses(body.get(name, [])) for name in known if "minimum" not in name}
        demanded = [*parts["must"], *parts["filter"]]
        least = body.get("minimum_should_match", 0 if demanded or not parts["should"] else 1)
        found: Scores = {}
        for document in self.documents:
            id = document.id  # noqa: A001 - what a document's id is called
            should = [each[id] for each in parts["should"] if id in each]
            excluded = any(id in each for each in parts["must_not"])
            if excluded or len(should) < least or not all(id in each for each in demanded):
                continue
            found[id] = sum((each[id] for each in parts["must"]), sum(should))
        return found

    def _clauses(self, clauses: Any) -> list[Scores]:
        listed = clauses if isinstance(clauses, list) else [clauses]
        return [self.scores(each) for each in listed]

    def _ids(self, body: Mapping[str, Any]) -> Scores:
        _only(body, ("values",), "ids")
        return {each.id: 1.0 for each in self.documents if each.id in body.get("values", ())}

    def _knn(self, body: Mapping[str, Any]) -> Scores:
        field, about = _of_field(body, "knn")
        asked = knn.asked(field, about, field_at(self.mappings, field))
        among = None if asked.filter is None else self.scores(asked.filter)
        return knn.nearest(
            asked, [each for each in self.documents if among is None or each.id in among]
        )

    def _match(self, body: Mapping[str, Any]) -> Scores:
        field, about = _of_field(body, "match")
        question = about
        if isinstance(about, dict):
            _only(about, ("query",), "match")
            question = about.get("query")
        if not isinstance(question, str):
            raise refused(OPENSEARCH_MALFORMED, query="match")
        texts = {each.id: each.values.get(field, []) for each in self.documents}
        return words.ranked(question, {key: list(map(str, held)) for key, held in texts.items()})

    def _term(self, body: Mapping[str, Any]) -> Scores:
        field, about = _of_field(body, "term")
        return self._among(field, [_value(about, "term")])

    def _terms(self, body: Mapping[str, Any]) -> Scores:
        field, about = _of_field(body, "terms")
        if not isinstance(about, list):
            raise refused(OPENSEARCH_MALFORMED, query="terms")
        return self._among(field, about)

    def _among(self, field: str, wanted: Sequence[Any]) -> Scores:
        alike = {self._alike(field, each) for each in wanted}
        return self._where(field, lambda held: held in alike)

    def _alike(self, field: str, value: Any) -> Any:
        """As the field would hold the value."""
        about = field_at(self.mappings, field) or {}
        if about.get("type") in NUMBERS:
            try:
                return float(value)
            except (TypeError, ValueError):
                raise refused(OPENSEARCH_FIELD, field=field, type=about["type"]) from None
        if about.get("type") == "boolean":
            return value in (True, "true")
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _prefix(self, body: Mapping[str, Any]) -> Scores:
        field, about = _of_field(body, "prefix")
        start = str(_value(about, "prefix"))
        return self._where(field, lambda held: str(held).startswith(start))

    def _wildcard(self, body: Mapping[str, Any]) -> Scores:
        field, about = _of_field(body, "wildcard")
        pattern = _pattern(str(_value(about, "wildcard")))
        return self._where(field, lambda held: pattern.fullmatch(str(held)) is not None)

    def _range(self, body: Mapping[str, Any]) -> Scores:
        field, about = _of_field(body, "range")
        if not isinstance(about, dict):
            raise refused(OPENSEARCH_MALFORMED, query="range")
        _only(about, tuple(_RANGES), "range")
        bounds = [(_RANGES[name], self._alike(field, value)) for name, value in about.items()]
        return self._where(field, lambda held: all(holds(held, value) for holds, value in bounds))

    def _where(self, field: str, holds: Callable[[Any], bool]) -> Scores:
        """Any of a list's elements will do."""
        return {
            each.id: 1.0 for each in self.documents if any(map(holds, each.values.get(field, ())))
        }


def _pattern(text: str) -> re.Pattern[str]:
    """`*` is any text, `?` any character, and a backslash takes both for themselves."""
    made, escaped = [], False
    for character in text:
        if character == "\\" and not escaped:
            escaped = True
            continue
        wild = {"*": ".*", "?": "."}.get(character) if not escaped else None
        made.append(wild or re.escape(character))
        escaped = False
    return re.compile("".join(made), re.DOTALL)


def _of_field(body: Mapping[str, Any], query: str) -> tuple[str, Any]:
    if len(body) != 1:
        raise refused(OPENSEARCH_MALFORMED, query=query)
    [(field, about)] = body.items()
    return field, about


def _value(about: Any, query: str) -> Any:
    if not isinstance(about, dict):
        return about
    _only(about, ("value",), query)
    if "value" not in about:
        raise refused(OPENSEARCH_MALFORMED, query=query)
    return about["value"]


def _only(body: Mapping[str, Any], known: Sequence[str], query: str) -> None:
    for key in body:
        if key not in known:
            raise refused(OPENSEARCH_KEY, query=query, key=key)
