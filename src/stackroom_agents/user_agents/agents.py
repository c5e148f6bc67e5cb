"""
A user's agents: make, list, change and remove them. Other users' agents don't exist for a user.
"""

import hashlib
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from stackroom.access.tool import Line, Text
from stackroom.clock import utc_now
from stackroom.concurrency import random_pauses, retried
from stackroom.errors import (
    Conflict,
    LimitReached,
    NotFound,
    RecordChanged,
    ValidationError,
)
from stackroom.model.records import Record
from stackroom_agents.user_agents.agent import Agent, AgentTool, LinkedTool
from stackroom_agents.user_agents.agent_repositories import AgentBook
from stackroom_agents.user_agents.assistant import ASSISTANT, assistant_of

MOST_AGENTS = 100  # of a user, as with catalogs; two made at the same moment may be one more
LONGEST_PROMPT = 20_000  # characters, so that an agent with all its tools fits an item of 400 kB
_TRIES = 20  # ten people who add ten tools to one agent at once get there
_pause = random_pauses(0.05, 1.0)

_ONE_LINE = "without line breaks and control characters"
Name = Annotated[
    Line,
    AfterValidator(str.strip),
    Field(min_length=1, max_length=100),
    Field(description=f"1 to 100 characters, {_ONE_LINE}"),
]
Description = Annotated[Text, Field(max_length=500, description="at most 500 characters")]
# "[Pattern: (arn:...)|...]{1,2048}" [API reference: Converse, modelId]
Model = Annotated[
    Line,
    AfterValidator(str.strip),
    Field(min_length=1, max_length=2048),
    Field(description="the id of a model or inference profile of Bedrock, as Converse takes it"),
]
Prompt = Annotated[
    Text, Field(max_length=LONGEST_PROMPT, description=f"at most {LONGEST_PROMPT:,} characters")
]


class AgentDefinition(Record):
    """A user's definition of a new agent; without a model it gets the deployment's default."""

    model_config = ConfigDict(strict=True)

    name: Name
    description: Description = ""
    model: Model | None = None
    system_prompt: Prompt = ""


class AgentChanges(Record):
    """A user's changes of an agent; omitted fields stay."""

    model_config = ConfigDict(strict=True)

    name: Name | None = None
    description: Description | None = None
    model: Model | None = None
    system_prompt: Prompt | None = None


@dataclass(frozen=True, kw_only=True)
class Models:
    """The models that agents may use: `allowed`, or any if that is empty; and the `usual` one."""

    usual: str
    allowed: tuple[str, ...] = ()

    def takes(self, model: str) -> bool:
        return not self.allowed or model in self.allowed

    def require(self, model: str) -> None:
        """Raise ValidationError naming the allowed models unless this is one."""
        if not self.takes(model):
            raise ValidationError(f"Model: Allowed: {', '.join(self.allowed)}")


@dataclass(frozen=True, kw_only=True)
class Agents:
    book: AgentBook
    models: Models
    now: Callable[[], datetime] = utc_now

    def of_user(self, user_id: str) -> list[Agent]:
        """Return the user's agents by name."""
        found = self.book.of_user(user_id)
        return sorted(found, key=lambda each: (each.name.casefold(), each.id))

    def get(self, user_id: str, agent_id: str) -> Agent:
        """Return the agent; the assistant exists before it is saved. Raises NotFound."""
        agent = self.book.get(user_id, agent_id)
        if agent is None and agent_id == ASSISTANT:
            return assistant_of(user_id, self.models.usual, self.now())
        if agent is None:
            raise NotFound("Agent")
        return agent

    def require_kept(self, user_id: str, agent_id: str) -> None:
        """
        Save the assistant, if it isn't yet, with a model that is offered, so that a runner can read
        it.

        Raises NotFound.
        """
        agent = self.get(user_id, agent_id)
        is_outdated = agent.id == ASSISTANT and not self.models.takes(agent.model)
        if agent.version == 0 or is_outdated:
            model = self.models.usual if is_outdated else agent.model
            with suppress(RecordChanged):  # another window has asked at the same moment
                self.book.save(agent.model_copy(update={"model": model}))

    def create(
        self, user_id: str, definition: AgentDefinition, tools: tuple[AgentTool, ...] = ()
    ) -> Agent:
        """
        Create an agent. Raises LimitReached, or ValidationError for a model that is not allowed.
        """
        model = definition.model or self.models.usual
        self.models.require(model)
        if sum(1 for _ in self.book.of_user(user_id)) >= MOST_AGENTS:
            raise LimitReached("Agent", MOST_AGENTS)
        now = self.now()
        return self.book.save(
            Agent(
                id=f"agent-{secrets.token_hex(12)}",
                user_id=user_id,
                created_at=now,
                updated_at=now,
                available_tools=tools,
                **definition.model_dump() | {"model": model},
            )
        )

    def edit(
        self, user_id: str, agent_id: str, changes: AgentChanges, *, seen: str | None = None
    ) -> Agent:
        """
        Change an agent. `seen` is its mark as the user saw it. The present model may stay.

        Raises NotFound, Conflict, or ValidationError for a model that is not allowed.
        """
        wanted = changes.model_dump(exclude_none=True)

        def change(current: Agent) -> Agent:
            changed = current.model_copy(update=wanted)
            require_seen(current, changed, seen)
            if changed.model != current.model:
                self.models.require(changed.model)
            return changed

        return self.changed(user_id, agent_id, change)

    def remove(self, user_id: str, agent_id: str) -> None:
        """Remove an agent. Raises NotFound."""
        if not self.book.remove(user_id, agent_id):
            raise NotFound("Agent")

    def changed(self, user_id: str, agent_id: str, change: Callable[[Agent], Agent]) -> Agent:
        """
        Save the result of `change` on the current agent, however many others change it.

        Raises NotFound, the errors of `change`, and RecordChanged if others never stop.
        """

        def once() -> Agent:
            found = self.get(user_id, agent_id)
            return self.book.save(change(found).model_copy(update={"updated_at": self.now()}))

        return retried(once, tries=_TRIES, pause=_pause)


# What somebody saw when they began to change it: nobody overwrites what they haven't seen.

_OF_AGENT = {"name", "description", "model", "system_prompt"}
_LENGTH = 16  # hexadecimal digits; it tells two states of one thing apart, and is no secret


def mark_of(thing: Agent | LinkedTool) -> str:
    """Return a mark of an agent's state without its tools, which change independently."""
    content = thing.model_dump_json(include=_OF_AGENT if isinstance(thing, Agent) else None)
    return hashlib.sha256(content.encode()).hexdigest()[:_LENGTH]


def require_seen(current: Agent | LinkedTool, wanted: Agent | LinkedTool, seen: str | None) -> None:
    """
    Raise Conflict unless it is as it was `seen`, or already as it is wanted.

    None means that the user changes it regardless.
    """
    if seen is not None and mark_of(current) not in (seen, mark_of(wanted)):
        what = "agent" if isinstance(current, Agent) else "tool"
        raise Conflict(
            "ChangedMeanwhile",
            f"The {what} was changed in another window; nothing of yours was saved",
        )
