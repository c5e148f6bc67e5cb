"""
OpenSearch's query language: which documents a query matches, and how each scores.

Every query answers a score by the id of each document that it matches. Vectors are all compared,
so it says nothing of how near an approximate search comes.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import ge, gt, le, lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.opensearch.indexes import NUMBERS, Document, Mappings, engine_of, field_at, space_of
from tests.opensearch.rules import MOST_HITS, Refused, malformed, unfit, unsearchable

# BM25 as Lucene ranks a field of text.

_WORD = re.compile(r"\w+")
_SATURATION, _LENGTH = 1.2, 0.75  # k1 and b


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def ranked(question: str, texts: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The score of each text, by its key, that has any of the question's words."""
    counted = {key: Counter(words_of("\n".join(values))) for key, values in texts.items()}
    counted = {key: words for key, words in counted.items() if words}
    if not counted:
        return {}
    average = sum(words.total() for words in counted.values()) / len(counted)
    scores: defaultdict[str, float] = defaultdict(float)
    for word in words_of(question):
        having = [key for key, words in counted.items() if word in words]
        weight = math.log(1 + (len(counted) - len(having) + 0.5) / (len(having) + 0.5))
        for key in having:
            often, length = counted[key][word], counted[key].total() / average
            scores[key] += weight * often / (often + _SATURATION * (1 - _LENGTH + _LENGTH * length))
    return dict(scores)


# The k-NN plugin's query, answered exactly.

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class KnnAsked:
    field: str
    vector: Floats
    k: int
    filter: Any
    space: str


def knn_asked(field: str, about: Any, mapping: Mapping[str, Any] | None) -> KnnAsked:
    """Raises Refused for a query that the plugin refuses."""
    if not isinstance(about, dict):
        raise malformed("knn")
    for key in about.keys() - {"vector", "k", "filter"}:
        raise malformed("knn", f"does not support [{key}]")
    if mapping is None or mapping.get("type") != "knn_vector":
        raise unsearchable(f"Field '{field}' is not knn_vector type.")
    k, vector = about.get("k"), about.get("vector")
    if not isinstance(k, int) or not 0 < k <= MOST_HITS:
        raise Refused(400, "illegal_argument_exception", f"[knn] requires 0 < k <= {MOST_HITS}")
    if not isinstance(vector, list) or not all(isinstance(each, int | float) for each in vector):
        raise malformed("knn")
    if len(vector) != mapping["dimension"]:
        raise unsearchable(f"invalid dimension: {len(vector)}, not {mapping['dimension']}")
    if "filter" in about and engine_of(mapping) == "nmslib":
        raise unsearchable("Engine [NMSLIB] does not support filters")
    return KnnAsked(
        field=field,
        vector=np.asarray(vector, dtype=np.float32),
        k=k,
        filter=about.get("filter"),
        space=space_of(mapping),
    )


def nearest(query: KnnAsked, documents: Sequence[Document]) -> dict[str, float]:
    """The scores of the k best."""
    held = [each for each in documents if query.field in each.vectors]
    if not held:
        return {}
    vectors = np.stack([each.vectors[query.field] for each in held])
    scores = _SCORES[query.space](vectors, query.vector)
    best = np.argsort(-scores, kind="stable")[: query.k]
    return {held[at].id: float(scores[at]) for at in best}


def _cosinesimil(vectors: Floats, vector: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
    cosines = np.divide(vectors @ vector, lengths, out=np.zeros(len(vectors)), where=lengths > 0)
    return np.asarray((1 + cosines) / 2)


def _l2(vectors: Floats, vector: Floats) -> Floats:
    return np.asarray(1 / (1 + np.square(vectors - vector).sum(axis=1)))


def _innerproduct(vectors: Floats, vector: Floats) -> Floats:
    products = vectors @ vector
    return np.where(products >= 0, 1 + products, 1 / (1 - np.minimum(products, 0)))


# The scores that follow from distances (guide of OpenSearch, knn-spaces).
_SCORES: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "cosinesimil": _cosinesimil,
    "innerproduct": _innerproduct,
    "l2": _l2,
}


Scores = dict[str, float]

_RANGES: Mapping[str, Callable[[Any, Any], bool]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}


@dataclass(frozen=True, kw_only=True)
class Dsl:
    mappings: Mappings
    documents: Sequence[Document]

    def scores(self, query: Any) -> Scores:
        """Raises Refused for a query that is malformed or unknown."""
        if not isinstance(query, dict) or len(query) != 1:
            raise malformed("query")
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
            raise malformed(name, "unknown query")
        if not isinstance(body, dict):
            raise malformed(name)
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
        asked = knn_asked(field, about, field_at(self.mappings, field))
        among = None if asked.filter is None else self.scores(asked.filter)
        return nearest(
            asked, [each for each in self.documents if among is None or each.id in among]
        )

    def _match(self, body: Mapping[str, Any]) -> Scores:
        field, about = _of_field(body, "match")
        question = about
        if isinstance(about, dict):
            _only(about, ("query",), "match")
            question = about.get("query")
        if not isinstance(question, str):
            raise malformed("match")
        texts = {each.id: each.values.get(field, []) for each in self.documents}
        return ranked(question, {key: list(map(str, held)) for key, held in texts.items()})

    def _term(self, body: Mapping[str, Any]) -> Scores:
        field, about = _of_field(body, "term")
        return self._among(field, [_value(about, "term")])

    def _terms(self, body: Mapping[str, Any]) -> Scores:
        field, about = _of_field(body, "terms")
        if not isinstance(about, list):
            raise malformed("terms")
        return self._among(field, about)

    def _among(self, field: str, wanted: Sequence[Any]) -> Scores:
        alike = {self._alike(field, each) for each in wanted}
        return self._where(field, lambda held: held in alike)

    def _alike(self, field: str, value: Any) -> Any:
        """Return the value as the field would store it."""
        about = field_at(self.mappings, field) or {}
        if about.get("type") in NUMBERS:
            try:
                return float(value)
            except (TypeError, ValueError):
                raise unfit(field, "it is of numbers") from None
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
            raise malformed("range")
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
        raise malformed(query)
    [(field, about)] = body.items()
    return field, about


def _value(about: Any, query: str) -> Any:
    if not isinstance(about, dict):
        return about
    _only(about, ("value",), query)
    if "value" not in about:
        raise malformed(query)
    return about["value"]


def _only(body: Mapping[str, Any], known: Sequence[str], query: str) -> None:
    for key in body:
        if key not in known:
            raise malformed(query, f"does not support [{key}]")


# A search's body, and its answer in OpenSearch's form.

_KNOWN = {"_source", "from", "query", "size"}


def searched(body: Any, index: str, dsl: Dsl) -> dict[str, Any]:
    """Raises Refused for a body that OpenSearch refuses."""
    if not isinstance(body, dict):
        raise malformed("search")
    for key in body.keys() - _KNOWN:
        raise malformed("search", f"does not support [{key}]")
    start, size = body.get("from", 0), body.get("size", 10)
    if start + size > MOST_HITS:
        raise Refused(400, "illegal_argument_exception", f"more than {MOST_HITS} hits")
    scores = dsl.scores(body.get("query", {"match_all": {}}))
    sources = {each.id: each.source for each in dsl.documents}
    best = sorted(scores, key=lambda key: -scores[key])
    hits = [
        {
            "_index": index,
            "_id": key,
            "_score": scores[key],
            "_source": _source(sources[key], body.get("_source", True)),
        }
        for key in best[start : start + size]
    ]
    return {
        "took": 1,
        "timed_out": False,
        "_shards": {"total": 2, "successful": 2, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": len(scores), "relation": "eq"},
            "max_score": scores[best[0]] if best else None,
            "hits": hits,
        },
    }


def _source(source: Mapping[str, Any], wanted: Any) -> Mapping[str, Any]:
    """Whole fields by name; of names within objects this knows nothing."""
    match wanted:
        case True:
            return source
        case list():
            return {name: value for name, value in source.items() if name in wanted}
        case {"excludes": [*excluded]}:
            return {name: value for name, value in source.items() if name not in excluded}
        case _:
            raise malformed("_source")
