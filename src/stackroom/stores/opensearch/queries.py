"""What an index is asked, in OpenSearch's query language."""

from collections.abc import Sequence
from typing import Any

from stackroom.stores.opensearch.index_layout import Fields
from stackroom.stores.opensearch.opensearch_filters import Rendered

Body = dict[str, Any]


def nearest(vector: Sequence[float], limit: int, within: Rendered | None, fields: Fields) -> Body:
    """
    The passages nearest to a vector. The filter is a part of the search, so that `limit` counts
    what it lets through: https://docs.opensearch.org/latest/vector-search/filter-search-knn/
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
    """The passages with most of the words, by BM25."""
    sought: Body = {"must": [{"match": {fields.text: {"query": words}}}]}
    if within is not None:
        sought["filter"] = [within]
    return {"size": limit, "query": {"bool": sought}, "_source": [fields.text, fields.metadata]}


def of_these(ids: Sequence[str]) -> Rendered:
    """
    A filter of so few documents that a search for as many compares each of them, exactly.

    https://docs.opensearch.org/latest/vector-search/filter-search-knn/efficient-knn-filtering/
    """
    return {"ids": {"values": list(ids)}}
