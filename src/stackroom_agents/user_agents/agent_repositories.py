"""Runs of agents: their records, the queue that hands them on, and who talks to models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from stackroom_agents.user_agents.agent import Agent, LinkedTool
from stackroom_agents.user_agents.agent_run import AgentRun, Draft

# Agents, each its user's.


class AgentBook(Protocol):
    def get(self, user_id: str, agent_id: str) -> Agent | None:
        """As it stands now; None if the user has none of that id, whoever else has."""

    def of_user(self, user_id: str) -> Iterator[Agent]: ...

    def save(self, agent: Agent) -> Agent:
        """With its next version. Raises RecordChanged if it isn't what was read, or is gone."""

    def remove(self, user_id: str, agent_id: str) -> bool:
        """Whether there was one."""


class AgentRunBook(Protocol):
    def get(self, user_id: str, run_id: str) -> AgentRun | None:
        """As it stands now; None if the user has none of that id, whoever else has."""

    def some(self, user_id: str, run_ids: Sequence[str]) -> list[AgentRun]:
        """Those of these ids that there are, in their order."""

    def newest(self, user_id: str, *, since: datetime | None = None) -> Iterator[AgentRun]:
        """The user's, the newest first; those created since then, if it is said."""

    def save(self, run: AgentRun) -> AgentRun:
        """
        With its next version, and kept for some weeks. Raises RecordChanged if it isn't what was
        read, or is gone.
        """

    def remove(self, user_id: str, run_id: str) -> None:
        """With its draft; also where there is none."""

    def draft(self, user_id: str, run_id: str) -> Draft | None: ...

    def keep_draft(self, user_id: str, run_id: str, draft: Draft | None) -> None:
        """In place of the last one, for an hour or so; None if there is to be none."""


class AgentRunQueue(Protocol):
    def put(self, user_id: str, run_id: str) -> None:
        """Somebody is to carry it out. It may be handed on more than once."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    question: str
    answer: str


@dataclass(frozen=True, kw_only=True)
class Brief:
    """What a model is told before anything else; `before` is what was said, the oldest first."""

    model: str
    system_prompt: str
    tools: Sequence[LinkedTool]
    message: str
    before: Sequence[Exchange] = ()


@dataclass(frozen=True, kw_only=True)
class ModelTurn:
    """`is_last` if the model calls no tool in it, and so has no more to say."""

    text: str
    input_tokens: int
    output_tokens: int
    seconds: float
    is_last: bool


class Listener(Protocol):
    """Who is told of a conversation while it is held; safe to call from several threads."""

    def writes(self, text: str) -> None:
        """The next words of a turn, as the model writes them."""

    def said(self, turn: ModelTurn) -> None:
        """The whole of it."""

    def call(self, tool: LinkedTool, arguments: object) -> Mapping[str, Any]:
        """What the tool answers the model."""

    def is_called_off(self) -> bool:
        """Whether nobody wants to hear more; asked between steps, and while a model takes long."""


class Conversations(Protocol):
    def hold(self, brief: Brief, listener: Listener) -> None:
        """
        Until the model has no more to say, or it is called off.

        Raises AgentUnfinished, ModelRefused, ModelThrottled, ModelUnavailable or ServiceRefused.
        """
