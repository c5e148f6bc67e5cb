"""Scripted models, including their use of tools."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from strands import Agent, tool
from strands.models.bedrock import BedrockModel

from bedrock_kb_simulator import orders, scripts
from simulator.tests.conversation import ASKS, offered
from simulator.tests.conversation import tool as tool_of
from simulator.tests.holding import holds
from simulator.tests.world import REGION, World, invalid

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


def converse(world: World, *messages: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = world.bedrock_runtime.converse(
        modelId=MODEL, messages=messages, toolConfig=TOOLS, **more
    )
    return answer


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
