"""The dialogs in which knowledge bases are linked to an agent, asked otherwise, and taken away."""

from starlette.responses import Response

from stackroom.errors import NotFound
from stackroom_agents.user_agents.available_knowledge_bases import MOST_LISTED
from stackroom_agents.user_agents.links import LinkChanges, NewLink
from stackroom_console.ids import agent_id
from stackroom_console.messages import N_
from stackroom_console.pages.agent_pages import cards_of
from stackroom_console.rendering import redirect, render
from stackroom_console.request import Request, parse

# The form's fields, by the names of the API.
_FIELDS = {
    "tool_name": "toolName",
    "tool_description": "toolDescription",
    "top_k": "defaultTopK",
    "min_score": "defaultMinScore",
}

_LABELS = {
    "toolName": N_("Tool name"),
    "toolDescription": N_("Tool description"),
    "defaultTopK": N_("Top K results"),
    "defaultMinScore": N_("Similarity threshold"),
}


def choice(request: Request) -> Response:
    """View kb-list."""
    services = request.services
    agent = services.agents.get(request.user_id, agent_id(request))
    search = request.query.get("search", "").strip()
    found = services.available_knowledge_bases.of_user(request.user_id, search=search)
    linked = {each.config.knowledge_base_id for each in agent.linked_tools}
    return render(
        request,
        "knowledge_bases.html",
        agent=agent,
        knowledge_bases=found,
        linked=linked,
        search=search,
        most=MOST_LISTED,
    )


def configuration(request: Request) -> Response:
    """View configure."""
    services = request.services
    agent = services.agents.get(request.user_id, agent_id(request))
    offered = services.agent_links.offered(
        request.user_id, agent.id, request.path["knowledge_base_id"]
    )
    found = services.available_knowledge_bases.find(request.user_id, offered.knowledge_base_id)
    return render(
        request,
        "knowledge_base_link.html",
        agent=agent,
        offered=offered,
        knowledge_base="" if found is None else found.name,
    )


def quick_add(request: Request) -> Response:
    links, chosen = request.services.agent_links, agent_id(request)
    wanted = links.offered(request.user_id, chosen, request.form.get("knowledge_base_id", ""))
    links.link(request.user_id, chosen, wanted)
    return _changed(request, chosen)


def add(request: Request) -> Response:
    chosen = agent_id(request)
    named = {"knowledgeBaseId": request.path["knowledge_base_id"]}
    wanted = parse(NewLink, {**named, **_given(request)}, called=_LABELS)
    request.services.agent_links.link(request.user_id, chosen, wanted)
    return _changed(request, chosen)


def editing(request: Request) -> Response:
    return _dialog(request, "tool_edit.html")


def edit(request: Request) -> Response:
    chosen, tool_id = agent_id(request), request.path["tool_id"]
    changes = parse(LinkChanges, _given(request), called=_LABELS)
    request.services.agent_links.change(
        request.user_id, chosen, tool_id, changes, seen=request.form.get("seen")
    )
    return _changed(request, chosen)


def removal(request: Request) -> Response:
    return _dialog(request, "tool_delete.html")


def remove(request: Request) -> Response:
    chosen = agent_id(request)
    request.services.agent_links.remove(request.user_id, chosen, request.path["tool_id"])
    return _changed(request, chosen)


def _changed(request: Request, chosen: str) -> Response:
    """The tools as they are now, in place of those on the page: what is typed there stays."""
    if not request.is_htmx:
        return redirect(request, f"/agents/{chosen}")
    agent = request.services.agents.get(request.user_id, chosen)
    cards = cards_of(request, agent)
    return render(request, "parts/tools_changed.html", agent=agent, cards=cards)


def _dialog(request: Request, template: str) -> Response:
    agent = request.services.agents.get(request.user_id, agent_id(request))
    tool = agent.tool(request.path["tool_id"])
    if tool is None:
        raise NotFound("Tool")
    return render(request, template, agent=agent, tool=tool)


def _given(request: Request) -> dict[str, object]:
    """
    Return the form's fields with numbers where numbers were typed; anything else is refused later.
    """
    return {
        wire: _number(request.form[name]) if wire.startswith("default") else request.form[name]
        for name, wire in _FIELDS.items()
        if name in request.form
    }


def _number(text: str) -> object:
    if not text.isascii() or "_" in text:  # as Python writes numbers, and nobody else
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
