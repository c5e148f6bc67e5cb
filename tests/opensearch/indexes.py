"""The indexes of all collections, in memory: their mappings and documents."""

import math
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as default
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from tests.opensearch.rules import MOST_DIMENSIONS, Refused, malformed, unfit

Mappings = dict[str, Any]

WHOLE = ("byte", "integer", "long", "short")
NUMBERS = (*WHOLE, "double", "float")
_ENGINES = ("faiss", "nmslib")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?")
_KEYWORD_OF_TEXT = {"keyword": {"type": "keyword", "ignore_above": 256}}


def created(body: Mapping[str, Any]) -> Mappings:
    """The mapping of a new index."""
    for key in body.keys() - {"aliases", "mappings", "settings"}:
        raise malformed("create index", f"does not support [{key}]")
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
    """Return the mapping of a field by its whole path, or of one of a field's own `fields`."""
    about: Mapping[str, Any] = mappings
    for name in path.split("."):
        inner = about.get("properties", about.get("fields", {}))
        if name not in inner:
            return None
        about = inner[name]
    return about


def extended(mappings: Mappings, source: Mapping[str, Any]) -> Mappings:
    """Return the mappings with the document's unmapped fields: dynamic mapping."""
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
    if not 0 < about.get("dimension", 0) <= MOST_DIMENSIONS:
        raise unfit(field, f"dimension must be from 1 to {MOST_DIMENSIONS}")
    named = about.get("method", {}).get("name", "hnsw")
    if named != "hnsw" or engine_of(about) not in _ENGINES:
        raise unfit(field, "allowed are hnsw with faiss or nmslib")


@dataclass(frozen=True, kw_only=True)
class Document:
    """`values` by the field's whole path; `vectors`, too."""

    id: str
    source: Mapping[str, Any]
    values: Mapping[str, list[Any]]
    vectors: Mapping[str, NDArray[np.float32]]


def indexed(id: str, source: Mapping[str, Any], mappings: Mappings) -> Document:  # noqa: A002 - its name
    """Raises Refused for a value that its field can't hold."""
    values: dict[str, list[Any]] = {}
    vectors: dict[str, NDArray[np.float32]] = {}
    for path, value in _leaves(source):
        about = field_at(mappings, path)
        if about is None:
            continue
        if about.get("type") == "knn_vector":
            vectors[path] = _vector(path, value, about)
            continue
        held = [
            each for each in (value if isinstance(value, list) else [value]) if each is not None
        ]
        for name, kind in _kept(path, about):
            values[name] = [made for each in held if (made := _held(name, each, kind)) is not None]
    return Document(id=id, source=source, values=values, vectors=vectors)


def _leaves(source: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in source.items():
        at = f"{path}{name}"
        if isinstance(value, dict):
            yield from _leaves(value, f"{at}.")
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
            for each in value:
                yield from _leaves(each, f"{at}.")
        else:
            yield at, value


def _kept(path: str, about: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield path, about
    for name, inner in about.get("fields", {}).items():
        yield f"{path}.{name}", inner


def _held(path: str, value: Any, about: Mapping[str, Any]) -> Any:
    """Return the value as the field stores it, or None for a keyword that is too long."""
    kind = about.get("type")
    if kind in ("keyword", "text", "date"):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return None if len(text) > about.get("ignore_above", math.inf) else text
    if kind == "boolean" and value in (True, False, "true", "false"):
        return value in (True, "true")
    if kind in NUMBERS and not isinstance(value, bool):
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise _unfit(path, about) from None
        return float(math.trunc(number)) if kind in WHOLE else number
    raise _unfit(path, about)


def _vector(path: str, value: Any, about: Mapping[str, Any]) -> NDArray[np.float32]:
    try:
        vector = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError):
        raise _unfit(path, about) from None
    if vector.shape != (about["dimension"],):
        raise _unfit(path, about)
    return vector


def _unfit(path: str, about: Mapping[str, Any]) -> Refused:
    return unfit(path, f"failed to parse it as {about.get('type')}")


@dataclass(kw_only=True)
class Held:
    mappings: Mappings
    documents: list[Document] = default(default_factory=list)


class Indexes:
    """Indexes by collection and name; safe to use from several threads."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], Held] = {}
        self._lock = threading.Lock()

    def create(self, collection: str, name: str, body: Mapping[str, Any]) -> None:
        mappings = created(body)
        with self._lock:
            if (collection, name) in self._held:
                raise Refused(400, "resource_already_exists_exception", f"index [{name}] exists")
            self._held[collection, name] = Held(mappings=mappings)

    def of(self, collection: str, name: str) -> Held:
        found = self._held.get((collection, name))
        if found is None:
            raise Refused(404, "index_not_found_exception", f"no such index [{name}]")
        return found

    def add(self, collection: str, name: str, source: Mapping[str, Any]) -> str:
        """Answers the id that the document was given."""
        key = uuid4().hex[:20]
        with self._lock:
            held = self.of(collection, name)
            mappings = extended(held.mappings, source)
            held.documents.append(indexed(key, source, mappings))
            held.mappings = mappings
        return key
