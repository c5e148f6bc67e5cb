"""
A knowledge base in an index of OpenSearch Serverless.

A search by meaning is one kNN search with the filter within it. HYBRID adds a search for words in
the same call, and merges both here by reciprocal rank; a passage that only words found gets its
cosine from a second call. OpenSearch's own hybrid query needs a search pipeline, which needs write
access to the collection, and normalises its scores by page: the best would be 1.0 however bad it
is, and no threshold would hold.
https://docs.aws.amazon.com/opensearch-service/latest/developerguide/serverless-configure-neural-search.html
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackroom.aws.s3vectors.s3vectors_filters import is_listed
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused
from stackroom.model.filters import Filter, leaves
from stackroom.model.passages import Passage, Retrieved, Search
from stackroom.search.cached_embeddings import Embeddings, Vector
from stackroom.search.ranking import fused
from stackroom_stores.opensearch.collection import Collection, refusal
from stackroom_stores.opensearch.index_layout import Fields, Layout, cosine, layout_of
from stackroom_stores.opensearch.opensearch_filters import Rendered, rendered

# What an index is asked, in OpenSearch's query language.

Body = dict[str, Any]


def nearest(vector: Sequence[float], limit: int, within: Rendered | None, fields: Fields) -> Body:
    """
    Return a search for the passages nearest to a vector.

    The filter is a part of the search, so that `limit` counts the passages that pass it:
    https://docs.opensearch.org/latest/vector-search/filter-search-knn/
    """
    knn: Body = {"vector": list(vector), "k": limit}
    if within is not None:
        knn["filter"] = within
    return {
        "size": limit,
        "query": {"knn": {fields.vector: knn}},
        "_source": [fields.text, fields.metadata],
    }


def best_by_words(words: str, limit: int, within: Rendered | None, fields: Fields) -> Body:
    """Return a search for the passages with most of the words, by BM25."""
    sought: Body = {"must": [{"match": {fields.text: {"query": words}}}]}
    if within is not None:
        sought["filter"] = [within]
    return {"size": limit, "query": {"bool": sought}, "_source": [fields.text, fields.metadata]}


# What OpenSearch answers, read with suspicion: half an answer is none, and nonsense is none.
#
# https://docs.opensearch.org/latest/api-reference/search-apis/search/#response-body-fields

SEARCH = "Search"


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A result; `score` is OpenSearch's, by vectors or by words."""

    id: str
    score: float
    text: str
    attributes: Mapping[str, object]


def hits_in(answer: object, fields: Fields) -> list[Hit]:
    """
    Return hits, best first. Raises KnowledgeBaseUnavailable for an incomplete or malformed answer.
    """
    if not isinstance(answer, dict):
        raise _nonsense("no object")
    if not isinstance(answer.get("timed_out"), bool):
        raise _nonsense("no word of whether it timed out")
    if answer["timed_out"]:
        raise KnowledgeBaseUnavailable(SEARCH, "a part of its answer (timed_out)")
    if answer.get("terminated_early"):
        raise KnowledgeBaseUnavailable(SEARCH, "a part of its answer (terminated_early)")
    _check_shards(answer.get("_shards"))
    outer = answer.get("hits")
    found = outer.get("hits") if isinstance(outer, dict) else None
    if not isinstance(found, list):
        raise _nonsense("no hits")
    return [_hit(each, fields) for each in found]


def _check_shards(shards: object) -> None:
    """
    Raise if some shards did not answer; an unassigned shard has neither failed nor answered.

    https://www.elastic.co/guide/en/elasticsearch/reference/7.10/search-search.html
    """
    counted = shards if isinstance(shards, dict) else {}
    total, answered, failed = (counted.get(each) for each in ("total", "successful", "failed"))
    if not (type(total) is type(answered) is type(failed) is int):
        raise _nonsense("no count of shards")
    if failed:
        problem = f"a part of its answer ({failed} of {total} shards failed)"
        raise KnowledgeBaseUnavailable(SEARCH, problem)
    if answered < total:
        problem = f"a part of its answer ({answered} of {total} shards answered)"
        raise KnowledgeBaseUnavailable(SEARCH, problem)


def answers_in(answer: object, count: int) -> list[Any]:
    """
    Return a multi-search's answers. Raises KnowledgeBaseUnavailable for a wrong number of them.
    """
    found = answer.get("responses") if isinstance(answer, dict) else None
    if not isinstance(found, list) or len(found) != count:
        raise _nonsense("not as many answers as questions")
    return found


def _hit(found: object, fields: Fields) -> Hit:
    if not isinstance(found, dict):
        raise _nonsense("a hit that is no object")
    source, score = found.get("_source"), found.get("_score")
    if not isinstance(source, dict) or not isinstance(source.get(fields.text), str):
        raise _nonsense(f"a hit without {fields.text!r}")
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise _nonsense("a hit without a score")
    return Hit(
        id=str(found.get("_id")),
        score=float(score),
        text=source[fields.text],
        attributes=_named(source.get(fields.metadata)),
    )


def _named(metadata: object) -> dict[str, object]:
    """
    Return attributes by the layout's names, with dots for nested objects.

    OpenSearch reads a dot in a name the same way, so values under both spellings become one list.
    """
    found: dict[str, list[object]] = {}
    for name, value in _leaves(metadata, ""):
        found.setdefault(name, []).append(value)
    return {
        name: values[0]
        if len(values) == 1
        else [each for value in values for each in (value if isinstance(value, list) else [value])]
        for name, values in found.items()
    }


def _leaves(value: object, name: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for each, inner in value.items():
            yield from _leaves(inner, f"{name}.{each}" if name else each)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for each in value:
            yield from _leaves(each, name)
    elif name:
        yield name, value


def _nonsense(what: str) -> KnowledgeBaseUnavailable:
    return KnowledgeBaseUnavailable(SEARCH, f"nonsense: {what}")


# Asked for again, where what should be a list and isn't had to be left out; and of both orders.
_MOST = 100
# How long an attribute that nobody had is believed to be in no document: documents of a collection
# for vectors can be found after about a minute [serverless-vector-search].
_BELIEVED = 60.0  # seconds


@dataclass(frozen=True, kw_only=True)
class _SearchRequest:
    words: str
    vector: Vector
    within: Rendered | None
    deadline: Deadline


class OpenSearchKnowledgeBase:
    """
    A `KnowledgeBase` over one index, whose mapping is read with the first question.

    A passage's similarity is the cosine of its vector and the question's, and its score (1 +
    cosine) / 2. An index whose vectors have other dimensions than the model's is refused.
    """

    def __init__(
        self,
        collection: Collection,
        index: str,
        *,
        embeddings: Embeddings,
        fields: Fields | None = None,
        search: Search = Search.SEMANTIC,
    ) -> None:
        assert search in (Search.SEMANTIC, Search.HYBRID), "there is no vector without its search"
        self._collection = collection
        self._index = index
        self._embeddings = embeddings
        self._fields = fields or Fields()
        self._search = search
        self._known: tuple[Layout, float] | None = None  # and when it was read

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        layout = self._layout(condition, deadline)
        within = None if condition is None else rendered(condition, layout.attributes)
        needs_filters = within is not None or self._search is Search.HYBRID
        if needs_filters and not layout.is_filtered_inside:
            raise SearchRefused(
                f"index {self._index!r} is of the engine nmslib, which takes no filter within a"
                " search, as HYBRID needs one, too; make it anew with faiss"
            )
        deadline.check("InvokeModel")
        vector = self._embeddings.embed(query)
        request = _SearchRequest(words=query, vector=vector, within=within, deadline=deadline)
        passages: list[Passage] = []
        # What should be a list and isn't is left out, and then there may be more to find.
        for size in (limit, _MOST):
            found = self._found(request, size, layout)
            passages = [each for each in found if is_listed(condition, each.attributes)]
            if len(passages) >= limit or len(found) < size or len(passages) == len(found):
                break
        return Retrieved(passages=tuple(passages[:limit]), search=self._search)

    def _found(self, request: _SearchRequest, size: int, layout: Layout) -> list[Passage]:
        if self._search is Search.HYBRID:
            return self._by_both(request, size, layout)
        near = self._nearest(request.within, size, request)
        return [self._passage(each, cosine(layout.space, each.score)) for each in near]

    def _nearest(self, within: Rendered | None, size: int, request: _SearchRequest) -> list[Hit]:
        body = nearest(request.vector, size, within, self._fields)
        return hits_in(self._collection.search(self._index, body, request.deadline), self._fields)

    def _by_both(self, request: _SearchRequest, size: int, layout: Layout) -> list[Passage]:
        """
        Search by meaning and words, with enough results that their number doesn't change the best
        ones.
        """
        bodies = [
            nearest(request.vector, _MOST, request.within, self._fields),
            best_by_words(request.words, _MOST, request.within, self._fields),
        ]
        answer = self._collection.multi_search(self._index, bodies, request.deadline)
        near, worded = (self._hits_of(each) for each in answers_in(answer, len(bodies)))
        hits = {each.id: each for each in (*near, *worded)}
        best = fused([each.id for each in near], [each.id for each in worded])[:size]
        scores = {each.id: each.score for each in near}
        if unscored := [key for key in best if key not in scores]:
            # Words tell nothing of how near these are in meaning.
            # So few that a search for as many compares each of them, exactly:
            # https://docs.opensearch.org/latest/vector-search/filter-search-knn/efficient-knn-filtering/
            found = self._nearest({"ids": {"values": unscored}}, len(unscored), request)
            scores |= {each.id: each.score for each in found}
        return [
            self._passage(hits[key], cosine(layout.space, scores[key]))
            for key in best
            if key in scores  # else it was deleted since
        ]

    def _hits_of(self, answer: object) -> list[Hit]:
        """Return the hits of one of several searches, which may have failed by itself."""
        status = answer.get("status", 200) if isinstance(answer, dict) else None
        if isinstance(answer, dict) and status != 200:
            raise refusal(status, answer, "MultiSearch", self._index)
        return hits_in(answer, self._fields)

    def _passage(self, hit: Hit, similarity: float) -> Passage:
        source = hit.attributes.get(self._fields.source)
        origin = source if isinstance(source, str) and source else None
        is_address = origin is not None and "://" in origin
        page = hit.attributes.get("page")
        return Passage(
            text=hit.text,
            score=(1 + similarity) / 2,  # what OpenSearch itself shows for cosinesimil
            uri=origin if is_address else None,
            custom_id=None if is_address else origin,
            page=page if isinstance(page, int) and page > 0 else None,
            attributes=hit.attributes,
            similarity=similarity,
        )

    def _layout(self, condition: Filter | None, deadline: Deadline) -> Layout:
        """Return the layout; it is read once, and again after a while for an unknown attribute."""
        keys = set() if condition is None else {each.key for each in leaves(condition)}
        if self._known is not None:
            layout, read_at = self._known
            if layout.attributes.keys() >= keys or time.monotonic() < read_at + _BELIEVED:
                return layout
        layout = self._read(deadline)
        self._known = layout, time.monotonic()
        return layout

    def _read(self, deadline: Deadline) -> Layout:
        """
        Fetch the layout. Raises SearchRefused if the vectors' length differs from the model's.
        """
        answer = self._collection.mapping(self._index, deadline)
        mappings = list(answer.values()) if isinstance(answer, dict) else []
        mapping = mappings[0].get("mappings") if len(mappings) == 1 else None
        if not isinstance(mapping, dict):
            raise KnowledgeBaseUnavailable("GetMapping", "nonsense: not one index's mapping")
        layout = layout_of(mapping, self._fields, index=self._index)
        if layout.dimensions != self._embeddings.dimensions:
            raise SearchRefused(
                f"index {self._index!r} holds vectors of {layout.dimensions} dimensions, and"
                f" {self._embeddings.model} makes them of {self._embeddings.dimensions}"
            )
        return layout
