"""Questions to a user's agents: asked, looked at, called off."""

from starlette.responses import Response

from stackroom.agents.runs import NewRun
from stackroom_console.api.agents import answered
from stackroom_console.api.parsing import parse
from stackroom_console.ids import agent_id, run_id
from stackroom_console.request import Request


def started(request: Request) -> Response:
    """Accepted, not answered: GET tells its steps as they come."""
    wanted = parse(NewRun, request.json)
    run = request.services.agent_runs.start(
        request.user_id, agent_id(request), wanted, groups=request.caller.groups
    )
    return answered({"run": run.wire()}, status=202)


def listed(request: Request) -> Response:
    found = request.services.agent_runs.of_agent(request.user_id, agent_id(request))
    return answered({"runs": [each.wire() for each in found]})


def shown(request: Request) -> Response:
    run = request.services.agent_runs.get(request.user_id, run_id(request))
    return answered({"run": run.wire()})


def cancelled(request: Request) -> Response:
    run = request.services.agent_runs.cancel(request.user_id, run_id(request))
    return answered({"run": run.wire()})
