"""A model that says what a test has it say, in Strands' own loop."""

import asyncio
import copy
import json
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from strands.models import Model
from strands.types.content import Messages
from strands.types.streaming import StreamEvent
from strands.types.tools import ToolSpec

from examples.agent.scripted import Call


@dataclass(frozen=True)
class Stopped:
    """Text with another reason than that it is the answer."""

    text: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One turn, as the model is told of it: the messages are those of now."""

    system: str | None
    messages: list[dict[str, Any]]
    tools: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        """The blocks of text of the first message, which an event makes."""
        return [block["text"] for block in self.messages[0]["content"] if "text" in block]

    @property
    def last(self) -> str:
        """The text of the last message: a user's, or the answers of tools."""
        return "\n".join(_said(block) for block in self.messages[-1]["content"])

    @property
    def turn(self) -> int:
        """0 for the first of a conversation."""
        return sum(each["role"] == "assistant" for each in self.messages)


ModelOutput = str | Stopped | Call | Sequence[Call] | Exception


class PlayedModel(Model):
    """
    `play` answers each turn by what it is told; of one model several conversations may be held at
    the same time. `asked` are all turns.
    """

    def __init__(
        self, *said: ModelOutput, play: Callable[[Asked], ModelOutput] | None = None
    ) -> None:
        self.asked: list[Asked] = []
        self._play = play or (lambda asked: said[asked.turn])
        self._lock = Lock()

    async def stream(
        self,
        messages: Messages,
        tool_specs: list[ToolSpec] | None = None,
        system_prompt: str | None = None,
        **_: Any,
    ) -> AsyncIterator[StreamEvent]:
        asked = Asked(
            system=system_prompt,
            messages=copy.deepcopy([dict(each) for each in messages]),
            tools=tuple(each["name"] for each in tool_specs or ()),
        )
        with self._lock:
            self.asked.append(asked)
        said = await asyncio.to_thread(self._play, asked)
        if isinstance(said, Exception):
            raise said
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(said, str | Stopped):
            text, reason = (said, "end_turn") if isinstance(said, str) else (said.text, said.reason)
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": text}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": reason}}  # type: ignore[typeddict-item] # any text
            return
        for call in [said] if isinstance(said, Call) else said:
            use = {"name": call.tool, "toolUseId": uuid.uuid4().hex}
            # Strands' type of a start demands a member that its own models leave out.
            yield {"contentBlockStart": {"start": {"toolUse": use}}}  # type: ignore[typeddict-item]
            given = json.dumps(call.arguments)
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": given}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}

    # Abstract in Model, for agents that are asked for an object.
    async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[dict[str, Any]]:  # type: ignore[override]
        raise NotImplementedError("it says what a test has it say")
        yield {}

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "played"}

    def update_config(self, **model_config: Any) -> None:
        """There is nothing to configure."""


def _said(block: dict[str, Any]) -> str:
    if "toolResult" in block:
        return "\n".join(str(part.get("text", "")) for part in block["toolResult"]["content"])
    return str(block.get("text", ""))
