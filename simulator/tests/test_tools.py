"""Tools and cache points in Converse."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from simulator.tests.conversation import (
    ASKS,
    IMAGE,
    USE,
    offered,
    request,
    results,
    tool,
    turn,
    user,
    uses,
)
from simulator.tests.holding import holds
from simulator.tests.world import World, invalid

QUESTION = {"text": "How often is the pump greased?"}
CACHE = {"cachePoint": {"type": "default"}}


SERVER_USE = turn("assistant", {"toolUse": {**USE, "type": "server_tool_use"}})
USE_OF_USER = turn("user", *uses("a")["content"])
RESULT_OF_ASSISTANT = turn("assistant", *results("a")["content"])


@holds("tools.*", "request.not-simulated")
@pytest.mark.parametrize(
    ("messages", "parts"),
    [
        ([ASKS, uses("a", "b"), results("a")], ["messages.2.content", "following Ids: b"]),
        ([ASKS, uses("a"), results("a", "b")], ["messages.2.content exceeds the number of"]),
        ([ASKS, uses("a", given=["query"]), results("a")], ["toolUse.input is", "json object"]),
        ([ASKS, uses("a"), results("a", content=[{"json": [1]}])], ["content.0.json is invalid"]),
        ([USE_OF_USER], ["messages.0.content.0", "role assistant"]),
        ([ASKS, RESULT_OF_ASSISTANT, user("?")], ["messages.1.content.0", "role user"]),
        ([ASKS, SERVER_USE, results("a")], ["does not offer tools that AWS runs"]),
        ([ASKS, uses("a"), results("a", content=[IMAGE])], ["image in a tool's result"]),
    ],
)
def test_mismatched_tool_uses_and_results_are_refused(
    world: World, messages: Sequence[Mapping[str, Any]], parts: list[str]
) -> None:
    message = invalid(
        world.bedrock_runtime.converse, **request(messages=messages, toolConfig=offered(tool()))
    )

    assert [part for part in parts if part not in message] == [], message


@holds("tools.configuration", "tools.names", "tools.schema", "tools.choice")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"messages": [ASKS, uses("a"), results("a")]}, "The toolConfig field must be defined"),
        ({"toolConfig": offered(tool(), tool())}, "Tool names must be unique"),
        ({"toolConfig": offered(tool("search it"))}, "pattern: [a-zA-Z0-9_-]+"),
        ({"toolConfig": offered(tool(schema={"type": "array"}))}, "tools.0.toolSpec.inputSchema"),
        ({"toolConfig": offered()}, "toolConfig.tools"),
        ({"toolConfig": offered(tool(), choice={"tool": {"name": "list"}})}, "The tool list in"),
        ({"toolConfig": offered({"systemTool": {"name": "grounding"}})}, "not offer systemTool"),
    ],
)
def test_invalid_tool_configuration_is_refused(
    world: World, given: Mapping[str, Any], message: str
) -> None:
    assert message in invalid(world.bedrock_runtime.converse, **request(**given))


@holds("converse.cache")
def test_cache_points_are_accepted_and_nothing_is_cached(world: World) -> None:
    answer = world.bedrock_runtime.converse(
        **request(
            system=[{"text": "Be kind."}, CACHE],
            messages=[turn("user", QUESTION, CACHE)],
            toolConfig=offered(tool(), CACHE),
        )
    )

    usage = answer["usage"]
    assert answer["stopReason"] == "tool_use"
    assert "content is blank" in invalid(
        world.bedrock_runtime.converse, **request(messages=[turn("user", CACHE)])
    )
    assert (usage["cacheReadInputTokens"], usage["cacheWriteInputTokens"]) == (0, 0)
