"""
The code that runs inside agents: their tools for Strands, and the processes of agents.

- catalog_tools: Strands tools of the same names as the gateway's, over the same definitions -
retrieval_tool: retrieve_from_knowledge_base, over the pool or over linked knowledge bases -
registry: an agent's knowledge bases, their tools, and their part of the system prompt; searching
them needs no agent - observability: the logs and metrics of searches - batch_handler, batch: an
agent on events, one at a time or from a queue - interactive: the process of an agent that people
talk to - strands_conversations: runs of users' agents as conversations with a model - user_agents:
agents that users make, their links, chats and runs; needs no Strands - tool_context: the caller,
from the invocation state, and the audit line of each call - configuration: the use cases behind the
tools, from the environment or a deployed project

    from strands import Agent
    from stackroom_agents.catalog_tools import catalog_tools
    from stackroom_agents.configuration import from_project

    agent = Agent(tools=catalog_tools(from_project()))  # by default from environment variables
    agent("Which catalogs do I have?", invocation_state={"user_id": "alice"})

Each tool can also be imported from here by its name, and then reads environment variables:

    from stackroom_agents import list_catalogs, query_catalog

    agent = Agent(tools=[list_catalogs, query_catalog])

Imports stackroom, and nothing of functions or the local mode. Needs the extra `agents`.
"""

from functools import cache
from typing import Any

__all__ = [
    "create_catalog",
    "delete_catalog",
    "delete_catalog_document",
    "download_from_catalog",
    "feedback",
    "get_indexing_status",
    "get_usage",
    "list_catalog_documents",
    "list_catalogs",
    "list_events",
    "list_feedback",
    "query_catalog",
    "retrieve_from_knowledge_base",
    "select_catalog",
    "update_catalog",
    "upload_to_catalog",
]


def __getattr__(name: str) -> Any:
    """Return a tool. Raises pydantic's ValidationError naming missing environment variables."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _tools()[name]


@cache
def _tools() -> dict[str, Any]:
    # Imported here, since the functions of agents, which need none of them, start faster without.
    from stackroom_agents.catalog_tools import catalog_tools  # noqa: PLC0415 - see above

    return {each.tool_name: each for each in catalog_tools()}
