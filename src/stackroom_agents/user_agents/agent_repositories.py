"""The ports of users' agents: their records and runs, the queue of runs, and conversations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from stackroom_agents.user_agents.agent import Agent, LinkedTool
from stackroom_agents.user_agents.agent_run import AgentRun, Draft

# Agents, each its user's.


class AgentBook(Protocol):
    def get(self, user_id: str, agent_id: str) -> Agent | None:
        """Return the user's current agent, or None if the user has none with this id."""

    def of_user(self, user_id: str) -> Iterator[Agent]: ...

    def save(self, agent: Agent) -> Agent:
        """Save the agent as its next version. Raises RecordChanged if it has changed or is gone."""

    def remove(self, user_id: str, agent_id: str) -> bool:
        """Remove an agent, and return whether there was one."""


class AgentRunBook(Protocol):
    def get(self, user_id: str, run_id: str) -> AgentRun | None:
        """Return the user's current run, or None if the user has none with this id."""

    def some(self, user_id: str, run_ids: Sequence[str]) -> list[AgentRun]:
        """Return the existing runs of these ids, in their order."""

    def newest(self, user_id: str, *, since: datetime | None = None) -> Iterator[AgentRun]:
        """Yield the user's runs, the newest first; with `since`, only those created since then."""

    def save(self, run: AgentRun) -> AgentRun:
        """
        Save the run as its next version, for some weeks. Raises RecordChanged if it has changed or
        is gone.
        """

    def remove(self, user_id: str, run_id: str) -> None:
        """Remove a run with its draft, if there is one."""

    def draft(self, user_id: str, run_id: str) -> Draft | None: ...

    def keep_draft(self, user_id: str, run_id: str, draft: Draft | None) -> None:
        """Replace the draft, for an hour or so; None removes it."""


class AgentRunQueue(Protocol):
    def put(self, user_id: str, run_id: str) -> None:
        """Hand a run to a runner. It may be delivered more than once."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    question: str
    answer: str


@dataclass(frozen=True, kw_only=True)
class Brief:
    """A model's instructions. `before` has the earlier exchanges, the oldest first."""

    model: str
    system_prompt: str
    tools: Sequence[LinkedTool]
    message: str
    before: Sequence[Exchange] = ()


@dataclass(frozen=True, kw_only=True)
class ModelTurn:
    """A model's turn. It `is_last` if the model calls no tool, and so has finished."""

    text: str
    input_tokens: int
    output_tokens: int
    seconds: float
    is_last: bool


class Listener(Protocol):
    """A listener to a conversation; its methods are called from several threads."""

    def writes(self, text: str) -> None:
        """Receive the next words of a turn, as the model writes them."""

    def end_turn(self, turn: ModelTurn) -> None:
        """Receive a whole turn."""

    def call(self, tool: LinkedTool, arguments: object) -> Mapping[str, Any]:
        """Carry out a tool's call, and return its answer to the model."""

    def is_called_off(self) -> bool:
        """Return whether to stop; checked between steps, and while a model takes long."""


class Conversations(Protocol):
    def hold(self, brief: Brief, listener: Listener) -> None:
        """
        Hold a conversation until the model has finished, or it is called off.

        Raises AgentUnfinished, ModelRefused, ModelThrottled, ModelUnavailable or ServiceRefused.
        """
