"""Tools in a conversation: what is offered, and that every use of one has its result."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bedrock_kb_simulator.messages import Offer, Tool, Turn
from bedrock_kb_simulator.rules import (
    NOT_SIMULATED,
    TOOL_CHOICE,
    TOOL_CONFIG_MISSING,
    TOOL_NAMES,
    TOOL_RESULTS_MISSING,
    TOOL_RESULTS_REPEATED,
    TOOL_RESULTS_STRAY,
    TOOL_SCHEMA,
    TOOL_USES_REPEATED,
)


def offer_of(configuration: Mapping[str, Any] | None) -> Offer:
    """Of a toolConfig; raises ServiceError."""
    if not configuration:
        return Offer()
    tools = list(_tools(configuration["tools"]))
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise TOOL_NAMES.broken()
    chosen = configuration.get("toolChoice") or {}
    demanded = (chosen.get("tool") or {}).get("name", "")
    if demanded and demanded not in names:
        raise TOOL_CHOICE.broken(name=demanded)
    return Offer(tools=tools, must_use="any" in chosen or "tool" in chosen, demanded=demanded)


def check(turns: Sequence[Turn], *, is_offered: bool) -> None:
    """Uses and results of tools come in pairs, turn by turn; raises ServiceError."""
    if not is_offered and any(turn.uses or turn.results for turn in turns):
        raise TOOL_CONFIG_MISSING.broken()
    asked: list[str] = []
    for number, turn in enumerate(turns):
        at = f"messages.{number}.content"
        given = [result.id for result in turn.results]
        if repeated := _repeated(given):
            raise TOOL_RESULTS_REPEATED.broken(at=at, ids=", ".join(repeated))
        if len(given) > len(asked):
            raise TOOL_RESULTS_STRAY.broken(at=at)
        missing = [use for use in asked if use not in given]
        if missing:
            raise TOOL_RESULTS_MISSING.broken(at=at, ids=", ".join(missing))
        asked = [use.id for use in turn.uses]
        if repeated := _repeated(asked):
            raise TOOL_USES_REPEATED.broken(at=at, ids=", ".join(repeated))


def _repeated(ids: Sequence[str]) -> list[str]:
    return [each for each in dict.fromkeys(ids) if ids.count(each) > 1]


def _tools(offered: Sequence[Mapping[str, Any]]) -> Iterator[Tool]:
    for number, each in enumerate(offered):
        if "cachePoint" in each:
            continue  # rule converse.cache
        if "toolSpec" not in each:
            raise NOT_SIMULATED.broken(what=f"{', '.join(each)} in toolConfig")
        specified = each["toolSpec"]
        schema = specified["inputSchema"].get("json")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise TOOL_SCHEMA.broken(at=f"toolConfig.tools.{number}.toolSpec.inputSchema.json.type")
        description = specified.get("description", "")
        yield Tool(name=specified["name"], description=description, schema=schema)
