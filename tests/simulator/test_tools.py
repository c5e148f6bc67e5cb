"""Tools in Converse: what is refused."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.simulator.holding import holds
from tests.simulator.test_conversation import IMAGE, assistant, request, said, user
from tests.simulator.world import World, invalid

ASKS = user("How often is the pump greased?")
USE = {"toolUseId": "a", "name": "search", "input": {}}
OBJECT = {"type": "object", "properties": {"query": {"type": "string"}}}


def tool(name: str = "search", schema: object = OBJECT) -> dict[str, Any]:
    return {"toolSpec": {"name": name, "inputSchema": {"json": schema}}}


def offered(*tools: Mapping[str, Any], choice: object = None) -> dict[str, Any]:
    return {"tools": tools, **({"toolChoice": choice} if choice else {})}


def uses(*ids: str, given: object = None) -> dict[str, Any]:
    return turn(
        "assistant",
        *({"toolUse": {"toolUseId": each, "name": "search", "input": given or {}}} for each in ids),
    )


def results(*ids: str, **more: Any) -> dict[str, Any]:
    made = {"content": [{"text": "Every 200 hours."}], **more}
    return turn("user", *({"toolResult": {"toolUseId": each, **made}} for each in ids))


def turn(role: str, *blocks: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": blocks}


@holds("tools.*", "request.not-simulated")
@pytest.mark.parametrize(
    ("messages", "message"),
    [
        (
            [ASKS, uses("a", "b"), results("a")],
            "Expected toolResult blocks at messages.2.content for the following Ids: b",
        ),
        (
            [ASKS, uses("a"), results("a", "b")],
            "The number of toolResult blocks at messages.2.content exceeds the number of toolUse"
            " blocks of previous turn.",
        ),
        (
            [ASKS, uses("a", "b"), results("a", "a")],
            "The toolResult blocks at messages.2.content contain duplicate Ids: a",
        ),
        (
            [ASKS, uses("a", "a"), results("a")],
            "The toolUse blocks at messages.1.content contain duplicate Ids: a",
        ),
        (
            [ASKS, uses("a", given=["query"]), results("a")],
            "The format of the value at messages.1.content.0.toolUse.input is invalid. Provide a"
            " json object for the field and try again.",
        ),
        (
            [ASKS, uses("a"), results("a", content=[{"json": [1]}])],
            "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid."
            " Provide a json object for the field and try again.",
        ),
        (
            [ASKS, uses("a"), results("a", content=[], status="error")],
            "The content field at messages.2.content.0.toolResult cannot be empty when status value"
            " is error.",
        ),
        (
            [turn("user", *uses("a")["content"])],
            "The toolUse block at messages.0.content.0 is only allowed in messages of the role"
            " assistant.",
        ),
        (
            [ASKS, turn("assistant", *results("a")["content"]), user("?")],
            "The toolResult block at messages.1.content.0 is only allowed in messages of the role"
            " user.",
        ),
        (
            [
                ASKS,
                turn("assistant", {"toolUse": {**USE, "type": "server_tool_use"}}),
                results("a"),
            ],
            "The local simulator does not offer tools that AWS runs.",
        ),
        (
            [ASKS, uses("a"), results("a", content=[IMAGE])],
            "The local simulator does not offer image in a tool's result.",
        ),
    ],
)
def test_uses_and_results_that_do_not_fit_are_refused(
    world: World, messages: Sequence[Mapping[str, Any]], message: str
) -> None:
    asked = request(messages=messages, toolConfig=offered(tool()))

    assert invalid(world.bedrock_runtime.converse, **asked) == message


@holds("tools.configuration")
def test_a_conversation_with_tools_needs_a_configuration_of_tools(world: World) -> None:
    asked = request(messages=[ASKS, uses("a"), results("a")])

    assert invalid(world.bedrock_runtime.converse, **asked) == (
        "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    )


@holds("tools.names", "tools.schema", "tools.choice", "request.not-simulated")
@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        (offered(tool("search"), tool("search")), "Tool names must be unique"),
        (offered(tool("search it")), "regular expression pattern: [a-zA-Z0-9_-]+"),
        (
            offered(tool(), tool("list", schema={"type": "array"})),
            "The value at toolConfig.tools.1.toolSpec.inputSchema.json.type must be one of the"
            " following: object.",
        ),
        (offered(), "toolConfig.tools"),
        (offered(tool(), choice={"tool": {"name": "list"}}), "The tool list in toolConfig"),
        (offered({"systemTool": {"name": "nova_grounding"}}), "does not offer systemTool"),
    ],
)
def test_offers_that_make_no_sense_are_refused(
    world: World, configuration: Mapping[str, Any], message: str
) -> None:
    asked = request(toolConfig=configuration)

    assert message in invalid(world.bedrock_runtime.converse, **asked)


@holds("tools.results-missing")
def test_the_assistant_may_go_on_after_its_results(world: World) -> None:
    messages = [ASKS, uses("a", "b"), results("b", "a"), assistant("Hm."), user("Hills?")]

    answer = world.bedrock_runtime.converse(
        **request(messages=messages, toolConfig=offered(tool("list", schema={"type": "object"})))
    )

    assert answer["stopReason"] == "end_turn"


@holds("converse.guardrail")
def test_a_guardrail_does_not_look_at_tools(world: World) -> None:
    named = {"guardrailIdentifier": world.guardrail(words=["pigeons"]), "guardrailVersion": "DRAFT"}
    given: dict[str, Any] = {"toolConfig": offered(tool()), "guardrailConfig": named}
    found = results("a", content=[{"text": "Pigeons like hills."}])
    asks = {"guardContent": {"text": {"text": "What do birds like?"}}}
    messages = [turn("user", asks), uses("a", given={"query": "pigeons"}), found]
    converse = world.bedrock_runtime.converse

    first = converse(**request(messages=messages[:1], **given))
    last = converse(**request(messages=messages, **given))

    assert first["stopReason"] == "tool_use"
    assert last["stopReason"] == "guardrail_intervened"
    assert said(last) == "That answer is not for you."
