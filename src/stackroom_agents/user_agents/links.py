"""Knowledge bases as an agent's tools: link them, change how they are searched, remove them."""

import re
import secrets
import string
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from anyascii import anyascii
from pydantic import AfterValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from stackroom.access.tool import Line, Text
from stackroom.clock import utc_now
from stackroom.errors import (
    Conflict,
    KnowledgeBaseNotFound,
    LimitReached,
    NotFound,
)
from stackroom.model.records import Record
from stackroom_agents.user_agents.agent import (
    DEFAULT_RESULTS,
    Agent,
    AgentTool,
    KnowledgeBaseLink,
    LeastScore,
    LinkedTool,
    TopK,
)
from stackroom_agents.user_agents.agents import Agents, require_seen
from stackroom_agents.user_agents.available_knowledge_bases import (
    AvailableKnowledgeBase,
    AvailableKnowledgeBases,
)

# What a tool that asks a knowledge base is called: by its name, in letters that models take; and
# its id.

# Converse takes names of [a-zA-Z0-9_-]{1,64} [API reference: ToolSpecification].
LONGEST = 64
LONGEST_DESCRIPTION = 500
_ALLOWED = f"1 to {LONGEST} of the letters a-z and A-Z, digits, '_' and '-'"
_PREFIX = "search_"
_NAMELESS = "catalog"  # where the name has no letter and no digit that a model takes
_BASE_36 = string.digits + string.ascii_lowercase
_FORM = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def tool_name_of(knowledge_base: str, *, taken: Collection[str] = ()) -> str:
    """
    Return the name of a knowledge base's tool: `search_` and its name, with a number if it is
    taken.
    """
    name = _PREFIX + (plain_name(knowledge_base) or _NAMELESS)
    return unique(name[:LONGEST], taken=taken)


def plain_name(name: str) -> str:
    """Return the name in a to z, digits, `_` and `-`; empty if it has no such letter or digit."""
    lowered = re.sub(r"\s+", "_", name.strip().lower())
    plain = re.sub(r"[^a-z0-9_-]", "", anyascii(lowered).lower().replace(" ", "_"))
    return plain if plain.strip("_-") else ""


def _new_tool_id(now: datetime) -> str:
    """Return an id of the contract's form, `tool_kb_{epoch ms}_{7 base36}`."""
    milliseconds = int(now.timestamp() * 1000)
    return f"tool_kb_{milliseconds}_" + "".join(secrets.choice(_BASE_36) for _ in range(7))


def require_free(agent: Agent, tool: AgentTool) -> None:
    """
    Raise Conflict if a tool of this name exists, or one that differs by `-` and `_` alone.

    A model calls a tool by its name, and Strands refuses such pairs.
    """
    others = (each for each in agent.available_tools if each.id != tool.id)
    if any(alike(each.name) == alike(tool.name) for each in others):
        raise Conflict("ToolNameTaken", f"The agent has a tool named '{tool.name}' already")


def unique(name: str, *, taken: Collection[str]) -> str:
    """
    Return the name, or the name with the least number from 2 on that makes it unlike all others.
    """
    number, free, known = 1, name, {alike(each) for each in taken}
    while alike(free) in known:
        number += 1
        free = f"{name[: LONGEST - len(str(number)) - 1]}_{number}"
    return free


def alike(name: str) -> str:
    """Return a form of the name that must be unique among an agent's tools."""
    return name.replace("-", "_")


MOST_TOOLS = 100  # of an agent: some 60 kB of its item


def _tool_name(name: str) -> str:
    if not _FORM.fullmatch(name):
        raise ValueError(_ALLOWED)
    return name


ToolName = Annotated[Line, AfterValidator(_tool_name), Field(description=_ALLOWED)]
ToolDescription = Annotated[
    Text,
    AfterValidator(str.strip),
    Field(
        min_length=1,
        max_length=LONGEST_DESCRIPTION,
        description=f"1 to {LONGEST_DESCRIPTION} characters",
    ),
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
    """A user's changes of a link; omitted fields stay."""

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
        Return a link with the default values for a knowledge base.

        Raises NotFound or KnowledgeBaseNotFound.
        """
        agent = self.agents.get(user_id, agent_id)
        found = self._found(user_id, knowledge_base_id)
        taken = {each.name for each in agent.available_tools}
        return NewLink(
            knowledge_base_id=found.id,
            tool_name=tool_name_of(found.name, taken=taken),
            tool_description=_described(found),
            default_min_score=found.least_score,
        )

    def link(self, user_id: str, agent_id: str, new_link: NewLink) -> LinkedTool:
        """
        Link a knowledge base. Raises NotFound, KnowledgeBaseNotFound, Conflict or LimitReached.
        """
        self.agents.get(user_id, agent_id)
        found, least = self._found(user_id, new_link.knowledge_base_id), new_link.default_min_score
        tool = LinkedTool(
            id=_new_tool_id(self.now()),
            name=new_link.tool_name,
            description=new_link.tool_description,
            config=KnowledgeBaseLink(
                knowledge_base_id=found.id,
                knowledge_base_name=found.name,
                default_top_k=new_link.default_top_k,
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
        """Change a link. `seen` is its mark as the user saw it. Raises NotFound or Conflict."""

        def change(agent: Agent) -> Agent:
            current = _linked(agent, tool_id)
            changed = _changed(current, changes)
            require_seen(current, changed, seen)
            require_free(agent, changed)
            kept = (changed if each.id == tool_id else each for each in agent.available_tools)
            return agent.with_tools(tuple(kept))

        return _linked(self.agents.changed(user_id, agent_id, change), tool_id)

    def remove(self, user_id: str, agent_id: str, tool_id: str) -> None:
        """Remove a tool of any type. Raises NotFound."""

        def change(agent: Agent) -> Agent:
            if agent.tool(tool_id) is None:
                raise NotFound("Tool")
            kept = (each for each in agent.available_tools if each.id != tool_id)
            return agent.with_tools(tuple(kept))

        self.agents.changed(user_id, agent_id, change)

    def _found(self, user_id: str, knowledge_base_id: str) -> AvailableKnowledgeBase:
        found = self.available.find(user_id, knowledge_base_id)
        if found is None:
            raise KnowledgeBaseNotFound("Knowledge base")
        return found


def _described(found: AvailableKnowledgeBase) -> str:
    """Return a description that tells a model when to search, with the knowledge base's own."""
    purpose = f"Search {found.name[:400]} knowledge base"
    about = found.description.strip()
    return f"{purpose}: {about}"[:LONGEST_DESCRIPTION].rstrip() if about else purpose


def _with(agent: Agent, tool: LinkedTool) -> Agent:
    linked = {each.config.knowledge_base_id for each in agent.linked_tools}
    if tool.config.knowledge_base_id in linked:
        raise Conflict("KnowledgeBaseLinked", "KB already linked")
    require_free(agent, tool)
    if len(agent.available_tools) >= MOST_TOOLS:
        raise LimitReached("Tool", MOST_TOOLS)
    return agent.with_tools((*agent.available_tools, tool))


def _linked(agent: Agent, tool_id: str) -> LinkedTool:
    found = agent.tool(tool_id)
    if found is None:
        raise NotFound("Tool")
    if not isinstance(found, LinkedTool):
        raise Conflict("NotKnowledgeBaseTool", "Not a KB tool")
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
