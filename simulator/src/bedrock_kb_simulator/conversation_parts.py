"""The parts of a conversation with a language model."""

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
    schema: Mapping[str, Any]  # JSON Schema of its input


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The tools that a model may use; `must_use` requires one, `demanded` this one."""

    tools: Sequence[Tool] = ()
    must_use: bool = False
    demanded: str = ""

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A conversation, whose last turn is the user's; `inference` has AWS's names."""

    model: str
    prompt: str
    turns: Sequence[Turn]
    offer: Offer = field(default_factory=Offer)
    inference: Mapping[str, Any] = field(default_factory=dict)

    @property
    def answers(self) -> int:
        """The number of the model's earlier turns."""
        return sum(turn.role == "assistant" for turn in self.turns)

    @property
    def question(self) -> str:
        """The user's last text, other than tool results."""
        texts = (turn.text for turn in reversed(self.turns) if turn.role == "user")
        return next((text for text in texts if text), "")

    @property
    def results(self) -> list[ToolResult]:
        """The results of all tools, in order."""
        return [result for turn in self.turns for result in turn.results]

    @property
    def read(self) -> str:
        """All text of the conversation that a model reads."""
        blocks = (block for turn in self.turns for block in turn.blocks)
        return "\n".join([self.prompt, *map(_as_text, blocks)])


@dataclass(frozen=True, kw_only=True)
class Reply:
    """
    A model's next turn.

    `stop` is Converse's stop reason; in a stream, `pace` seconds pass before each piece.
    """

    blocks: Sequence[Text | ToolUse]
    stop: str
    pace: float = 0.0

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def written(self) -> str:
        return "\n".join(_as_text(block) for block in self.blocks)


def _as_text(block: Block) -> str:
    """Return a block as a model reads or writes it."""
    match block:
        case Text() | ToolResult():
            return block.text
        case ToolUse():
            return f"{block.name} {json.dumps(block.input)}"


def use_id(conversation: Conversation, number: int, name: str, given: Mapping[str, Any]) -> str:
    """Return an id in AWS's form, the same for the same conversation."""
    seed = json.dumps([conversation.read, conversation.answers, number, name, given])
    digest = hashlib.sha256(seed.encode()).digest()[:16]
    return f"tooluse_{urlsafe_b64encode(digest).decode().rstrip('=')}"
