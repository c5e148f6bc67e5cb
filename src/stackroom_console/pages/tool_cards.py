"""The tools of an agent, as its page shows them."""

from dataclasses import dataclass

from stackroom.agent import Agent, LinkedTool, OtherTool
from stackroom_console.request import Request


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
