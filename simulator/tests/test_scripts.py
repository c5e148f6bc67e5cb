"""Scripted models, including their use of tools."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from strands import Agent, tool
from strands.models.bedrock import BedrockModel

from bedrock_kb_simulator import orders, scripts
from simulator.tests.conversation import ASKS, offered, results
from simulator.tests.conversation import tool as tool_of
from simulator.tests.holding import holds
from simulator.tests.world import HAIKU, REGION, World, invalid

MODEL = "anthropic.claude-sonnet-4-20250514-v1:0"
SEARCHES = {"uses": [{"name": "search", "input": {"query": "{{question}}"}}]}
CITES = {
    "text": "{{hours}}, says {{source}}.",
    "quotes": {"hours": "every (\\d+ hours)", "source": "\\w+\\.pdf"},
}
TOOLS = offered(tool_of())


@pytest.fixture
def world(world: World) -> Iterator[World]:
    """Return a simulator without scripts."""
    ordered(world, "DELETE")
    yield world
    ordered(world, "DELETE")


def ordered(world: World, method: str) -> Any:
    return json.loads(orders.ask(method, world.endpoint + scripts.PATH))


def script(world: World, *turns: Mapping[str, Any], **more: Any) -> None:
    scripts.order(world.endpoint, {"model": MODEL, "turns": turns, **more})


def result(use: Mapping[str, Any], text: str) -> dict[str, Any]:
    return results(use["toolUseId"], content=[{"text": text}])


def converse(world: World, *messages: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = world.bedrock_runtime.converse(
        modelId=MODEL, messages=messages, toolConfig=TOOLS, **more
    )
    return answer


def use_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    [block] = answer["output"]["message"]["content"]
    use: dict[str, Any] = block["toolUse"]
    return use


@holds("converse.stream")
@pytest.mark.parametrize("streaming", [False, True])
def test_strands_agent_runs_unmodified(world: World, streaming: bool) -> None:
    asked: list[str] = []

    @tool
    def search(query: str) -> str:
        """Searches."""
        asked.append(query)
        return "The pump is greased every 200 hours (manual.pdf)."

    script(world, SEARCHES, CITES)
    model = BedrockModel(
        model_id=MODEL, streaming=streaming, endpoint_url=world.endpoint, region_name=REGION
    )

    answer = Agent(model=model, tools=[search], callback_handler=None)("How often?")

    assert asked == ["How often?"]
    assert (str(answer).strip(), answer.stop_reason) == ("200 hours, says manual.pdf.", "end_turn")


@holds("converse.stream")
def test_stream_has_the_same_answer_as_events(world: World) -> None:
    script(world, {"text": "Let me search for that. " * 5, **SEARCHES})
    asked = {"modelId": MODEL, "messages": [ASKS], "toolConfig": TOOLS}

    whole = world.bedrock_runtime.converse(**asked)
    refusal = invalid(world.bedrock_runtime.converse_stream, modelId=MODEL, messages=[])
    events = list(world.bedrock_runtime.converse_stream(**asked)["stream"])

    text, use = (block for block in whole["output"]["message"]["content"])
    deltas = [event["contentBlockDelta"] for event in events if "contentBlockDelta" in event]
    starts = [event["contentBlockStart"] for event in events if "contentBlockStart" in event]
    texts = [delta["delta"]["text"] for delta in deltas if delta["contentBlockIndex"] == 0]
    inputs = [d["delta"]["toolUse"]["input"] for d in deltas if d["contentBlockIndex"] == 1]
    assert events[0] == {"messageStart": {"role": "assistant"}}
    assert len(texts) > 1
    assert "".join(texts) == text["text"]
    named = {"toolUseId": use["toolUse"]["toolUseId"], "name": "search"}
    assert starts == [{"start": {"toolUse": named}, "contentBlockIndex": 1}]
    assert json.loads("".join(inputs)) == use["toolUse"]["input"]
    assert events[-2] == {"messageStop": {"stopReason": "tool_use"}}
    assert events[-1]["metadata"]["usage"] == whole["usage"]
    assert "must start with a user message" in refusal


@holds("converse.stream")
def test_stream_is_sent_at_the_scripts_pace(world: World) -> None:
    script(world, {"text": "A few words at a time. " * 5, "pace": 0.001})
    asked = {"modelId": MODEL, "messages": [ASKS], "toolConfig": TOOLS}

    answer = world.bedrock_runtime.converse_stream(**asked)

    assert "content-length" not in answer["ResponseMetadata"]["HTTPHeaders"]
    assert len([each for each in answer["stream"] if "contentBlockDelta" in each]) == 3


def test_scripts_keep_conversations_apart_and_repeat_requests_alike(
    world: World,
) -> None:
    script(world, SEARCHES, CITES)
    script(world, SEARCHES, {"text": "Valves have no hours."}, where="valve")
    valve = {"role": "user", "content": [{"text": "And the valve?"}]}

    pump, other, again = converse(world, ASKS), converse(world, valve), converse(world, ASKS)
    found = result(use_of(other), "Valves are changed.")
    last = converse(world, valve, other["output"]["message"], found)

    assert use_of(pump) == use_of(again)
    assert use_of(pump)["toolUseId"] != use_of(other)["toolUseId"]
    assert last["output"]["message"]["content"] == [{"text": "Valves have no hours."}]
    assert ordered(world, "GET")["scripts"] == [
        {"model": MODEL, "where": "", "turns": 2, "spoken": 2},
        {"model": MODEL, "where": "valve", "turns": 2, "spoken": 2},
    ]
    ordered(world, "DELETE")
    assert ordered(world, "GET") == {"scripts": []}


def test_script_matches_model_by_last_part_of_arn_only(world: World) -> None:
    script(world, {"text": "Scripted.", "stop": "max_tokens"})
    arn = f"arn:aws:bedrock:us-east-1::foundation-model/{MODEL}"
    asked = {"messages": [ASKS]}

    by_arn = world.bedrock_runtime.converse(modelId=arn, **asked)
    other = world.bedrock_runtime.converse(modelId=HAIKU, **asked)

    assert by_arn["output"]["message"]["content"] == [{"text": "Scripted."}]
    assert by_arn["stopReason"] == "max_tokens"
    assert "Extracted" in other["output"]["message"]["content"][0]["text"]


@holds("script.*", "tools.choice")
@pytest.mark.parametrize(
    ("turn", "more", "message"),
    [
        ({"uses": [{"name": "find"}]}, {}, "find, which the request does not offer. It offers: s"),
        ({"text": "No."}, {"any": {}}, "The request's toolChoice demands one of the tools"),
        ({"text": "No."}, {"tool": {"name": "search"}}, "demands search, and the script does not"),
        ({"text": "{{n}}", "quotes": {"n": "\\d+"}}, {}, "quotes n, and its pattern \\d+ is found"),
    ],
)
def test_script_that_cannot_continue_is_an_error_with_the_reason(
    world: World, turn: Mapping[str, Any], more: Mapping[str, Any], message: str
) -> None:
    script(world, turn)
    configuration = {**TOOLS, **({"toolChoice": more} if more else {})}

    asked = {"modelId": MODEL, "messages": [ASKS], "toolConfig": configuration}

    assert message in invalid(world.bedrock_runtime.converse, **asked)


@holds("script.exhausted")
def test_script_quotes_latest_result_and_refuses_when_exhausted(world: World) -> None:
    script(world, SEARCHES, SEARCHES, CITES)

    first = converse(world, ASKS)
    messages = [ASKS, first["output"]["message"], result(use_of(first), "every 9 hours (old.pdf)")]
    second = converse(world, *messages)
    messages += [second["output"]["message"], result(use_of(second), "every 5 hours")]
    third = converse(world, *messages)

    assert third["output"]["message"]["content"] == [{"text": "5 hours, says old.pdf."}]
    over = invalid(lambda: converse(world, *messages, third["output"]["message"], ASKS))
    assert over.startswith(f"The script for {MODEL} has 3 turn(s), and this conversation asks for")
