"""An agent as a file, to be stored, shared, and imported somewhere else."""

import json
from typing import Annotated, Any, Literal

import pydantic
from pydantic import ConfigDict, Field, StringConstraints

from stackroom.access.tool import Line, Text
from stackroom.errors import ValidationError
from stackroom.model.records import Record
from stackroom_agents.user_agents.agent import (
    Agent,
    AgentTool,
    KnowledgeBaseLink,
    LinkedTool,
    OtherTool,
)
from stackroom_agents.user_agents.agents import AgentDefinition
from stackroom_agents.user_agents.links import MOST_TOOLS, ToolDescription, ToolName, unique

FORMAT = "stackroom-agent"
LARGEST = 200 * 1024  # characters; with it an agent fits DynamoDB's 400 kB in any script
_NO_AGENT = "The file is not an agent in the form that Export writes"
_Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,100}$")]


class _Linked(Record):
    """A linked tool in a file; the schema it was exported with follows from its other fields."""

    model_config = ConfigDict(extra="ignore")

    id: _Id
    name: ToolName
    description: ToolDescription
    type: Literal["knowledge_base"]
    config: KnowledgeBaseLink

    def tool(self) -> AgentTool:
        return LinkedTool(**dict(self))


class _Other(Record):
    id: _Id
    name: Line = Field(min_length=1, max_length=100)
    description: Text = Field(default="", max_length=500)
    type: Line = Field(min_length=1, max_length=100)
    parameters: dict[str, Any] = Field(alias="schema", default_factory=dict)
    config: dict[str, Any] = Field(default_factory=dict)

    def tool(self) -> AgentTool:
        return OtherTool.model_validate(self.model_dump(by_alias=True))


class _Exported(AgentDefinition):
    available_tools: tuple[_Linked | _Other, ...] = Field(default=(), max_length=MOST_TOOLS)


class _File(Record):
    format: Literal["stackroom-agent"]
    version: Literal[1]
    agent: _Exported


def exported(agent: Agent) -> dict[str, Any]:
    """
    Return an agent without its owner. It names knowledge bases by id, and has nothing of documents.
    """
    fields = agent.model_dump(include={"name", "description", "model", "system_prompt"})
    tools = [each.wire() for each in agent.available_tools]
    return {"format": FORMAT, "version": 1, "agent": {**fields, "available_tools": tools}}


def imported(text: str) -> tuple[AgentDefinition, tuple[AgentTool, ...]]:
    """Parse an agent's file. Raises ValidationError naming the part that is wrong."""
    if len(text) > LARGEST:
        raise ValidationError(f"The file is larger than {LARGEST // 1024} KB")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise ValidationError("The file is not JSON; export an agent to see the format") from None
    try:
        # As JSON again, in which a list is a tuple to a strict model.
        described = _File.model_validate_json(json.dumps(given)).agent
    except pydantic.ValidationError as error:
        raise ValidationError(f"{_NO_AGENT}: {_problem(error)}") from None
    definition = AgentDefinition(**described.model_dump(exclude={"available_tools"}))
    return definition, _require_distinct([each.tool() for each in described.available_tools])


def _problem(error: pydantic.ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(str(each)[:40] for each in first["loc"]) or "the whole"
    wrong = "it is missing" if first["type"] == "missing" else first["msg"]
    return f"{place}: {wrong}"


def _require_distinct(tools: list[AgentTool]) -> tuple[AgentTool, ...]:
    """
    Require unique names, by which a model calls tools, and unique ids. Raises ValidationError.
    """
    ids = [each.id for each in tools]
    if len(set(ids)) < len(ids):
        raise ValidationError(f"{_NO_AGENT}: two of its tools have the same id")
    named: dict[str, AgentTool] = {}
    for each in tools:
        name = unique(each.name, taken=named)
        named[name] = each.model_copy(update={"name": name})
    return tuple(named.values())
