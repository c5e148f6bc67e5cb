"""An index's mapping: what may be created, and what a document adds to it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bedrock_kb_simulator.opensearch.refusals import refused
from bedrock_kb_simulator.rules import AOSS_DIMENSION, AOSS_ENGINE, OPENSEARCH_KEY

Mappings = dict[str, Any]

SPACES = ("cosinesimil", "innerproduct", "l2")
WHOLE = ("byte", "integer", "long", "short")
NUMBERS = (*WHOLE, "double", "float")
_ENGINES = ("faiss", "nmslib")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?")
_KEYWORD_OF_TEXT = {"keyword": {"type": "keyword", "ignore_above": 256}}


def created(body: Mapping[str, Any]) -> Mappings:
    """The mapping of a new index; rules aoss.dimension and aoss.engine."""
    for key in body.keys() - {"aliases", "mappings", "settings"}:
        raise refused(OPENSEARCH_KEY, query="create index", key=key)
    mappings: Mappings = dict(body.get("mappings", {}))
    mappings.setdefault("properties", {})
    for field, about in mappings["properties"].items():
        if about.get("type") == "knn_vector":
            _check_vector(field, about)
    return mappings


def space_of(field: Mapping[str, Any]) -> str:
    return str(field.get("method", {}).get("space_type") or field.get("space_type") or "l2")


def engine_of(field: Mapping[str, Any]) -> str:
    return str(field.get("method", {}).get("engine") or "faiss")


def field_at(mappings: Mappings, path: str) -> Mapping[str, Any] | None:
    """What is known of a field by its whole path; of a field's own `fields`, too."""
    about: Mapping[str, Any] = mappings
    for name in path.split("."):
        inner = about.get("properties", about.get("fields", {}))
        if name not in inner:
            return None
        about = inner[name]
    return about


def extended(mappings: Mappings, source: Mapping[str, Any]) -> Mappings:
    """With the fields that a document has and nobody mapped: dynamic mapping."""
    return {**mappings, "properties": _extended(mappings, mappings["properties"], source)}


def _extended(
    mappings: Mappings, properties: Mapping[str, Any], source: Mapping[str, Any]
) -> dict[str, Any]:
    known = dict(properties)
    for name, value in source.items():
        first = value[0] if isinstance(value, list) and value else value
        about = known.get(name)
        if about is not None and about.get("type", "object") != "object":
            continue
        if isinstance(first, dict):
            members = (about or {}).get("properties", {})
            known[name] = {**(about or {}), "properties": _extended(mappings, members, first)}
        elif about is None and (made := _dynamic(mappings, first)) is not None:
            known[name] = made
    return known


def _dynamic(mappings: Mappings, value: Any) -> dict[str, Any] | None:
    kind: str
    made: dict[str, Any]
    match value:
        case bool():
            kind, made = "boolean", {"type": "boolean"}
        case int():
            kind, made = "long", {"type": "long"}
        case float():
            kind, made = "double", {"type": "float"}
        case str() if mappings.get("date_detection", True) and _DATE.fullmatch(value):
            kind, made = "date", {"type": "date"}
        case str():
            kind, made = "string", {"type": "text", "fields": _KEYWORD_OF_TEXT}
        case _:
            return None
    for template in _templates(mappings):
        if template.get("match_mapping_type") in (kind, "*"):
            return dict(template["mapping"])
    return made


def _templates(mappings: Mappings) -> Iterator[Mapping[str, Any]]:
    for named in mappings.get("dynamic_templates", ()):
        yield from named.values()


def _check_vector(field: str, about: Mapping[str, Any]) -> None:
    if not 0 < about.get("dimension", 0) <= AOSS_DIMENSION.limit:
        raise refused(AOSS_DIMENSION, field=field)
    named = about.get("method", {}).get("name", "hnsw")
    if named != "hnsw" or engine_of(about) not in _ENGINES:
        raise refused(AOSS_ENGINE, field=field)
