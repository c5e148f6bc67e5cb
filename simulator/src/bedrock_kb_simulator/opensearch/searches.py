"""A search's body, and its answer in OpenSearch's form."""

from collections.abc import Mapping
from typing import Any

from bedrock_kb_simulator.opensearch.dsl import Dsl
from bedrock_kb_simulator.opensearch.refusals import refused
from bedrock_kb_simulator.rules import OPENSEARCH_KEY, OPENSEARCH_MALFORMED, OPENSEARCH_WINDOW

_KNOWN = {"_source", "from", "query", "size"}


def searched(body: Any, index: str, dsl: Dsl) -> dict[str, Any]:
    """Raises Refused for a body that OpenSearch refuses."""
    if not isinstance(body, dict):
        raise refused(OPENSEARCH_MALFORMED, query="search")
    for key in body.keys() - _KNOWN:
        raise refused(OPENSEARCH_KEY, query="search", key=key)
    start, size = body.get("from", 0), body.get("size", 10)
    if start + size > OPENSEARCH_WINDOW.limit:
        raise refused(OPENSEARCH_WINDOW, given=start + size)
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


def partial(answer: dict[str, Any]) -> dict[str, Any]:
    """As if one of the shards had failed: half of the hits."""
    hits = answer["hits"]["hits"]
    shards = {**answer["_shards"], "successful": 1, "failed": 1}
    return {
        **answer,
        "_shards": shards,
        "hits": {**answer["hits"], "hits": hits[: (len(hits) + 1) // 2]},
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
            raise refused(OPENSEARCH_MALFORMED, query="_source")
