"""Metadata sidecars: `<file>.metadata.json`, the simple form and the full one."""

import json
from dataclasses import dataclass, field
from typing import Any

from stackroom_local.simulator.errors import Unindexable
from stackroom_local.simulator.rules import (
    ATTRIBUTE_KEY_LENGTH,
    ATTRIBUTE_LIST_SIZE,
    ATTRIBUTE_TEXT_LENGTH,
    SIDECAR_INVALID,
    SIDECAR_SIZE,
)

SUFFIX = ".metadata.json"
RESERVED = "x-amz-bedrock"

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


class SidecarTooLarge(Unindexable):
    """The file is left out as if it were not there, so it gets no status."""

    def __init__(self) -> None:
        super().__init__(SIDECAR_SIZE.message)


def parsed(body: bytes) -> Attributes:
    """Raises SidecarTooLarge, or Unindexable for one that is malformed."""
    if len(body) > SIDECAR_SIZE.limit:
        raise SidecarTooLarge
    try:
        given = json.loads(body)["metadataAttributes"]
        return attributes(given.items())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unindexable(SIDECAR_INVALID.message) from error


def attributes(given: Any) -> Attributes:
    """From pairs of key and value in either form; raises ValueError for what Bedrock refuses."""
    values: dict[str, Value] = {}
    embedded = []
    for key, value in given:
        if not 1 <= len(key) <= ATTRIBUTE_KEY_LENGTH.limit or key.startswith(RESERVED):
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
