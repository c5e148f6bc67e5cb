"""
The definition of a catalog tool.

It alone validates a call, and it is the source of the gateway's and MCP's lists, the policies,
tools-config.json and docs/tools.md.
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
    from stackroom.catalogs.event_log import EventLog
    from stackroom.catalogs.feedback import FeedbackKeeping
    from stackroom.catalogs.listing import Listing
    from stackroom.catalogs.metering import Metering
    from stackroom.catalogs.progress import Progress
    from stackroom.catalogs.selection import Selection
    from stackroom.catalogs.transfers import Fetching, Sending
    from stackroom.search.cited_answers import Answering
import base64
import re
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from stackroom.access.tool import Arguments, Id


class Services(Protocol):
    """
    The use cases behind the tools; `stackroom.app.tool_builder` makes each when it is first used.
    """

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

    @property
    def feedback(self) -> FeedbackKeeping: ...

    @property
    def events(self) -> EventLog: ...

    @property
    def metering(self) -> Metering: ...


AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Rendered:
    """A response: `text` for people and models, `metadata` for programs."""

    text: str
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Display:
    """The texts of a chat front end for a tool: its name, while it runs, and once it is through."""

    name: str
    running: str
    complete: str


@dataclass(frozen=True, kw_only=True)
class CatalogTool(Tool[ArgumentsT], Generic[ArgumentsT, AnswerT]):
    """
    A catalog tool. `use` raises StackroomError; `render` is of its result, and reads nothing else.
    """

    use: Callable[[Services, ArgumentsT, Caller], AnswerT]
    render: Callable[[AnswerT], Rendered]
    display: Display


# The arguments of the tools. A description states the limits, since a gateway's schema can't, and
# answers a call that ignores them.

_LISTED = re.compile(r"(cat|doc)-[0-9a-f]{24}")


class CatalogArguments(Arguments):
    """Arguments of a catalog tool. Only true and false can confirm, and no number is a name."""

    model_config = ConfigDict(strict=True)


def token_of(id_: str) -> str:
    """Return a `next_token` that continues after this id; opaque, and no secret."""
    return base64.urlsafe_b64encode(id_.encode()).decode().rstrip("=")


def id_of(token: str) -> str:
    """Return the id in a token. Raises ValueError if it is none of ours."""
    padded = token + "=" * (-len(token) % 4)
    try:
        id_ = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except ValueError:  # binascii.Error and UnicodeDecodeError are such
        id_ = ""
    if not _LISTED.fullmatch(id_):
        raise ValueError("is none that was answered")
    return id_


CatalogId = Annotated[
    Id, Field(description="The catalog's id, such as cat-1a2b (list_catalogs tells them).")
]
NextToken = Annotated[
    Annotated[str, Field(max_length=100), AfterValidator(id_of)] | None,
    Field(description="The next_token of the page before; by default the first page."),
]
