"""Talking to a model for a user's agent: what is told, to whom, and when it ends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from examples.agent.scripted import Call
from stackroom.agents.agent import LinkedTool
from stackroom.agents.agent_repositories import Brief, ModelTurn
from stackroom.errors import AgentUnfinished, ModelThrottled
from stackroom_agents.strands_conversations import StrandsConversations
from tests.agents.models import PlayedModel, Said, Stopped
from tests.unit.test_linked_tools import a_tool

SEARCH = Call("search_plans", {"query": "leave"})


@dataclass
class Listening:
    """Has enough after so many calls of tools, or turns of the model."""

    calls: int = 99
    turns: int = 99
    heard: list[ModelTurn] = field(default_factory=list)
    asked: list[object] = field(default_factory=list)

    def said(self, turn: ModelTurn) -> None:
        self.heard.append(turn)

    def call(self, tool: LinkedTool, arguments: object) -> Mapping[str, Any]:
        self.asked.append((tool.name, arguments))
        return {"success": True, "summary": "Found 0 relevant chunks"}

    def is_called_off(self) -> bool:
        return len(self.asked) >= self.calls or len(self.heard) >= self.turns


def held(listening: Listening, *said: Said) -> PlayedModel:
    model = PlayedModel(*said)
    brief = Brief(model="a-model", system_prompt="Be brief.", tools=[a_tool()], message="Leave?")
    StrandsConversations(model_of=lambda _: model).hold(brief, listening)
    return model


def test_every_turn_and_call_is_told_and_the_tool_answers_the_model() -> None:
    listening = Listening()

    model = held(listening, SEARCH, "None.")

    assert listening.asked == [("search_plans", {"query": "leave"})]
    assert [(each.text, each.is_last) for each in listening.heard] == [("", False), ("None.", True)]
    first, last = model.asked
    assert (first.system, first.texts, first.tools) == ("Be brief.", ["Leave?"], ("search_plans",))
    assert last.last == '{"success": true, "summary": "Found 0 relevant chunks"}'


@pytest.mark.parametrize(
    ("listening", "called"), [(Listening(calls=1), 1), (Listening(turns=1), 0)]
)
def test_when_it_is_called_off_no_further_tool_of_the_turn_is_called(
    listening: Listening, called: int
) -> None:
    held(listening, [SEARCH, SEARCH, SEARCH], "Nobody hears this.")

    assert len(listening.asked) == called


def test_a_tool_that_there_is_not_is_told_the_model_and_nobody_else() -> None:
    listening = Listening()

    model = held(listening, Call("delete_everything", {}), "Sorry.")

    assert listening.asked == []
    assert "delete_everything" in model.asked[1].last


@pytest.mark.parametrize(
    ("said", "error", "told"),
    [
        (" ", AgentUnfinished, "the model said nothing"),
        (Stopped("Thir", "max_tokens"), AgentUnfinished, "cut at its limit of tokens"),
        (ModelThrottled("Converse"), ModelThrottled, "Converse was throttled"),
    ],
)
def test_what_is_no_answer_is_raised_by_its_name(
    said: Said, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        held(Listening(), SEARCH, said)
