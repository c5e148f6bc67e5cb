"""A user's agents."""

from typing import Any

from starlette.responses import JSONResponse, Response

from stackroom.agent import Agent
from stackroom.agents.agents import AgentChanges, AgentDefinition
from stackroom_console.api.parsing import parse
from stackroom_console.ids import agent_id
from stackroom_console.request import Request


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
    request.services.agents.remove(request.user_id, agent_id(request))
    return answered({})
