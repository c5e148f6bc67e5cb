"""What was asked of an agent, and the steps that it takes to answer, as they come."""

from starlette.responses import Response

from stackroom.agents.agent import Agent
from stackroom.agents.agent_run import AgentRun
from stackroom.agents.runs import LONGEST_MESSAGE, NewRun
from stackroom_console.ids import agent_id, run_id
from stackroom_console.rendering import Watch, done, redirect, render, watch
from stackroom_console.request import Request, parse


def page(request: Request) -> Response:
    agent, runs = _shown(request)
    return render(
        request,
        "chat.html",
        agent=agent,
        runs=runs,
        watch=_watch(request, runs),
        longest=LONGEST_MESSAGE,
    )


def part(request: Request) -> Response:
    """Of the page what changes by itself."""
    agent, runs = _shown(request)
    watching = _watch(request, runs)
    return render(request, "parts/chat_watched.html", agent=agent, runs=runs, watch=watching)


def ask(request: Request) -> Response:
    message = request.form.get("message", "").replace("\r\n", "\n")
    wanted = parse(NewRun, {"message": message}, called={"message": "Question"})
    chosen = agent_id(request)
    request.services.agent_runs.start(request.user_id, chosen, wanted, groups=request.caller.groups)
    return redirect(request, f"/agents/{chosen}/chat")


def cancel(request: Request) -> Response:
    run = request.services.agent_runs.cancel(request.user_id, run_id(request))
    return done(request, f"/agents/{run.agent_id}/chat")


def _shown(request: Request) -> tuple[Agent, list[AgentRun]]:
    """The runs in the order in which they were asked for."""
    agent = request.services.agents.get(request.user_id, agent_id(request))
    return agent, request.services.agent_runs.of_agent(request.user_id, agent.id)[::-1]


def _watch(request: Request, runs: list[AgentRun]) -> Watch:
    shown = [(each.id, each.version, each.state, each.is_cancel_asked) for each in runs]
    is_under_way = any(not each.is_over for each in runs)
    path = f"/agents/{agent_id(request)}/chat/part"
    return watch(request, path, shown, is_under_way=is_under_way)
