"""What a conversation with a language model is made of, whichever operation brings it."""

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Text:
    text: str


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    id: str
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    id: str
    parts: Sequence[Text]  # JSON is written out
    is_error: bool = False

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts)


Block = Text | ToolUse | ToolResult


@dataclass(frozen=True, kw_only=True)
class Turn:
    role: str
    blocks: Sequence[Block]

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def uses(self) -> list[ToolUse]:
        return [block for block in self.blocks if isinstance(block, ToolUse)]

    @property
    def results(self) -> list[ToolResult]:
        return [block for block in self.blocks if isinstance(block, ToolResult)]


@dataclass(frozen=True, kw_only=True)
class Tool:
    name: str
    description: str
    schema: Mapping[str, Any]  # of its input, in JSON Schema


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The tools that a model may use; `must_use` one, or the one that is `demanded`."""

    tools: Sequence[Tool] = ()
    must_use: bool = False
    demanded: str = ""

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """`model` as the request names it, `inference` in AWS's names; the last turn is the user's."""

    model: str
    prompt: str
    turns: Sequence[Turn]
    offer: Offer = field(default_factory=Offer)
    inference: Mapping[str, Any] = field(default_factory=dict)

    @property
    def answers(self) -> int:
        """How many times the model has spoken before."""
        return sum(turn.role == "assistant" for turn in self.turns)

    @property
    def question(self) -> str:
        """The last thing that the user said; tools' results are none."""
        said = (turn.text for turn in reversed(self.turns) if turn.role == "user")
        return next((text for text in said if text), "")

    @property
    def results(self) -> list[ToolResult]:
        """Of all tools, in order."""
        return [result for turn in self.turns for result in turn.results]

    @property
    def read(self) -> str:
        """All that a model reads of it."""
        blocks = (block for turn in self.turns for block in turn.blocks)
        return "\n".join([self.prompt, *map(written, blocks)])


@dataclass(frozen=True, kw_only=True)
class Reply:
    """
    What a model says next; `stop` is why it ends there, in Converse's words. In a stream `pace`
    seconds pass before each piece of it.
    """

    blocks: Sequence[Text | ToolUse]
    stop: str
    pace: float = 0.0

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def written(self) -> str:
        return "\n".join(written(block) for block in self.blocks)


def written(block: Block) -> str:
    """As a model reads or writes it."""
    match block:
        case Text() | ToolResult():
            return block.text
        case ToolUse():
            return f"{block.name} {json.dumps(block.input)}"


def use_id(conversation: Conversation, number: int, name: str, given: Mapping[str, Any]) -> str:
    """In AWS's form, and the same for the same conversation."""
    seed = json.dumps([conversation.read, conversation.answers, number, name, given])
    digest = hashlib.sha256(seed.encode()).digest()[:16]
    return f"tooluse_{urlsafe_b64encode(digest).decode().rstrip('=')}"
