"""
Requests are held against what their API models say and botocore leaves unchecked: the maxima of
lists, maps, texts and numbers, patterns, enums, and unions of one member.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from botocore.model import (
    ListShape,
    MapShape,
    OperationModel,
    Shape,
    StringShape,
    StructureShape,
)
from botocore.validate import ParamValidationDecorator


@pytest.fixture(autouse=True)
def strict_requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each request that breaks a rule of its model fails the test, whoever catches its error."""
    found: list[str] = []
    serialize = ParamValidationDecorator.serialize_to_request

    def noted(validator: ParamValidationDecorator, parameters: Any, model: OperationModel) -> Any:
        request = serialize(validator, parameters, model)  # what botocore refuses ends here
        if model.input_shape is not None:
            found.extend(violations(model.input_shape, parameters, model.name))
        return request

    monkeypatch.setattr(ParamValidationDecorator, "serialize_to_request", noted)
    yield
    assert not found, "\n".join(found)


def violations(shape: Shape, value: Any, path: str) -> Iterator[str]:
    """All that the value of that shape breaks, each with its path; botocore has checked types."""
    if isinstance(shape, StructureShape):
        yield from _of_structure(shape, value, path)
    elif isinstance(shape, ListShape):
        yield from _out_of_bounds(shape, len(value), path)
        for each in value:
            yield from violations(shape.member, each, f"{path}[]")
    elif isinstance(shape, MapShape):
        yield from _out_of_bounds(shape, len(value), path)
        for each in value.values():
            yield from violations(shape.value, each, f"{path}[]")
    elif isinstance(shape, StringShape):
        yield from _of_text(shape, value, path)
    elif shape.type_name in ("integer", "long", "float", "double"):
        yield from _out_of_bounds(shape, value, path)


def _of_structure(shape: StructureShape, value: Any, path: str) -> Iterator[str]:
    if getattr(shape, "is_document_type", False):
        return
    if getattr(shape, "is_tagged_union", False) and len(value) != 1:
        yield f"{path}: a union of {len(value)} members"
    for name, member in value.items():
        if name in shape.members:
            yield from violations(shape.members[name], member, f"{path}.{name}")


def _of_text(shape: StringShape, value: str, path: str) -> Iterator[str]:
    yield from _out_of_bounds(shape, len(value), path)
    if shape.enum and value not in shape.enum:
        yield f"{path}: {value!r} is none of {shape.enum}"
    model: Any = shape
    pattern = _compiled(model._shape_model.get("pattern"))  # botocore keeps it out of `metadata`
    if pattern is not None and not pattern.search(value):
        yield f"{path}: {value!r} doesn't match {pattern.pattern}"


def _out_of_bounds(shape: Shape, size: float, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if (low is not None and size < low) or (high is not None and size > high):
        yield f"{path}: {shape.type_name} of {size}, allowed are {low} to {high}"


@cache
def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    r"""Compile a pattern, or return None if Python's expressions lack its words, as `\p{L}`."""
    try:
        return None if pattern is None else re.compile(pattern)
    except re.error:
        return None
