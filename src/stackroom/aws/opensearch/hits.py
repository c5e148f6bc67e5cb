"""
What OpenSearch answers, read with suspicion: half an answer is none, and nonsense is none.

https://docs.opensearch.org/latest/api-reference/search-apis/search/#response-body-fields
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stackroom.aws.opensearch.layout import Fields
from stackroom.errors import KnowledgeBaseUnavailable

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
    shards = answer.get("_shards")
    if not isinstance(shards, dict) or not isinstance(shards.get("failed"), int):
        raise _nonsense("no count of shards")
    if shards["failed"]:
        raise KnowledgeBaseUnavailable(
            SEARCH,
            f"a part of its answer ({shards['failed']} of {shards.get('total')} shards failed)",
        )
    outer = answer.get("hits")
    found = outer.get("hits") if isinstance(outer, dict) else None
    if not isinstance(found, list):
        raise _nonsense("no hits")
    return [_hit(each, fields) for each in found]


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
        attributes=attributes if isinstance(attributes, dict) else {},
    )


def _nonsense(what: str) -> KnowledgeBaseUnavailable:
    return KnowledgeBaseUnavailable(SEARCH, f"nonsense: {what}")
