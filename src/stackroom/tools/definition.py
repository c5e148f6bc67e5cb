"""
What a catalog tool is made of. This one definition is what validates a call, what the gateway and
MCP list, what the policies name, what tools-config.json and docs/tools.md say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from stackroom.access.identity import Caller
from stackroom.access.tool import ArgumentsT, Tool

if TYPE_CHECKING:
    from stackroom.catalogs.creation import Creation
    from stackroom.catalogs.deletions import Deletions
    from stackroom.catalogs.fetching import Fetching
    from stackroom.catalogs.listing import Listing
    from stackroom.catalogs.progress import Progress
    from stackroom.catalogs.selection import Selection
    from stackroom.catalogs.sending import Sending
    from stackroom.search.cited_answers import Answering


# The use cases behind the tools; `stackroom.wiring.use_cases` makes each when it is first used, and
# imports its package then.


class Services(Protocol):
    @property
    def creation(self) -> Creation: ...

    @property
    def listing(self) -> Listing: ...

    @property
    def selection(self) -> Selection: ...

    @property
    def sending(self) -> Sending: ...

    @property
    def fetching(self) -> Fetching: ...

    @property
    def progress(self) -> Progress: ...

    @property
    def answering(self) -> Answering: ...

    @property
    def deletions(self) -> Deletions: ...


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
