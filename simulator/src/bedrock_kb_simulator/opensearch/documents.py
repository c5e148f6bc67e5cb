"""Documents as an index holds them: each field's values, as its type has them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedrock_kb_simulator.opensearch import mappings as mapped
from bedrock_kb_simulator.opensearch.mappings import Mappings
from bedrock_kb_simulator.opensearch.refusals import Refused, refused
from bedrock_kb_simulator.rules import OPENSEARCH_FIELD


@dataclass(frozen=True, kw_only=True)
class Document:
    """`values` by the field's whole path; `vectors`, too."""

    id: str
    source: Mapping[str, Any]
    values: Mapping[str, list[Any]]
    vectors: Mapping[str, NDArray[np.float32]]


def indexed(id: str, source: Mapping[str, Any], mappings: Mappings) -> Document:  # noqa: A002 - its name
    """Rule opensearch.document-field: raises Refused for a value that its field can't hold."""
    values: dict[str, list[Any]] = {}
    vectors: dict[str, NDArray[np.float32]] = {}
    for path, value in _leaves(source):
        about = mapped.field_at(mappings, path)
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
    """As the field has it; None for a keyword that is too long for it."""
    kind = about.get("type")
    if kind in ("keyword", "text", "date"):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return None if len(text) > about.get("ignore_above", math.inf) else text
    if kind == "boolean" and value in (True, False, "true", "false"):
        return value in (True, "true")
    if kind in mapped.NUMBERS and not isinstance(value, bool):
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise _unfit(path, about) from None
        return float(math.trunc(number)) if kind in mapped.WHOLE else number
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
    return refused(OPENSEARCH_FIELD, field=path, type=about.get("type"))
