"""A knowledge base as a tool of an agent: linked, asked otherwise from now on, taken away."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from stackroom.agent import (
    DEFAULT_RESULTS,
    Agent,
    KnowledgeBaseLink,
    LeastScore,
    LinkedTool,
    TopK,
)
from stackroom.agents.agents import Agents
from stackroom.agents.available import AvailableKnowledgeBase, AvailableKnowledgeBases
from stackroom.agents.etag import require_seen
from stackroom.agents.tool_names import (
    ALLOWED,
    is_tool_name,
    new_tool_id,
    require_free,
    tool_name_of,
)
from stackroom.clock import utc_now
from stackroom.errors import (
    KnowledgeBaseLinked,
    KnowledgeBaseNotFound,
    NotKnowledgeBaseTool,
    ToolLimitReached,
    ToolNotFound,
)
from stackroom.gateway.plain_text import Line, Text
from stackroom.model import Record

MOST_TOOLS = 100  # of an agent: some 60 kB of its item


def _tool_name(name: str) -> str:
    if not is_tool_name(name):
        raise ValueError(ALLOWED)
    return name


ToolName = Annotated[Line, AfterValidator(_tool_name), Field(description=ALLOWED)]
ToolDescription = Annotated[
    Text,
    AfterValidator(str.strip),
    Field(min_length=1, max_length=500, description="1 to 500 characters"),
]
_WIRE = ConfigDict(alias_generator=to_camel, validate_by_name=True, strict=True)


class NewLink(Record):
    model_config = _WIRE

    knowledge_base_id: Line = Field(
        min_length=1, max_length=100, description="the id of a knowledge base"
    )
    tool_name: ToolName
    tool_description: ToolDescription
    default_top_k: TopK = DEFAULT_RESULTS
    default_min_score: LeastScore | None = None  # that of the knowledge base


class LinkChanges(Record):
    """What is not named stays."""

    model_config = _WIRE

    tool_name: ToolName | None = None
    tool_description: ToolDescription | None = None
    default_top_k: TopK | None = None
    default_min_score: LeastScore | None = None


@dataclass(frozen=True, kw_only=True)
class Links:
    agents: Agents
    available: AvailableKnowledgeBases
    now: Callable[[], datetime] = utc_now

    def offered(self, user_id: str, agent_id: str, knowledge_base_id: str) -> NewLink:
        """
        What is added where the user says nothing else.

        Raises AgentNotFound or KnowledgeBaseNotFound.
        """
        agent = self.agents.get(user_id, agent_id)
        found = self._found(user_id, knowledge_base_id)
        taken = {each.name for each in agent.available_tools}
        return NewLink(
            knowledge_base_id=found.id,
            tool_name=tool_name_of(found.name, taken=taken),
            tool_description=f"Search {found.name[:400]} knowledge base",
            default_min_score=found.least_score,
        )

    def is_gone(self, user_id: str, tool: LinkedTool) -> bool:
        """Whether the knowledge base that it asks is no more, or was never this user's."""
        return self.available.find(user_id, tool.config.knowledge_base_id) is None

    def link(self, user_id: str, agent_id: str, wanted: NewLink) -> LinkedTool:
        """
        Raises AgentNotFound, KnowledgeBaseNotFound, KnowledgeBaseLinked, ToolNameTaken or
        ToolLimitReached.
        """
        self.agents.get(user_id, agent_id)
        found, least = self._found(user_id, wanted.knowledge_base_id), wanted.default_min_score
        tool = LinkedTool(
            id=new_tool_id(self.now()),
            name=wanted.tool_name,
            description=wanted.tool_description,
            config=KnowledgeBaseLink(
                knowledge_base_id=found.id,
                knowledge_base_name=found.name,
                default_top_k=wanted.default_top_k,
                default_min_score=found.least_score if least is None else least,
            ),
        )
        self.agents.changed(user_id, agent_id, lambda agent: _with(agent, tool))
        return tool

    def change(
        self,
        user_id: str,
        agent_id: str,
        tool_id: str,
        changes: LinkChanges,
        *,
        seen: str | None = None,
    ) -> LinkedTool:
        """
        `seen` is its mark as its user saw it. Raises AgentNotFound, ToolNotFound,
        NotKnowledgeBaseTool, ToolNameTaken or ChangedMeanwhile.
        """

        def change(agent: Agent) -> Agent:
            there = _linked(agent, tool_id)
            changed = _changed(there, changes)
            require_seen(there, changed, seen)
            require_free(agent, changed)
            kept = (changed if each.id == tool_id else each for each in agent.available_tools)
            return agent.with_tools(tuple(kept))

        return _linked(self.agents.changed(user_id, agent_id, change), tool_id)

    def remove(self, user_id: str, agent_id: str, tool_id: str) -> None:
        """A tool of any type. Raises AgentNotFound or ToolNotFound."""

        def change(agent: Agent) -> Agent:
            if agent.tool(tool_id) is None:
                raise ToolNotFound
            kept = (each for each in agent.available_tools if each.id != tool_id)
            return agent.with_tools(tuple(kept))

        self.agents.changed(user_id, agent_id, change)

    def _found(self, user_id: str, knowledge_base_id: str) -> AvailableKnowledgeBase:
        found = self.available.find(user_id, knowledge_base_id)
        if found is None:
            raise KnowledgeBaseNotFound("Knowledge base")
        return found


def _with(agent: Agent, tool: LinkedTool) -> Agent:
    linked = {each.config.knowledge_base_id for each in agent.linked_tools}
    if tool.config.knowledge_base_id in linked:
        raise KnowledgeBaseLinked
    require_free(agent, tool)
    if len(agent.available_tools) >= MOST_TOOLS:
        raise ToolLimitReached(MOST_TOOLS)
    return agent.with_tools((*agent.available_tools, tool))


def _linked(agent: Agent, tool_id: str) -> LinkedTool:
    found = agent.tool(tool_id)
    if found is None:
        raise ToolNotFound
    if not isinstance(found, LinkedTool):
        raise NotKnowledgeBaseTool
    return found


def _changed(tool: LinkedTool, changes: LinkChanges) -> LinkedTool:
    named = {"name": changes.tool_name, "description": changes.tool_description}
    asked = changes.model_dump(include={"default_top_k", "default_min_score"}, exclude_none=True)
    return tool.model_copy(
        update={
            **{name: each for name, each in named.items() if each is not None},
            "config": tool.config.model_copy(update=asked),
        }
    )
