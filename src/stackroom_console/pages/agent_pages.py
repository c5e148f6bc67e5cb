"""A user's agents: listed, made, changed, removed, exported and imported."""

import json
from dataclasses import dataclass

from starlette.responses import Response

from stackroom.agents.agent import Agent, LinkedTool, OtherTool
from stackroom.agents.agents import AgentChanges, AgentDefinition
from stackroom.agents.exchange import exported, imported
from stackroom.agents.links import plain_name
from stackroom.tools.tools import tools_config
from stackroom_console.ids import agent_id
from stackroom_console.rendering import redirect, render
from stackroom_console.request import Request, parse

_LABELS = {
    "name": "Name",
    "description": "Description",
    "model": "Model",
    "system_prompt": "Prompt",
}
_LONGEST_FILE = 60  # characters of a name


def page(request: Request) -> Response:
    return render(request, "agents.html", agents=request.services.agents.of_user(request.user_id))


def blank(request: Request) -> Response:
    models = request.services.agents.models
    return render(request, "agent.html", agent=None, cards=(), model=models.usual, models=models)


def create(request: Request) -> Response:
    definition = parse(AgentDefinition, _fields(request), called=_LABELS)
    agent = request.services.agents.create(request.user_id, definition)
    return redirect(request, path_of(agent))


def builder(request: Request) -> Response:
    agent = request.services.agents.get(request.user_id, agent_id(request))
    return render(
        request,
        "agent.html",
        agent=agent,
        cards=cards_of(request, agent),
        model=agent.model,
        models=request.services.agents.models,
    )


def save(request: Request) -> Response:
    changes = parse(AgentChanges, _fields(request), called=_LABELS)
    seen = request.form.get("seen")
    agent = request.services.agents.edit(request.user_id, agent_id(request), changes, seen=seen)
    return redirect(request, f"{path_of(agent)}?saved")


def removal(request: Request) -> Response:
    agent = request.services.agents.get(request.user_id, agent_id(request))
    return render(request, "agent_delete.html", agent=agent)


def remove(request: Request) -> Response:
    request.services.agents.remove(request.user_id, agent_id(request))
    return redirect(request, "/agents")


def export(request: Request) -> Response:
    agent = request.services.agents.get(request.user_id, agent_id(request))
    text = json.dumps(exported(agent), indent=2, ensure_ascii=False) + "\n"
    return _file(text, f"{plain_name(agent.name)[:_LONGEST_FILE] or 'agent'}.json")


def import_dialog(request: Request) -> Response:
    return render(request, "agent_import.html")


def import_agent(request: Request) -> Response:
    agents = request.services.agents
    definition, tools = imported(request.form.get("agent", ""))
    is_offered = definition.model is None or agents.models.takes(definition.model)
    if not is_offered:  # where it comes from, agents may have others
        definition = definition.model_copy(update={"model": None})
    agent = agents.create(request.user_id, definition, tools)
    return redirect(request, path_of(agent) + ("" if is_offered else "?another-model"))


def tools_configuration(_request: Request) -> Response:
    """For a chat front end: how it shows the gateway's catalog tools."""
    return _file(tools_config(), "tools-config.json")


def path_of(agent: Agent) -> str:
    return f"/agents/{agent.id}"


def _fields(request: Request) -> dict[str, str]:
    """Browsers end a line with CR LF [HTML: form submission], and nobody types that."""
    given = {name: request.form[name] for name in _LABELS if name in request.form}
    return {name: text.replace("\r\n", "\n") for name, text in given.items()}


def _file(text: str, name: str) -> Response:
    return Response(
        text,
        media_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


# The tools of an agent, as its page shows them.


@dataclass(frozen=True, kw_only=True)
class Card:
    """A tool as the builder shows it; `is_gone` if what it asks is no more."""

    tool: LinkedTool | OtherTool
    is_gone: bool

    @property
    def is_linked(self) -> bool:
        return isinstance(self.tool, LinkedTool)


def cards_of(request: Request, agent: Agent) -> list[Card]:
    links = request.services.agent_links
    return [
        Card(
            tool=each,
            is_gone=isinstance(each, LinkedTool) and links.is_gone(request.user_id, each),
        )
        for each in agent.available_tools
    ]
