"""
What a model is to say, by the order of a test or of a developer: see `script_orders`.

A script has the model's turns, one after the other. Which of them is next follows from the request
alone: it is the one after as many as the conversation already has of the model's. So conversations
don't disturb each other, and who asks the same again is told the same. Scripts are kept in memory:
a restart forgets them.
"""

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bedrock_kb_simulator.messages import Conversation, Reply, Text, ToolUse, use_id
from bedrock_kb_simulator.rules import (
    SCRIPT_EXHAUSTED,
    SCRIPT_QUOTE,
    SCRIPT_TOOL,
    SCRIPT_TOOL_DEMANDED,
)

QUESTION = "question"
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, kw_only=True)
class ScriptedUse:
    name: str
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ScriptedTurn:
    """
    A text, uses of tools, or both. `{{name}}` in the text, or in a text of an input, is replaced by
    what the pattern `quotes[name]` finds in the tools' results; `{{question}}` by the user's words.
    """

    text: str = ""
    uses: Sequence[ScriptedUse] = ()
    quotes: Mapping[str, str] = field(default_factory=dict)
    stop: str = ""


@dataclass(frozen=True, kw_only=True)
class Script:
    """Of the model with this id; `where` must stand in the prompt or the messages."""

    model: str
    turns: Sequence[ScriptedTurn]
    where: str = ""

    def fits(self, conversation: Conversation) -> bool:
        names = {conversation.model, conversation.model.rpartition("/")[2]}
        return self.model in names and self.where in conversation.read


class Scripts:
    """The latest that fits a conversation is the one that counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given: list[Script] = []
        self._played: list[int] = []

    def give(self, *scripts: Script) -> None:
        with self._lock:
            self._given.extend(scripts)
            self._played.extend(0 for _ in scripts)

    def clear(self) -> None:
        with self._lock:
            self._given.clear()
            self._played.clear()

    @property
    def given(self) -> list[tuple[Script, int]]:
        """Each, and how many of its turns were spoken, repeated ones counted again."""
        with self._lock:
            return list(zip(self._given, self._played, strict=True))

    def reply(self, conversation: Conversation) -> Reply | None:
        """None where no script fits; raises ServiceError where the one that fits can't go on."""
        with self._lock:
            fitting = [n for n, script in enumerate(self._given) if script.fits(conversation)]
            if not fitting:
                return None
            script = self._given[fitting[-1]]
            self._played[fitting[-1]] += 1
        return _spoken(script, conversation)


def _spoken(script: Script, conversation: Conversation) -> Reply:
    number = conversation.answers
    if number >= len(script.turns):
        raise SCRIPT_EXHAUSTED.broken(
            model=script.model, count=len(script.turns), number=number + 1
        )
    turn = script.turns[number]
    _check(turn, conversation)
    blocks: list[Text | ToolUse] = []
    if turn.text:
        blocks.append(Text(text=_filled(turn.text, turn, conversation)))
    for place, use in enumerate(turn.uses):
        given = _filled_in(use.input, turn, conversation)
        identifier = use_id(conversation, place, use.name, given)
        blocks.append(ToolUse(id=identifier, name=use.name, input=given))
    return Reply(blocks=blocks, stop=turn.stop or ("tool_use" if turn.uses else "end_turn"))


def _check(turn: ScriptedTurn, conversation: Conversation) -> None:
    offer = conversation.offer
    offered = ", ".join(tool.name for tool in offer.tools) or "none"
    for use in turn.uses:
        if offer.tool(use.name) is None:
            raise SCRIPT_TOOL.broken(name=use.name, offered=offered)
    is_met = any(offer.demanded in ("", use.name) for use in turn.uses)
    if offer.must_use and not is_met:
        raise SCRIPT_TOOL_DEMANDED.broken(name=offer.demanded or "one of the tools")


def _filled_in(value: Any, turn: ScriptedTurn, conversation: Conversation) -> Any:
    match value:
        case str():
            return _filled(value, turn, conversation)
        case Mapping():
            return {name: _filled_in(each, turn, conversation) for name, each in value.items()}
        case list() | tuple():
            return [_filled_in(each, turn, conversation) for each in value]
        case _:
            return value


def _filled(text: str, turn: ScriptedTurn, conversation: Conversation) -> str:
    def quoted(match: re.Match[str]) -> str:
        name = match[1]
        if name == QUESTION:
            return conversation.question
        return _found(name, turn.quotes[name], conversation)

    return PLACEHOLDER.sub(quoted, text)


def _found(name: str, pattern: str, conversation: Conversation) -> str:
    """Its first group, or all of it; the latest results are searched first."""
    for result in reversed(conversation.results):
        if match := re.search(pattern, result.text):
            return match[1] if match.re.groups else match[0]
    raise SCRIPT_QUOTE.broken(name=name, pattern=pattern)
