"""A user's agents: listed, made, changed, removed, exported and imported."""

import json
from dataclasses import dataclass

from starlette.responses import Response

from stackroom.tools.tools import tools_config
from stackroom_agents.user_agents.agent import Agent, LinkedTool, OtherTool
from stackroom_agents.user_agents.agents import AgentChanges, AgentDefinition, mark_of
from stackroom_agents.user_agents.exchange import exported, imported
from stackroom_agents.user_agents.links import plain_name
from stackroom_console.ids import agent_id
from stackroom_console.messages import N_
from stackroom_console.pages import agent_test
from stackroom_console.pages.prompt_templates import PROMPT_TEMPLATES
from stackroom_console.rendering import redirect, render
from stackroom_console.request import Request, parse

_LABELS = {
    "name": N_("Name"),
    "description": N_("Description"),
    "model": N_("Model"),
    "system_prompt": N_("Instructions"),
}
_LONGEST_FILE = 60  # characters of a name


def page(request: Request) -> Response:
    agents = request.services.agents.of_user(request.user_id)
    there = request.services.available_knowledge_bases.ids(request.user_id)
    gone = {
        agent.id: [
            each.config.knowledge_base_name
            for each in agent.linked_tools
            if each.config.knowledge_base_id not in there
        ]
        for agent in agents
    }
    return render(request, "agents.html", agents=agents, gone=gone)


def blank(request: Request) -> Response:
    return _builder(request, None)


def create(request: Request) -> Response:
    definition = parse(AgentDefinition, _fields(request), called=_LABELS)
    agent = request.services.agents.create(request.user_id, definition)
    return redirect(request, path_of(agent))


def builder(request: Request) -> Response:
    return _builder(request, request.services.agents.get(request.user_id, agent_id(request)))


def save(request: Request) -> Response:
    changes = parse(AgentChanges, _fields(request), called=_LABELS)
    agent = request.services.agents.edit(
        request.user_id, agent_id(request), changes, seen=request.form.get("seen")
    )
    return redirect(request, f"{path_of(agent)}?saved")


def removal(request: Request) -> Response:
    agent = request.services.agents.get(request.user_id, agent_id(request))
    return render(request, "agent_delete.html", agent=agent)


def remove(request: Request) -> Response:
    request.services.chats.remove_agent(request.user_id, agent_id(request))
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
    """Return the file that tells a chat front end how to show the gateway's catalog tools."""
    return _file(tools_config(), "tools-config.json")


def path_of(agent: Agent) -> str:
    return f"/agents/{agent.id}"


def _builder(request: Request, agent: Agent | None) -> Response:
    """Return the builder's page; without an agent, for a new one."""
    models = request.services.agents.models
    there = {} if agent is None else agent.model_dump(include=set(_LABELS))
    return render(
        request,
        "agent.html",
        agent=agent,
        fields={**dict.fromkeys(_LABELS, ""), "model": models.usual, **there},
        seen=agent and mark_of(agent),
        cards=() if agent is None else cards_of(request, agent),
        models=models,
        templates=PROMPT_TEMPLATES,
        **({} if agent is None else agent_test.shown(request, agent)),
    )


def _fields(request: Request) -> dict[str, str]:
    return {name: request.form[name] for name in _LABELS if name in request.form}


def _file(text: str, name: str) -> Response:
    return Response(
        text,
        media_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


# The tools of an agent, as its page shows them.


@dataclass(frozen=True, kw_only=True)
class Card:
    """
    A tool as the builder shows it; `is_gone` if what it asks is no more, `is_empty` if there are no
    documents in it yet.
    """

    tool: LinkedTool | OtherTool
    is_gone: bool = False
    is_empty: bool = False

    @property
    def is_linked(self) -> bool:
        return isinstance(self.tool, LinkedTool)


def cards_of(request: Request, agent: Agent) -> list[Card]:
    return [_card(request, each) for each in agent.available_tools]


def _card(request: Request, tool: LinkedTool | OtherTool) -> Card:
    if not isinstance(tool, LinkedTool):
        return Card(tool=tool)
    available = request.services.available_knowledge_bases
    found = available.find(request.user_id, tool.config.knowledge_base_id)
    is_empty = found is not None and found.document_count == 0
    return Card(tool=tool, is_gone=found is None, is_empty=is_empty)
