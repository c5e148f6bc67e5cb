"""Requests against the botocore service model, which states most of AWS's limits itself."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from bedrock_kb_simulator.rules import MODEL_CONSTRAINT


def validate(shape: Any, parameters: Any) -> None:
    """Raise ValidationException for the first constraint that the parameters break."""
    for at, must in _violations(shape, parameters, ""):
        raise MODEL_CONSTRAINT.broken(at=at or "/", must=must)


def _violations(shape: Any, value: Any, at: str) -> Iterator[tuple[str, str]]:
    match shape.type_name:
        case "structure":
            yield from _in_structure(shape, value, at)
        case "list":
            yield from _in_list(shape, value, at)
        case "map":
            for key, item in value.items():
                yield from _violations(shape.key, key, f"{at}.key")
                yield from _violations(shape.value, item, f"{at}.{key}")
        case "blob":
            yield from _in_range(shape, len(value), at, "length")
        case "string":
            yield from _in_string(shape, value, at)
        case "integer" | "long" | "float" | "double":
            yield from _in_range(shape, value, at, "value")
        case _:
            pass  # booleans, timestamps and documents carry no constraint that we meet


def _in_list(shape: Any, value: Any, at: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, list):
        yield at, "Member must be a list"
        return
    yield from _in_range(shape, len(value), at, "length")
    for number, item in enumerate(value, start=1):
        yield from _violations(shape.member, item, f"{at}.{number}.member")


def _in_structure(shape: Any, value: Any, at: str) -> Iterator[tuple[str, str]]:
    if getattr(shape, "is_document_type", False):
        return
    if not isinstance(value, dict):
        yield at, "Member must be a structure"
        return
    for name in shape.required_members:
        if value.get(name) is None:
            yield f"{at}.{name}".lstrip("."), "Member must not be null"
    for name, member in shape.members.items():
        if value.get(name) is not None:
            yield from _violations(member, value[name], f"{at}.{name}".lstrip("."))


def _in_string(shape: Any, value: Any, at: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, str):
        yield at, "Member must be a string"
        return
    yield from _in_range(shape, len(value), at, "length")
    if shape.metadata.get("enum") and value not in shape.metadata["enum"]:
        yield at, f"Member must satisfy enum value set: [{', '.join(shape.metadata['enum'])}]"
    pattern = _compiled(shape.metadata.get("pattern", ""))
    if pattern and not pattern.fullmatch(value):
        yield at, f"Member must satisfy regular expression pattern: {shape.metadata['pattern']}"


def _in_range(shape: Any, size: float, at: str, what: str) -> Iterator[tuple[str, str]]:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if not isinstance(size, int | float):
        yield at, "Member must be a number"
    elif least is not None and size < least:
        yield at, f"Member must have {what} greater than or equal to {least}"
    elif most is not None and size > most:
        yield at, f"Member must have {what} less than or equal to {most}"


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    if not pattern:
        return None
    # The ARNs that bedrock-agent tags: what must be a digit there lost its backslash.
    pattern = pattern.replace(":/d{12}:", r":\d{12}:")
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error:
        return None  # a few of the model's patterns are Java's; length limits still hold there
