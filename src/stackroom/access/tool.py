"""
The definition of a tool that agents see: its name, description and arguments, stated once.

The gateway's schemas allow only type, properties, required, items and description, so the limits of
an argument are part of its description; the same text is the error for a call that exceeds them.
https://docs.aws.amazon.com/bedrock-agentcore-control/latest/APIReference/API_SchemaDefinition.html
"""

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Generic, TypeVar

import pydantic
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import ErrorDetails, from_json

from stackroom.errors import ValidationError

_MOST_LISTED = 10  # problems of a call; each takes a line, and a call can have a hundred thousand
_SCHEMA_KEYS = ("type", "properties", "required", "items", "description")

# Texts of arguments and answers have no invisible or misleading characters.

# Characters that reorder a line [Unicode Standard Annex 9: explicit formatting characters].
_BIDIRECTIONAL = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_LINES = frozenset("\u2028\u2029")


def is_plain(character: str) -> bool:
    """Return True unless the character is a control character or reorders a line."""
    category = unicodedata.category(character)
    return category not in ("Cc", "Cs") and character not in _BIDIRECTIONAL | _LINES


def _plain(text: Any) -> Any:
    if isinstance(text, str) and not all(is_plain(each) or each in "\t\r\n" for each in text):
        raise ValueError("has a control character, or one that reverses the direction of writing")
    return text


def _one_line(text: Any) -> Any:
    if isinstance(text, str) and not all(map(is_plain, text)):
        raise ValueError(
            "has a line break, a control character, or one that reverses the direction of writing"
        )
    return text


# Texts of arguments; the first may have several lines. They are checked before all else: a limit of
# length behind a validator would be reported as one of "items".
Text = Annotated[str, BeforeValidator(_plain)]
Line = Annotated[str, BeforeValidator(_one_line)]
Id = Annotated[str, Field(max_length=100), BeforeValidator(_one_line)]


# Clients send "null" or ["null"] for an optional argument that a model left empty.
# https://github.com/anthropics/claude-code/issues/95239
_NOTHING = frozenset({"", "null", "none", "undefined"})
# Arguments that allow a loss: their callers must say true, and nothing that only reads like it.
_DECISIONS = frozenset({"confirm", "replace"})
# Without an exponent or groups of digits: "1,000" is a thousand to some and one to others.
_NUMBER = re.compile(r"\s*[-+]?[0-9]{1,20}(\.[0-9]{1,20})?\s*")


def is_nothing(value: object) -> bool:
    """Return True if a client means no value: null, empty text, their names, or a list of these."""
    values = value if isinstance(value, list) else [value]
    return all(
        each is None or (isinstance(each, str) and each.strip().casefold() in _NOTHING)
        for each in values
    )


def not_an_object(arguments: object) -> str:
    """Return the error message for a model that sent arguments that are not an object."""
    kinds: dict[type, str] = {list: "a list", str: "a text"}
    kind = kinds.get(type(arguments), "a single value")
    return (
        f"the arguments are {kind}; send a JSON object that has each argument under its name, such"
        ' as {"query": "annual leave"}'
    )


class Arguments(BaseModel):
    """
    Base class of a tool's arguments. A missing, null or empty argument takes its default.

    A schema can't say "optional", and models write values in other types: `is_nothing` recognises
    an argument that is left out, and a number, a boolean or an object may be written as text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    @pydantic.model_validator(mode="before")
    @classmethod
    def _read(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            raise ValueError(not_an_object(raw))
        kinds = _kinds(cls)
        return {
            name: value if name in _DECISIONS else _typed(value, kinds.get(name))
            for name, value in raw.items()
            if not cls._is_absent(name, value)
        }

    @classmethod
    def _is_absent(cls, name: str, value: object) -> bool:
        if name in _DECISIONS:
            return value is None
        field = cls.model_fields.get(name)
        if field is None or field.is_required():  # "none" may be what its caller asks for
            return value is None or (isinstance(value, str) and not value.strip())
        return is_nothing(value)


@cache
def _kinds(arguments: type[Arguments]) -> Mapping[str, str]:
    """Return the type that a tool's schema gives each argument."""
    schema = _reduced(arguments.model_json_schema())
    return {name: member["type"] for name, member in schema.get("properties", {}).items()}


def _typed(value: object, kind: str | None) -> object:
    """Return the value of that type which the text represents, or the value as it is."""
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    match kind:
        case "integer" | "number" if _NUMBER.fullmatch(value):
            number = float(value)
            return int(number) if number.is_integer() else number
        case "boolean" if value.strip().casefold() in ("true", "false"):
            return value.strip().casefold() == "true"
        case "object":
            return _parsed(value)
        case _:
            return value


def _parsed(text: str) -> object:
    """Return the object, or the list of names and values, that the JSON text holds."""
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:  # of text that is nested too deeply, too
        return text
    return value if isinstance(value, dict | list) else text


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[ArgumentsT]):
    name: str
    description: str
    arguments: type[ArgumentsT]

    def parse(self, raw: object, *, called: Mapping[str, str] | None = None) -> ArgumentsT:
        """
        Raises ValidationError naming each wrong argument and what is allowed. `called` are the
        labels of a form's fields, by which people know the arguments.
        """
        try:
            return self.arguments.model_validate(raw)
        except pydantic.ValidationError as error:
            found = error.errors(include_url=False)
            labels = called or {}
            problems = dict.fromkeys(
                self._problem(each, raw, labels) for each in found[:_MOST_LISTED]
            )
            more = len(found) - _MOST_LISTED
            listed = [*problems, f"and {more} more"] if more > 0 else problems
            raise ValidationError("; ".join(listed)) from None  # pydantic's repeats the input

    def definition(self) -> dict[str, Any]:
        """Return the tool as in `toolSchema.inlinePayload` of a gateway target."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": _reduced(self.arguments.model_json_schema()),
        }

    def _problem(self, detail: ErrorDetails, raw: object, labels: Mapping[str, str]) -> str:
        message = detail["msg"].removeprefix("Value error, ")
        if not detail["loc"]:
            return message
        argument = str(detail["loc"][0])[:100]
        field = self.arguments.model_fields.get(argument)
        if field is None:
            known = ", ".join(self.arguments.model_fields)
            return f"{argument}: no such argument. Allowed: {known}"
        # It was left out above for being blank, which is not what its caller did.
        is_missing = detail["type"] == "missing"
        if is_missing and isinstance(raw, Mapping) and raw.get(argument) is not None:
            message = "is empty"
        return f"{labels.get(argument, argument)}: {message}. Allowed: {field.description}"


def require_tool(called: str, tools: Iterable[Tool[Any]]) -> None:
    """
    Raise ValidationError unless the gateway calls the function for one of its own tools. A target
    with another schema must not have its arguments taken for a search.
    """
    names = [tool.name for tool in tools]
    if called not in names:
        raise ValidationError(
            f"{called[:100]!r} is no tool of this function. Allowed: {', '.join(names)}"
        )


def _reduced(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON schema with only the keywords that the gateway allows."""
    # An optional argument is "its type or null"; the gateway has no null, leaving it out is enough.
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    assert len(options) <= 1, "an argument has one type"
    merged = {**schema, **(options[0] if options else {})}
    reduced = {key: merged[key] for key in _SCHEMA_KEYS if key in merged}
    if "properties" in reduced:
        reduced["properties"] = {
            name: _reduced(member) for name, member in reduced["properties"].items()
        }
    if "items" in reduced:
        reduced["items"] = _reduced(reduced["items"])
    return reduced


# Tools for OpenAI's strict mode, which holds a model to a schema.
#
# Every property is required there, so what can be left out may be null. No object has names of
# its caller's choice, so one that has, such as `filter`, is a list of names and values: `by_name`
# reads it. A gateway takes neither null nor additionalProperties, so its own schemas can't say
# this. https://platform.openai.com/docs/guides/structured-outputs#supported-schemas

_PAIR = {"name", "value"}


def by_name(raw: object) -> object:
    """
    Return the object that a list of names and values represents, or the value as it is.

    Raises ValueError with a message for the caller.
    """
    if not isinstance(raw, list):
        return raw
    named: dict[str, object] = {}
    for each in raw:
        if not isinstance(each, Mapping) or set(each) != _PAIR or not isinstance(each["name"], str):
            raise ValueError('is a list of something else than {"name": "...", "value": ...}')
        if each["name"] in named:
            raise ValueError(f"names {each['name'][:100]!r} twice")
        named[each["name"]] = each["value"]
    return named


def strict_tool(tool: Tool[Any], *, target: str) -> dict[str, Any]:
    """Return the tool as in `tools` of OpenAI's Responses API, under the gateway's name for it."""
    return {
        "type": "function",
        "name": f"{target}___{tool.name}",
        "description": tool.description,
        "parameters": _strict(tool.arguments.model_json_schema()),
        "strict": True,
    }


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: schema[key] for key in ("type", "description") if key in schema}
    if "anyOf" in schema:
        return {**kept, "anyOf": [_strict(option) for option in schema["anyOf"]]}
    if schema["type"] == "array":
        return {**kept, "items": _strict(schema["items"])}
    if schema["type"] != "object":
        return kept
    if "properties" not in schema:
        value = _strict(schema["additionalProperties"])
        pair = _closed({"name": {"type": "string"}, "value": value})
        description = f"{kept['description']} Given as a list of names and values."
        return {"type": "array", "description": description, "items": pair}
    needed = schema.get("required", ())
    properties = {
        name: _strict(member) if name in needed else _or_null(_strict(member))
        for name, member in schema["properties"].items()
    }
    return {**kept, **_closed(properties)}


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:  # pydantic has put null among them
        return schema
    return {**schema, "type": [schema["type"], "null"]}


# The values that our answers can carry. Python reads more from JSON than JSON can say: `1e999`,
# `NaN`, half of a surrogate pair. Lambda's runtime client ends its process over an answer with any
# of these.


def is_encodable(value: Any) -> bool:
    """Return True if JSON in UTF-8 can express the value."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # UnicodeEncodeError is a ValueError
        return False
    return True


def encodable(value: Any) -> Any:
    """Return the value with U+FFFD for half surrogate pairs, and null for NaN and infinity."""
    return value if is_encodable(value) else _mended(value)


def _mended(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {_mended(name): _mended(member) for name, member in value.items()}
        case list() | tuple():
            return [_mended(member) for member in value]
        case _:
            return value
