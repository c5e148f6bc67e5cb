"""
What a catalog tool is made of. This one definition is what validates a call, what the gateway and
MCP list, what the policies name, what tools-config.json and docs/tools.md say.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from stackroom.catalog_tools.services import Services
from stackroom.gateway.tool import ArgumentsT, Tool
from stackroom.identity import Caller

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Rendered:
    """`text` is for people and models, `metadata` for programs."""

    text: str
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Display:
    """What a chat front end shows: of the tool, while it runs, once it is through."""

    name: str
    running: str
    complete: str


@dataclass(frozen=True, kw_only=True)
class CatalogTool(Tool[ArgumentsT], Generic[ArgumentsT, AnswerT]):
    """`use` raises StackroomError; `render` is of what it answers, and reads nothing else."""

    use: Callable[[Services, ArgumentsT, Caller], AnswerT]
    render: Callable[[AnswerT], Rendered]
    display: Display

    def answer(self, services: Services, given: object, caller: Caller) -> Rendered:
        """Raises ValidationError for wrong arguments, and what `use` raises."""
        return self.render(self.use(services, self.parse(given), caller))
