"""What a program sends, as a use case takes it."""

from collections.abc import Mapping
from typing import Any, TypeVar

import pydantic

from stackroom.errors import ValidationError
from stackroom.model import Record
from stackroom_console.request import whole_number

RecordT = TypeVar("RecordT", bound=Record)
_TOLD = 10  # problems; a body can have thousands


def parse(
    wanted: type[RecordT], given: Mapping[str, Any], *, called: Mapping[str, str] | None = None
) -> RecordT:
    """
    Raises ValidationError naming each wrong field and what is allowed. `called` are the labels of
    a form's fields, by which people know them.
    """
    try:
        return wanted.model_validate(given, by_alias=True, by_name=False)
    except pydantic.ValidationError as error:
        wrong = [str(each["loc"][0]) for each in error.errors()]
        problems = [_problem(wanted, each, (called or {}).get(each, each)) for each in wrong]
        raise ValidationError("; ".join(list(dict.fromkeys(problems))[:_TOLD])) from None


def number(query: Mapping[str, str], name: str, *, least: int, most: int, default: int) -> int:
    """Of the query. Raises ValidationError that names the parameter and the range."""
    return whole_number(name, query.get(name, str(default)), least=least, most=most)


def _problem(wanted: type[Record], given: str, called: str) -> str:
    by_wire_name = {each.alias or name: each for name, each in wanted.model_fields.items()}
    field = by_wire_name.get(given)
    if field is None:
        return f"{given[:100]!r}: no such field. Allowed: {', '.join(by_wire_name)}"
    return f"{called}: Allowed: {field.description or _described(field)}"


def _described(field: pydantic.fields.FieldInfo) -> str:
    """Of an optional field the description stands within the union."""
    inner = field.annotation
    for member in getattr(inner, "__args__", ()):
        for each in getattr(member, "__metadata__", ()):
            if isinstance(each, pydantic.fields.FieldInfo) and each.description:
                return each.description
    raise AssertionError("every field says what is allowed")
