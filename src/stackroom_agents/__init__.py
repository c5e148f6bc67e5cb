"""
What runs inside an agent: the catalog tools, and retrieve_from_knowledge_base, for Strands; and
the function of an agent that answers events, and the process of one that people talk to.

- catalog_tools: Strands tools of the same names as the gateway's, over the same definitions
- retrieval_tool: retrieve_from_knowledge_base, over the pool or over linked knowledge bases
- registry: the knowledge bases that an agent was given, and what needs no agent to search them;
  what the environment and a system prompt say of them
- observability: what is written down of searches, and what is not
- batch_handler, batch: an agent on events, one at a time or from a queue
- interactive: the process of an agent that people talk to
- strands_conversations: runs of users' agents, talked through with a model
- user_agents: agents that users make, their links, chats and runs; needs no Strands
- tool_context: who is asking, from the invocation state, and the audit line of each call
- configuration: the use cases behind the tools; from the environment, or a project

    from strands import Agent
    from stackroom_agents.catalog_tools import catalog_tools
    from stackroom_agents.configuration import from_project

    agent = Agent(tools=catalog_tools(from_project()))  # by default from environment variables
    agent("Which catalogs do I have?", invocation_state={"user_id": "alice"})

Each tool can be imported from here by its name, too; by environment variables, then:

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
    """A tool. Raises pydantic's ValidationError naming what is missing of the environment."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _tools()[name]


@cache
def _tools() -> dict[str, Any]:
    # Imported here, since the functions of agents, which need none of them, start faster without.
    from stackroom_agents.catalog_tools import catalog_tools  # noqa: PLC0415 - see above

    return {each.tool_name: each for each in catalog_tools()}
