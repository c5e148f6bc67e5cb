"""A user's agent and its tools, as they are stored; the wire names are contracts."""

from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, ConfigDict, Field, NonNegativeInt
from pydantic.alias_generators import to_camel

from stackroom.model.records import Record

MOST_RESULTS = 20
DEFAULT_RESULTS = 5
DEFAULT_LEAST_SCORE = 0.7

# Descriptions say what is allowed, for whoever gave something else.
TopK = Annotated[
    int, Field(ge=1, le=MOST_RESULTS, description=f"a whole number from 1 to {MOST_RESULTS}")
]
LeastScore = Annotated[float, Field(ge=0, le=1, description="a number from 0 to 1")]


class KnowledgeBaseLink(Record):
    """
    The knowledge base that a tool searches, and how it does if the model asks for nothing else.

    The name is that of the day on which it was linked: it is shown when the knowledge base is gone.
    """

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)

    knowledge_base_id: str
    knowledge_base_name: str
    default_top_k: TopK = DEFAULT_RESULTS
    default_min_score: LeastScore = DEFAULT_LEAST_SCORE


class LinkedTool(Record):
    """A tool that searches one knowledge base."""

    id: str
    name: str
    description: str
    type: Literal["knowledge_base"] = "knowledge_base"
    config: KnowledgeBaseLink

    def wire(self) -> dict[str, Any]:
        """Return the tool with the schema of a model's arguments."""
        schema = {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for."},
                "topK": {
                    "type": "number",
                    "description": "How many passages to return at most.",
                    "default": self.config.default_top_k,
                    "minimum": 1,
                    "maximum": MOST_RESULTS,
                },
                "minScore": {
                    "type": "number",
                    "description": "Leave out passages that score less.",
                    "default": self.config.default_min_score,
                    "minimum": 0,
                    "maximum": 1,
                },
            },
            "required": ["query"],
        }
        return {**self.model_dump(mode="json", by_alias=True), "schema": schema}


class OtherTool(Record):
    """A tool of an unknown type, which is never carried out; it came with an imported agent."""

    id: str
    name: str
    description: str
    type: str
    parameters: dict[str, Any] = Field(alias="schema", default_factory=dict)
    config: dict[str, Any] = Field(default_factory=dict)

    def wire(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)


AgentTool = LinkedTool | OtherTool


class Agent(Record):
    """
    A user's agent.

    `model` is the id of a model or of an inference profile, as Converse takes it. `version` counts
    the writes, each conditional on the one that was read; it is 0 until first saved.
    """

    id: str
    user_id: str
    name: str
    description: str = ""
    model: str
    system_prompt: str = ""
    available_tools: tuple[AgentTool, ...] = ()
    created_at: AwareDatetime
    updated_at: AwareDatetime
    version: NonNegativeInt = 0

    @property
    def linked_tools(self) -> tuple[LinkedTool, ...]:
        return tuple(each for each in self.available_tools if isinstance(each, LinkedTool))

    def tool(self, tool_id: str) -> AgentTool | None:
        return next((each for each in self.available_tools if each.id == tool_id), None)

    def with_tools(self, tools: tuple[AgentTool, ...]) -> Self:
        return self.model_copy(update={"available_tools": tools})
