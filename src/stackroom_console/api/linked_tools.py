"""The knowledge bases that an agent asks, as its tools."""

from starlette.responses import Response

from stackroom.agents.available import MOST_LISTED, AvailableKnowledgeBase
from stackroom.agents.links import LinkChanges, NewLink
from stackroom.errors import AgentNotFound, KnowledgeBaseNotFound
from stackroom_console.api.agents import answered
from stackroom_console.api.parsing import number, parse
from stackroom_console.ids import agent_id
from stackroom_console.problems import NOT_FOUND, Refused
from stackroom_console.request import Request

_FURTHEST = 1_000_000


def available(request: Request) -> Response:
    """Of an agent, which must be there; what it has linked already is among them."""
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
    except (AgentNotFound, KnowledgeBaseNotFound) as error:
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
        stats = {"documentCount": found.document_count, "chunkCount": found.chunk_count}
    return {
        "id": found.id,
        "name": found.name,
        "description": found.description,
        "stats": stats,
        "defaultMinScore": found.least_score,
    }
