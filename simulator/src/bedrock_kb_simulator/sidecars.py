"""Metadata sidecars: `<file>.metadata.json`, the simple form and the full one."""

import json
from dataclasses import dataclass, field
from typing import Any

from bedrock_kb_simulator.errors import Unindexable
from bedrock_kb_simulator.rules import (
    ATTRIBUTE_KEY_LENGTH,
    ATTRIBUTE_LIST_SIZE,
    ATTRIBUTE_TEXT_LENGTH,
    MANAGED_SIDECAR_SIZE,
    SIDECAR_INVALID,
    SIDECAR_SIZE,
    Rule,
)

SUFFIX = ".metadata.json"

Value = str | float | bool | list[str]

_TYPED = {
    "STRING": "stringValue",
    "NUMBER": "numberValue",
    "BOOLEAN": "booleanValue",
    "STRING_LIST": "stringListValue",
}


@dataclass(frozen=True, kw_only=True)
class Attributes:
    """What a document says of itself; `embedded` names those that are embedded with its text."""

    values: dict[str, Value] = field(default_factory=dict)
    embedded: tuple[str, ...] = ()

    def preamble(self) -> str:
        """What is put before each chunk to be embedded, and never shown."""
        return "".join(f"{key}: {_shown(self.values[key])}\n" for key in self.embedded)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What a kind of knowledge base takes: no keys that begin as its service's own do."""

    sidecar_size: Rule
    reserved: str


OF_VECTOR = Bounds(sidecar_size=SIDECAR_SIZE, reserved="x-amz-bedrock")
OF_MANAGED = Bounds(sidecar_size=MANAGED_SIDECAR_SIZE, reserved="_")  # rule managed.filter-keys


class SidecarTooLarge(Unindexable):
    """The file is left out as if it were not there, so it gets no status."""


def parsed(body: bytes, bounds: Bounds) -> Attributes:
    """Raises SidecarTooLarge, or Unindexable for one that is malformed."""
    if len(body) > bounds.sidecar_size.limit:
        raise SidecarTooLarge(bounds.sidecar_size.message)
    try:
        given = json.loads(body)["metadataAttributes"]
        return attributes(given.items(), bounds)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unindexable(SIDECAR_INVALID.message) from error


def attributes(given: Any, bounds: Bounds) -> Attributes:
    """From pairs of key and value in either form; raises ValueError for what Bedrock refuses."""
    values: dict[str, Value] = {}
    embedded = []
    for key, value in given:
        if not 1 <= len(key) <= ATTRIBUTE_KEY_LENGTH.limit or key.startswith(bounds.reserved):
            raise ValueError(key)
        if isinstance(value, dict):
            if value.get("includeForEmbedding"):
                embedded.append(key)
            value = value["value"][_TYPED[value["value"]["type"]]]  # noqa: PLW2901 - the same value
        values[key] = _checked(value)
    return Attributes(values=values, embedded=tuple(embedded))


def _checked(value: Any) -> Value:
    match value:
        case bool() | int() | float():
            return value
        case str() if 1 <= len(value) <= ATTRIBUTE_TEXT_LENGTH.limit:
            return value
        case list() if 1 <= len(value) <= ATTRIBUTE_LIST_SIZE.limit:
            if all(isinstance(item, str) and item for item in value):
                return value
    raise ValueError(type(value).__name__)


def _shown(value: Value) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
