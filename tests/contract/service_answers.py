"""Answers in the shape that a service's API model gives them, whole or with members left out."""

import io
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.model import ListShape, MapShape, OperationModel, Shape, StringShape, StructureShape
from botocore.response import StreamingBody

# Of members by their name, where no text will do.
_GIVEN: Mapping[str, Any] = {
    "DashboardBody": json.dumps(
        {
            "widgets": [
                {"type": "metric", "properties": {"metrics": [["AWS/Lambda", "Errors"]]}},
                {"type": "alarm", "properties": {"alarms": ["arn:aws:cloudwatch:::alarm:a"]}},
            ]
        }
    ),
    "Item": {},
    "Items": [],
    "Attributes": {},
    "IsTruncated": False,
}
# What would have the next page asked for; none of these is ever required.
_NEXT = frozenset({"LastEvaluatedKey", "NextToken", "UnprocessedKeys", "nextToken"})
_SCALARS: Mapping[str, Any] = {
    "boolean": True,
    "double": 0.5,
    "float": 0.5,
    "integer": 1,
    "long": 1,
    "timestamp": datetime(2026, 2, 3, tzinfo=UTC),
}


def optional_members(operation: OperationModel) -> list[str]:
    """The paths of all members that an answer may leave out, as `documentDetails[].updatedAt`."""
    shape = operation.output_shape
    return [] if shape is None else list(_optional(shape, "", ()))


def answer(operation: OperationModel, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """An answer of one page; `without` are paths of members."""
    shape = operation.output_shape
    made: dict[str, Any] = {} if shape is None else _made(shape, "", without, ())
    return made


def _optional(shape: Shape, path: str, within: tuple[str, ...]) -> Iterator[str]:
    if isinstance(shape, StructureShape):
        for name, member in _members(shape, within):
            if name not in shape.required_members:
                yield f"{path}{name}"
            yield from _optional(member, f"{path}{name}.", (*within, shape.name))
    elif isinstance(shape, ListShape | MapShape):
        member = shape.member if isinstance(shape, ListShape) else shape.value
        yield from _optional(member, f"{path[:-1]}[].", within)


def _members(shape: StructureShape, within: tuple[str, ...]) -> list[tuple[str, Shape]]:
    """Return the members of a shape: of a union the first alone, and none that contains itself."""
    if shape.name in within:
        return []
    members = [(name, each) for name, each in shape.members.items() if name not in _NEXT]
    return members[:1] if getattr(shape, "is_tagged_union", False) else members


def _made(shape: Shape, path: str, without: frozenset[str], within: tuple[str, ...]) -> Any:
    if isinstance(shape, StructureShape):
        return {
            name: _GIVEN[name]
            if name in _GIVEN
            else _made(member, f"{path}{name}.", without, (*within, shape.name))
            for name, member in _members(shape, within)
            if f"{path}{name}" not in without
        }
    if isinstance(shape, ListShape):
        return [_made(shape.member, f"{path[:-1]}[].", without, within)]
    if isinstance(shape, MapShape):
        return {"key": _made(shape.value, f"{path[:-1]}[].", without, within)}
    if isinstance(shape, StringShape):
        return shape.enum[0] if shape.enum else "text"
    if shape.type_name == "blob":
        return StreamingBody(io.BytesIO(), 0)
    return _SCALARS[shape.type_name]
