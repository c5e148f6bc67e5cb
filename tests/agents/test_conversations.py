"""Talking to a model for a user's agent: what is told, to whom, and when it ends."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from examples.agent.scripted import Call
from stackroom.errors import AgentUnfinished, ModelRefused, ModelThrottled
from stackroom_agents.strands_conversations import StrandsConversations
from stackroom_agents.user_agents.agent import LinkedTool
from stackroom_agents.user_agents.agent_repositories import Brief, Exchange, ModelTurn
from tests.agents.models import ModelOutput, PlayedModel, Stopped
from tests.support.linked_tools import a_tool

SEARCH = Call("search_plans", {"query": "leave"})


@dataclass
class Listening:
    """Has enough after so many calls of tools, or turns of the model."""

    calls: int = 99
    turns: int = 99
    heard: list[ModelTurn] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    asked: list[object] = field(default_factory=list)

    def writes(self, text: str) -> None:
        self.written.append(text)

    def end_turn(self, turn: ModelTurn) -> None:
        self.heard.append(turn)

    def call(self, tool: LinkedTool, arguments: object) -> Mapping[str, Any]:
        self.asked.append((tool.name, arguments))
        return {"success": True, "summary": "Found 0 relevant chunks"}

    def is_called_off(self) -> bool:
        return len(self.asked) >= self.calls or len(self.heard) >= self.turns


def held(listening: Listening, *said: ModelOutput) -> PlayedModel:
    model = PlayedModel(*said)
    brief = Brief(model="a-model", system_prompt="Be brief.", tools=[a_tool()], message="Leave?")
    StrandsConversations(model_of=lambda *_: model).hold(brief, listening)
    return model


def test_every_turn_and_call_is_reported_and_the_tool_is_answered() -> None:
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


@pytest.mark.parametrize(
    ("said", "error", "told"),
    [
        (" ", AgentUnfinished, "the model gave no answer"),
        (Stopped("Thir", "max_tokens"), AgentUnfinished, "cut at its limit of tokens"),
        (Stopped("Thir", "interrupt"), AgentUnfinished, "the model stopped with interrupt"),
        (ModelRefused("ValidationException", "no"), ModelRefused, "no"),
        (ModelThrottled("Converse"), ModelThrottled, "Converse was throttled"),
    ],
)
def test_unusable_model_answer_raises_its_named_error(
    said: ModelOutput, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        held(Listening(), SEARCH, said)


def test_answer_is_streamed_and_earlier_exchanges_are_sent_to_the_model() -> None:
    listening, model = Listening(), PlayedModel(play=lambda _: "Thirty days.")
    before = [Exchange(question="And Bob?", answer="Twenty.")]
    brief = Brief(model="a-model", system_prompt="", tools=[], message="And I?", before=before)

    StrandsConversations(model_of=lambda *_: model).hold(brief, listening)

    assert listening.written == ["Thirty days."]
    [asked] = model.asked
    assert [(each["role"], each["content"]) for each in asked.messages] == [
        ("user", [{"text": "And Bob?"}]),
        ("assistant", [{"text": "Twenty."}]),
        ("user", [{"text": "And I?"}]),
    ]


def test_cancelled_run_ends_while_its_model_still_writes() -> None:
    writes, go_on, has_written = threading.Event(), threading.Event(), threading.Event()

    def play(_: object) -> str:
        writes.set()
        go_on.wait(60)
        has_written.set()
        return "Nobody hears this."

    class Cancelling(Listening):
        def is_called_off(self) -> bool:
            return writes.is_set()

    listening = Cancelling()
    brief = Brief(model="a-model", system_prompt="", tools=[], message="Leave?")
    conversations = StrandsConversations(
        model_of=lambda *_: PlayedModel(play=play), look_seconds=0.01
    )

    conversations.hold(brief, listening)

    assert (writes.is_set(), has_written.is_set()) == (True, False)
    assert (listening.heard, listening.written) == ([], [])
    go_on.set()


def test_model_without_streaming_tool_use_is_called_unstreamed_afterwards() -> None:
    refusal = "This model doesn't support tool use in streaming mode."
    model, asked = PlayedModel(play=lambda _: "Thirty."), list[bool]()

    def model_of(_: str, is_streaming: bool) -> PlayedModel:
        asked.append(is_streaming)
        refused = PlayedModel(ModelRefused("ValidationException", refusal))
        return refused if is_streaming else model

    conversations = StrandsConversations(model_of=model_of)
    brief = Brief(model="a-model", system_prompt="", tools=[a_tool()], message="Leave?")
    for listening in (first := Listening(), second := Listening()):
        conversations.hold(brief, listening)

    assert asked == [True, False, False]
    assert [each.text for each in (*first.heard, *second.heard)] == ["Thirty.", "Thirty."]
