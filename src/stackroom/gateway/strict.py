"""
Tools for OpenAI's strict mode, which holds a model to a schema.

Every property is required there, so what can be left out may be null. No object has names of its
caller's choice, so one that has, such as `filter`, is a list of names and values: `by_name` reads
it. A gateway takes neither null nor additionalProperties, so its own schemas can't say this.
https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
"""

from collections.abc import Mapping
from typing import Any

from stackroom.gateway.tool import Tool

_PAIR = {"name", "value"}


def by_name(given: object) -> object:
    """
    The object that a list of names and values stands for; anything else as it is.

    Raises ValueError, fit to be shown to the caller.
    """
    if not isinstance(given, list):
        return given
    named: dict[str, object] = {}
    for each in given:
        if not isinstance(each, Mapping) or set(each) != _PAIR or not isinstance(each["name"], str):
            raise ValueError('is a list of something else than {"name": "...", "value": ...}')
        if each["name"] in named:
            raise ValueError(f"names {each['name'][:100]!r} twice")
        named[each["name"]] = each["value"]
    return named


def strict_tool(tool: Tool[Any], *, target: str) -> dict[str, Any]:
    """As `tools` of OpenAI's Responses API has it, by the name that the gateway calls it."""
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
        told = f"{kept['description']} Given as a list of names and values."
        return {"type": "array", "description": told, "items": pair}
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
