"""
The layout of an OpenSearch index: its vectors, and the attributes that filters may use.

`creation` is the body of a suitable index; the layout of any other index is read from its mapping.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused

# OpenSearch's scores as cosines, by the space that an index compares its vectors in.
#
# https://docs.opensearch.org/latest/mappings/supported-field-types/knn-spaces

_ROUNDING = 1e-3  # vectors are kept in 32 bits, and may be quantised

_COSINES: Mapping[str, Callable[[float], float]] = {
    # score = (2 - d) / 2, where d = 1 - cos.
    "cosinesimil": lambda score: 2 * score - 1,
    # score = 1 - d below zero, else 1 / (1 + d), where d = -x·y; of vectors of length one -cos.
    "innerproduct": lambda score: score - 1 if score > 1 else 1 - 1 / score,
    # score = 1 / (1 + d), where d, of vectors of length one, is 2 - 2 cos.
    "l2": lambda score: 1 - (1 / score - 1) / 2,
}


def cosine(space: str, score: float) -> float:
    """
    Return the cosine of a score, from -1 to 1.

    Raises KnowledgeBaseUnavailable for a score that two vectors of length one can't have: then the
    index's vectors have other lengths, and their scores mean nothing here.
    """
    found = _COSINES[space](score) if score > 0 or space == "cosinesimil" else math.inf
    if not abs(found) <= 1 + _ROUNDING:
        problem = f"a score of {score:.3g}, which no vectors of length one have in {space!r}"
        raise KnowledgeBaseUnavailable("Search", problem)
    return max(-1.0, min(1.0, found))


# An index that names no space [OpenSearch: knn-vector], and a text that names no length.
_DEFAULT_SPACE = "l2"
_NO_LIMIT = 2**31 - 1
# What a term of Lucene's may have is 32,766 bytes, and a character up to four of them.
_LONGEST_KEYWORD = 8191
# https://docs.opensearch.org/latest/mappings/supported-field-types/keyword/
_CHANGES = ("normalizer", "null_value")
NUMBERS = frozenset(
    {"byte", "double", "float", "half_float", "integer", "long", "short", "unsigned_long"}
)


@dataclass(frozen=True, kw_only=True)
class Fields:
    """The names of a document's fields; `source` is the attribute with its source."""

    vector: str = "vector"
    text: str = "text"
    metadata: str = "metadata"
    source: str = "source"


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """
    An attribute in the index: the `field` with its exact values, and the field's type.

    A text longer than `longest` characters is not in the field.
    """

    field: str
    type: str
    longest: int = _NO_LIMIT


@dataclass(frozen=True, kw_only=True)
class Layout:
    """
    The layout of an index. It `is_filtered_inside` if k counts after the filter, as some engines
    do.
    """

    dimensions: int
    space: str
    is_filtered_inside: bool
    attributes: Mapping[str, Attribute]


def creation(*, dimensions: int = 256, fields: Fields | None = None) -> dict[str, Any]:
    """
    Return the body of `PUT /<index>`: cosines by Faiss, text by words, attributes by exact values.

    Faiss is the engine that OpenSearch Serverless has, and that filters within the search.
    https://docs.aws.amazon.com/opensearch-service/latest/developerguide/serverless-vector-search.html
    Whole numbers are stored like fractions: else the first document could decide that 2.5 is 2.
    """
    fields = fields or Fields()
    keyword = {"type": "keyword", "ignore_above": _LONGEST_KEYWORD}
    return {
        "settings": {"index": {"knn": True}},
        "mappings": {
            "date_detection": False,
            "dynamic_templates": [
                {"texts": {"match_mapping_type": "string", "mapping": keyword}},
                {"numbers": {"match_mapping_type": "long", "mapping": {"type": "double"}}},
            ],
            "properties": {
                fields.vector: {
                    "type": "knn_vector",
                    "dimension": dimensions,
                    "method": {"name": "hnsw", "engine": "faiss", "space_type": "cosinesimil"},
                },
                fields.text: {"type": "text"},
                fields.metadata: {"type": "object"},
            },
        },
    }


def layout_of(mapping: Mapping[str, Any], fields: Fields, *, index: str) -> Layout:
    """
    Return the layout in the response of `GET /<index>/_mapping`.

    Raises SearchRefused for an index that can't be searched, and says what it must have.
    """
    properties = _properties(mapping)
    vector = properties.get(fields.vector)
    if not isinstance(vector, dict) or vector.get("type") != "knn_vector":
        raise SearchRefused(f"index {index!r} has no knn_vector field {fields.vector!r}")
    if fields.text not in properties:
        raise SearchRefused(f"index {index!r} has no field {fields.text!r}")
    dimensions = vector.get("dimension")
    if not isinstance(dimensions, int):
        raise SearchRefused(f"index {index!r} says no dimension of {fields.vector!r}")
    named = vector.get("method")
    method = named if isinstance(named, dict) else {}
    space = method.get("space_type") or vector.get("space_type") or _DEFAULT_SPACE
    if space not in _COSINES:
        raise SearchRefused(
            f"index {index!r} compares vectors by {space!r}; allowed: {', '.join(sorted(_COSINES))}"
        )
    return Layout(
        dimensions=dimensions,
        space=space,
        # "Efficient filtering" is of Faiss and Lucene alone [OpenSearch: efficient-knn-filtering].
        is_filtered_inside=method.get("engine", "faiss") != "nmslib",
        attributes=_attributes(properties.get(fields.metadata), fields.metadata),
    )


def _properties(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    found = mapping.get("properties")
    return found if isinstance(found, dict) else {}


def _attributes(mapping: object, path: str, *, below: str = "") -> dict[str, Attribute]:
    """
    Return attributes by name, with dots for nested objects; other kinds of fields are left out.
    """
    if not isinstance(mapping, dict) or mapping.get("enabled") is False:
        return {}
    if mapping.get("type", "object") != "object":
        return {}
    found: dict[str, Attribute] = {}
    for name, about in _properties(mapping).items():
        field, attribute = f"{path}.{name}", f"{below}{name}"
        if "properties" in about:
            found |= _attributes(about, field, below=f"{attribute}.")
        else:
            found[attribute] = _attribute(field, about)
    return found


def _attribute(field: str, about: Mapping[str, Any]) -> Attribute:
    """
    Return the attribute of a field; of an analysed text, its exact values if the index has them.
    """
    if about.get("type") == "text":
        subfields = about.get("fields")
        for name, exact in (subfields if isinstance(subfields, dict) else {}).items():
            if isinstance(exact, dict) and exact.get("type") == "keyword":
                return _attribute(f"{field}.{name}", exact)
    longest = about.get("ignore_above", _NO_LIMIT)
    # Either lets other values through than the one that is demanded, or documents that have none.
    changed = "".join(f" with {each}" for each in _CHANGES if about.get(each) is not None)
    kind = str(about.get("type", "object")) + changed
    return Attribute(field=field, type=kind, longest=int(longest))
