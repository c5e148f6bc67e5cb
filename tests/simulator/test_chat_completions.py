"""Tools of Converse as functions of an OpenAI-compatible endpoint, in both directions."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from strands import Agent, tool
from strands.models.bedrock import BedrockModel

from stackroom_local.simulator.model_endpoint import ModelEndpoint
from tests.simulator.chat_endpoint import ChatEndpoint, respond
from tests.simulator.holding import holds
from tests.simulator.running import simulated
from tests.simulator.test_conversation import request
from tests.simulator.test_tools import ASKS, OBJECT, offered, turn
from tests.simulator.test_tools import tool as tool_of
from tests.simulator.world import HAIKU, REGION, World, refused


@pytest.fixture(scope="module")
def world(
    _chat: ChatEndpoint, s3_endpoint: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    model = ModelEndpoint(base_url=_chat.base_url, model="small")
    with simulated(tmp_path_factory.mktemp("simulator"), s3_endpoint, model=model) as world:
        yield world


def test_a_whole_conversation_with_tools_is_asked(world: World, chat: ChatEndpoint) -> None:
    use = {"toolUse": {"toolUseId": "a", "name": "search", "input": {"query": "pump"}}}
    found = {"toolUseId": "a", "content": [{"text": "Every"}, {"json": {"hours": 200}}]}
    manual = {"document": {"name": "manual", "format": "txt", "source": {"bytes": b"Grease it."}}}
    messages = [
        ASKS,
        turn("assistant", {"text": "I search."}, use),
        turn("user", {"toolResult": found}, {"text": "Go on."}, manual),
    ]
    described = {"toolSpec": {**tool_of()["toolSpec"], "description": "Searches."}}

    world.bedrock_runtime.converse(
        **request(messages=messages, system=[], toolConfig=offered(described, tool_of("list")))
    )

    [asked] = chat.asked
    call = {"name": "search", "arguments": '{"query": "pump"}'}
    assert asked["messages"] == [
        {"role": "user", "content": "How often is the pump greased?"},
        {
            "role": "assistant",
            "content": "I search.",
            "tool_calls": [{"id": "a", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "a", "content": 'Every\n{"hours": 200}'},
        {
            "role": "user",
            "content": 'Go on.\n<document name="manual">\nGrease it.\n</document>',
        },
    ]
    assert asked["tools"] == [
        {
            "type": "function",
            "function": {"name": "search", "description": "Searches.", "parameters": OBJECT},
        },
        {"type": "function", "function": {"name": "list", "parameters": OBJECT}},
    ]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, "auto"),
        ({"auto": {}}, "auto"),
        ({"any": {}}, "required"),
        ({"tool": {"name": "list"}}, {"type": "function", "function": {"name": "list"}}),
    ],
)
def test_the_choice_of_a_tool_is_asked(
    world: World, chat: ChatEndpoint, choice: object, expected: object
) -> None:
    world.bedrock_runtime.converse(
        **request(toolConfig=offered(tool_of(), tool_of("list"), choice=choice))
    )

    assert chat.asked[0]["tool_choice"] == expected


@holds("converse.stop-reason")
def test_functions_that_are_called_are_uses_of_tools(world: World, chat: ChatEndpoint) -> None:
    chat.says, chat.stops = None, "tool_calls"
    chat.calls += [("search", '{"query": "pump"}'), ("search", "")]

    answer = world.bedrock_runtime.converse(**request(toolConfig=offered(tool_of())))

    assert answer["stopReason"] == "tool_use"
    assert answer["output"]["message"]["content"] == [
        {"toolUse": {"toolUseId": "call_0", "name": "search", "input": {"query": "pump"}}},
        {"toolUse": {"toolUseId": "call_1", "name": "search", "input": {}}},
    ]


@pytest.mark.parametrize("identifier", [None, "an id with spaces", "same"])
def test_ids_that_aws_would_not_give_are_replaced(
    world: World, chat: ChatEndpoint, identifier: str | None
) -> None:
    call = {"id": identifier, "function": {"name": "search", "arguments": "{}"}}
    message = {"content": "", "tool_calls": [call, call]}
    chat.answering = lambda handler: respond(
        handler, 200, json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})
    )

    answer = world.bedrock_runtime.converse(**request(toolConfig=offered(tool_of())))

    first, second = (block["toolUse"] for block in answer["output"]["message"]["content"])
    assert first["toolUseId"] != second["toolUseId"]
    assert second["toolUseId"].startswith("tooluse_")


@holds("tools.malformed")
@pytest.mark.parametrize(
    ("call", "operation"),
    [
        (("search", "{query"), "converse"),
        (("search", '["pump"]'), "converse"),
        (("find", "{}"), "converse"),
        (("find", "{}"), "converse_stream"),
    ],
)
def test_a_call_that_makes_no_sense_is_an_error_of_aws(
    world: World, chat: ChatEndpoint, call: tuple[str, str], operation: str
) -> None:
    chat.says = None
    chat.calls.append(call)
    converse = getattr(world.bedrock_runtime, operation)

    error = refused(converse, **request(toolConfig=offered(tool_of())))
    unasked = refused(converse, **request())

    assert error["Code"] == unasked["Code"] == "ModelErrorException"
    assert error["Message"].startswith("Model produced invalid sequence as part of ToolUse.")
    assert "no chat completion" in unasked["Message"]


@pytest.mark.parametrize("streaming", [False, True])
def test_a_strands_agent_runs_by_an_endpoint(
    world: World, chat: ChatEndpoint, streaming: bool
) -> None:
    chat.says = None
    chat.calls.append(("search", '{"query": "pump"}'))

    @tool
    def search(query: str) -> str:
        """Searches."""
        chat.calls.clear()
        chat.says = "Every 200 hours."
        return f"{query}: every 200 hours"

    model = BedrockModel(
        model_id=HAIKU, streaming=streaming, endpoint_url=world.endpoint, region_name=REGION
    )
    answer = Agent(model=model, tools=[search], callback_handler=None)("How often?")

    [_, asked] = chat.asked
    told: list[dict[str, Any]] = asked["messages"]
    assert str(answer).strip() == "Every 200 hours."
    assert [message["role"] for message in told] == ["user", "assistant", "tool"]
    assert told[-1]["content"] == "pump: every 200 hours"
