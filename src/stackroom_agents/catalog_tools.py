"""
The catalog tools as Strands tools, for an agent in its own process.

    from stackroom_agents.catalog_tools import catalog_tools
    from stackroom_agents.configuration import from_project

    agent = Agent(tools=catalog_tools(from_project()))
    agent("Make a catalog for my travel notes.", invocation_state={"user_id": "alice"})

Each is a `@tool(context=True)` function whose only parameter is `tool_context`. From a longer
signature Strands would make a pydantic model of its own, which drops unknown arguments and turns
"true" into true, before a function could refuse them. So name, description and schema are the
definition's, and the arguments are read from `tool_context.tool_use`, as the model wrote them: one
definition validates them here and behind the gateway, with the same messages.

Call them through the agent's loop. `agent.tool.create_catalog(...)` has no invocation state except
its own arguments, so it is refused.
"""

from typing import Any

from strands.types.tools import ToolContext

from stackroom.access.identity import ToolCall
from stackroom.tools.calls import Calls, Response
from stackroom.tools.definition import CatalogTool
from stackroom.tools.tools import TOOLS
from stackroom_agents.configuration import from_environment
from stackroom_agents.retrieval_tool import retrieval_tool
from stackroom_agents.tool_context import (
    AgentServices,
    StrandsTool,
    caller_of,
    report,
    strands_tool,
)


# The list is of Any, since Strands' Agent takes no list of one kind of tool: lists are invariant.
def catalog_tools(use_cases: AgentServices | None = None) -> list[Any]:
    """
    Return all tools, `retrieve_from_knowledge_base` last.

    By default they are configured by environment variables (`configuration.from_environment`). A
    result has `content` and `status`, which a model sees, and `metadata` for programs.
    """
    services = use_cases or from_environment()
    calls = Calls(services=services, log=report)
    return [
        *(_twin(each, calls) for each in TOOLS),
        retrieval_tool(lambda: services.metered_retrieval),
    ]


def _twin(definition: CatalogTool[Any, Any], calls: Calls) -> StrandsTool:
    def answer(tool_context: ToolContext[Any]) -> Response:
        return calls.answer(
            tool_context.tool_use["input"],
            lambda: ToolCall(definition.name, caller_of(tool_context.invocation_state)),
        )

    return strands_tool(definition, answer)
