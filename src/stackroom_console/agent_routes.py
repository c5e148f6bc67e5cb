"""The lines of the route table that are about agents: their pages, and their API."""

from stackroom_console.api import agents as agents_api
from stackroom_console.api import linked_tools, runs
from stackroom_console.endpoint import MAX_BODY, Answer, Endpoint, Kind, Method
from stackroom_console.pages import agent_tools, agents, chat

_BUILDER = "/agents/{agent_id}"
_LINK = _BUILDER + "/knowledge-bases/{knowledge_base_id}"
_TOOL = _BUILDER + "/tools/{tool_id}"
_AGENTS = "/api/agents"
_AGENT = _AGENTS + "/{agent_id}"
_LINKED = _AGENT + "/knowledge-base-tools"
_RUN = "/api/runs/{run_id}"
_PROMPTED = 2 * MAX_BODY  # with the longest prompt, in the encoding of forms
_AGENT_FILE = 3 * 200 * 1024  # bytes: text of exchange.LARGEST, in the encoding of forms


def _api(method: Method, path: str, answer: Answer) -> Endpoint:
    return Endpoint(method=method, path=path, answer=answer, kind=Kind.API)


PAGES = (
    Endpoint(method="GET", path="/agents", answer=agents.page),
    Endpoint(method="GET", path="/agents/new", answer=agents.blank),
    Endpoint(method="POST", path="/agents", answer=agents.create, max_body=_PROMPTED),
    Endpoint(method="GET", path="/agents/import", answer=agents.import_dialog),
    Endpoint(
        method="POST", path="/agents/import", answer=agents.import_agent, max_body=_AGENT_FILE
    ),
    Endpoint(method="GET", path="/tools-config.json", answer=agents.tools_configuration),
    Endpoint(method="GET", path=_BUILDER, answer=agents.builder),
    Endpoint(method="POST", path=_BUILDER, answer=agents.save, max_body=_PROMPTED),
    Endpoint(method="GET", path=f"{_BUILDER}/delete", answer=agents.removal),
    Endpoint(method="POST", path=f"{_BUILDER}/delete", answer=agents.remove),
    Endpoint(method="GET", path=f"{_BUILDER}/export", answer=agents.export),
    Endpoint(method="GET", path=f"{_BUILDER}/chat", answer=chat.page),
    Endpoint(method="POST", path=f"{_BUILDER}/chat", answer=chat.ask),
    Endpoint(method="GET", path=f"{_BUILDER}/chat/part", answer=chat.part),
    Endpoint(method="POST", path="/runs/{run_id}/cancel", answer=chat.cancel),
    Endpoint(method="GET", path=f"{_BUILDER}/knowledge-bases", answer=agent_tools.choice),
    Endpoint(method="POST", path=f"{_BUILDER}/knowledge-bases", answer=agent_tools.quick_add),
    Endpoint(method="GET", path=_LINK, answer=agent_tools.configuration),
    Endpoint(method="POST", path=_LINK, answer=agent_tools.add),
    Endpoint(method="GET", path=f"{_TOOL}/edit", answer=agent_tools.editing),
    Endpoint(method="POST", path=f"{_TOOL}/edit", answer=agent_tools.edit),
    Endpoint(method="GET", path=f"{_TOOL}/delete", answer=agent_tools.removal),
    Endpoint(method="POST", path=f"{_TOOL}/delete", answer=agent_tools.remove),
)
API = (
    _api("GET", _AGENTS, agents_api.listed),
    _api("POST", _AGENTS, agents_api.created),
    _api("GET", _AGENT, agents_api.shown),
    _api("PATCH", _AGENT, agents_api.edited),
    _api("DELETE", _AGENT, agents_api.removed),
    _api("GET", f"{_AGENT}/available-knowledge-bases", linked_tools.available),
    _api("POST", _LINKED, linked_tools.linked),
    _api("PATCH", f"{_LINKED}/{{tool_id}}", linked_tools.changed),
    _api("DELETE", f"{_AGENT}/tools/{{tool_id}}", linked_tools.unlinked),
    _api("POST", f"{_AGENT}/runs", runs.started),
    _api("GET", f"{_AGENT}/runs", runs.listed),
    _api("GET", _RUN, runs.shown),
    _api("POST", f"{_RUN}/cancel", runs.cancelled),
)
AGENT_ROUTES = (*PAGES, *API)
