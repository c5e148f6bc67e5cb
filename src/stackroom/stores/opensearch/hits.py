"""
What OpenSearch answers, read with suspicion: half an answer is none, and nonsense is none.

https://docs.opensearch.org/latest/api-reference/search-apis/search/#response-body-fields
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.stores.opensearch.index_layout import Fields

SEARCH = "Search"


@dataclass(frozen=True, kw_only=True)
class Hit:
    """`score` is OpenSearch's, of vectors or of words."""

    id: str
    score: float
    text: str
    attributes: Mapping[str, object]


def hits_in(answer: object, fields: Fields) -> list[Hit]:
    """Best first. Raises KnowledgeBaseUnavailable for a part of an answer, and for nonsense."""
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
    A shard that is nowhere at the moment has neither failed nor answered.
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
    """Those of a multi-search. Raises KnowledgeBaseUnavailable if there are others than asked."""
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
    attributes = source.get(fields.metadata)
    return Hit(
        id=str(found.get("_id")),
        score=float(score),
        text=source[fields.text],
        attributes=_named(attributes),
    )


def _named(metadata: object) -> dict[str, object]:
    """
    By the names of `layout`, a dot between those of objects in objects, which is how OpenSearch
    itself takes a name with a dot in it: what stands under both spellings is a list of all.
    """
    found: dict[str, list[object]] = {}
    for name, value in _leaves(metadata, ""):
        found.setdefault(name, []).append(value)
    return {
        name: values[0] if len(values) == 1 else [each for value in values for each in _each(value)]
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


def _each(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _nonsense(what: str) -> KnowledgeBaseUnavailable:
    return KnowledgeBaseUnavailable(SEARCH, f"nonsense: {what}")
