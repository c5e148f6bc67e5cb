"""
The API of users' agents: JSON both ways, as contracts tell it; each function asks one use case.
"""

from typing import Any

from starlette.responses import JSONResponse, Response

from stackroom.errors import KnowledgeBaseNotFound, NotFound
from stackroom_agents.user_agents.agent import Agent
from stackroom_agents.user_agents.agents import AgentChanges, AgentDefinition
from stackroom_agents.user_agents.available_knowledge_bases import (
    MOST_LISTED,
    AvailableKnowledgeBase,
)
from stackroom_agents.user_agents.links import LinkChanges, NewLink
from stackroom_agents.user_agents.runs import NewRun
from stackroom_console.ids import agent_id, run_id
from stackroom_console.problems import NOT_FOUND, Refused
from stackroom_console.request import Request, number, parse


def answered(data: object, *, status: int = 200) -> JSONResponse:
    return JSONResponse({"success": True, "data": data}, status_code=status)


def wire(agent: Agent) -> dict[str, Any]:
    return {
        **agent.model_dump(mode="json", exclude={"user_id", "available_tools"}),
        "available_tools": [each.wire() for each in agent.available_tools],
    }


def listed(request: Request) -> Response:
    found = request.services.agents.of_user(request.user_id)
    return answered({"agents": [wire(each) for each in found]})


def created(request: Request) -> Response:
    definition = parse(AgentDefinition, request.json)
    agent = request.services.agents.create(request.user_id, definition)
    return answered({"agent": wire(agent)}, status=201)


def shown(request: Request) -> Response:
    agent = request.services.agents.get(request.user_id, agent_id(request))
    return answered({"agent": wire(agent)})


def edited(request: Request) -> Response:
    changes = parse(AgentChanges, request.json)
    agent = request.services.agents.edit(request.user_id, agent_id(request), changes)
    return answered({"agent": wire(agent)})


def removed(request: Request) -> Response:
    request.services.chats.remove_agent(request.user_id, agent_id(request))
    return answered({})


# The knowledge bases that an agent asks, as its tools.

_FURTHEST = 1_000_000


def available(request: Request) -> Response:
    """
    Return the knowledge bases that the agent can link, with those that it has linked already. The
    agent must exist.
    """
    services = request.services
    services.agents.get(request.user_id, agent_id(request))
    found = services.available_knowledge_bases.of_user(
        request.user_id,
        limit=number(request.query, "limit", least=1, most=MOST_LISTED, default=MOST_LISTED),
        offset=number(request.query, "offset", least=0, most=_FURTHEST, default=0),
    )
    return answered([_wire(each) for each in found])


def linked(request: Request) -> Response:
    """An agent and a knowledge base that aren't the user's are told alike, by contract."""
    wanted = parse(NewLink, request.json)
    try:
        tool = request.services.agent_links.link(request.user_id, agent_id(request), wanted)
    except (NotFound, KnowledgeBaseNotFound) as error:
        raise Refused(NOT_FOUND) from error
    return answered({"tool": tool.wire()})


def changed(request: Request) -> Response:
    changes = parse(LinkChanges, request.json)
    tool = request.services.agent_links.change(
        request.user_id, agent_id(request), request.path["tool_id"], changes
    )
    return answered({"tool": tool.wire()})


def unlinked(request: Request) -> Response:
    request.services.agent_links.remove(request.user_id, agent_id(request), request.path["tool_id"])
    return answered({})


def _wire(found: AvailableKnowledgeBase) -> dict[str, object]:
    stats = None
    if found.document_count is not None:
        # No store tells how many chunks it has.
        stats = {"documentCount": found.document_count, "chunkCount": None}
    return {
        "id": found.id,
        "name": found.name,
        "description": found.description,
        "stats": stats,
        "defaultMinScore": found.least_score,
    }


# Questions to a user's agents: asked, looked at, called off.


def started(request: Request) -> Response:
    """Start a run and answer 202 at once; GET returns its steps as they come."""
    wanted = parse(NewRun, request.json)
    run = request.services.agent_runs.start(
        request.user_id, agent_id(request), wanted, groups=request.caller.groups
    )
    return answered({"run": run.wire()}, status=202)


def runs_listed(request: Request) -> Response:
    found = request.services.agent_runs.of_agent(request.user_id, agent_id(request))
    return answered({"runs": [each.wire() for each in found]})


def run_shown(request: Request) -> Response:
    run = request.services.agent_runs.get(request.user_id, run_id(request))
    return answered({"run": run.wire()})


def cancelled(request: Request) -> Response:
    run = request.services.agent_runs.cancel(request.user_id, run_id(request))
    return answered({"run": run.wire()})
