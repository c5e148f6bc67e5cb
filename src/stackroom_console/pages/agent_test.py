"""Beside an agent's form: a conversation in which its user tries it, as it was last saved."""

from typing import Any

from starlette.responses import Response

from stackroom_agents.user_agents.agent import Agent
from stackroom_agents.user_agents.runs import NEW
from stackroom_console.ids import agent_id
from stackroom_console.pages import chat_page
from stackroom_console.rendering import redirect, render
from stackroom_console.request import Request


def ask(request: Request) -> Response:
    chosen = agent_id(request)
    chat = request.services.chats.test_of(request.user_id, chosen)
    run = chat_page.put(request, NEW if chat is None else chat.id, chosen, is_test=True)
    if not request.is_htmx:
        return redirect(request, f"/agents/{chosen}#newest")
    return chat_page.begun(request, run)


def start_over(request: Request) -> Response:
    """Delete the test conversation, so that the agent knows nothing of it either."""
    chosen, chats = agent_id(request), request.services.chats
    agent = request.services.agents.get(request.user_id, chosen)
    chat = chats.test_of(request.user_id, chosen)
    if chat is not None:
        chats.remove(request.user_id, chosen, chat.id)
    if not request.is_htmx:
        return redirect(request, f"/agents/{chosen}#test")
    return render(request, "parts/test_chat.html", agent=agent, **shown(request, agent))


def shown(request: Request, agent: Agent) -> dict[str, Any]:
    """Return the values of the template `parts/test_chat.html`."""
    chat = request.services.chats.test_of(request.user_id, agent.id)
    return chat_page.conversation(request, chat)
