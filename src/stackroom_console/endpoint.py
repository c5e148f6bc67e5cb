"""A line of the route table: a way of calling the app, whom it is for, and who answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from starlette.responses import Response

    from stackroom_console.request import Request

Method = Literal["GET", "POST", "PATCH", "DELETE"]
Answer = Callable[["Request"], "Response"]
MAX_BODY = 64 * 1024  # bytes; files never come this way, they go to S3


class Audience(Enum):
    ANYONE = "anyone"
    SIGNED_IN = "signed in"
    OPERATORS = "operators"


class EndpointKind(Enum):
    """PAGE is for browsers: forms and HTML. API is for programs and our scripts: JSON both ways."""

    PAGE = "page"
    API = "api"


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """
    `answer` runs in a thread, and may raise StackroomError: `problems.py` says what is answered.

    Whatever isn't a GET changes something, and needs the CSRF token of the session; no GET does.
    `reads` names, in the audit, what hands out texts or files, or shows what is everybody's; each
    call of it leaves a line there, or each of which `reads_when` says so.
    """

    method: Method
    path: str
    answer: Answer
    audience: Audience = Audience.SIGNED_IN
    kind: EndpointKind = EndpointKind.PAGE
    max_body: int = MAX_BODY
    reads: str = ""
    reads_when: Callable[[Request], bool] = field(default=lambda _: True)

    @property
    def changes(self) -> bool:
        return self.method != "GET"
