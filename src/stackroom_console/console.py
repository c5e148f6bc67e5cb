"""The console's parts and limits, the same in the local mode and on AWS."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

from starlette.responses import Response

from stackroom.access.access_log import AccessLog
from stackroom.access.tokens import TokenVerifier
from stackroom.clock import utc_now
from stackroom_console.openid_provider import OpenIdProvider
from stackroom_console.sealed_cookies import Seal
from stackroom_console.services import ConsoleServices

# What API Gateway's HTTP API leaves the console on AWS; it keeps to that everywhere.
#
# https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html

# Bytes of a request's line and all values of its headers together. Cookies are the most of them: a
# session (sealed_cookies.MAX_COOKIE), and a sign-in under way, which says where it leads
# (authentication.LONGEST). tests/console/test_headers.py adds up the most that browsers send.
MAX_HEADERS = 10_240

# Of seconds. An HTTP API waits 30 of them for its function, the function's start included, and then
# answers 503 in words of its own. So each request is answered well before; infra/console_api.py has
# the function's time, and tests/infra holds the two together.
ANSWERED_WITHIN = 22.0
FOR_A_START = 5.0  # that a function needs from cold, before it looks at a request
FOR_A_PAGE = 2.0  # to make one of what was found
FOR_A_STEP = 6.0  # of what takes many, such as to delete a large catalog; somebody looks on


# When users have signed out everywhere: what they had begun before is over.


class SignOuts(Protocol):
    def get(self, user_id: str) -> datetime | None:
        """The latest such moment; None if there was none."""

    def keep(self, user_id: str, at: datetime) -> None:
        """Save the moment unless a later one is saved already."""


OPERATORS = "operators"  # the group whose members see what operators see
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, kw_only=True)
class Connection:
    """
    The ways for other programs to reach the gateway, at `mcp_url`. Those that sign in by themselves
    do so as the client of `client_id`. Others have a token of the command line, which is called as
    `command_line` says, with a verb for its `{}`; with a deployment, its user signs in first.
    """

    mcp_url: str
    client_id: str
    command_line: str
    is_deployment: bool = True


@dataclass(frozen=True, kw_only=True)
class Console:
    """
    `url` is where browsers find it, without a path. `uploads` is the origin that files are posted
    to. `log` keeps the audit: who read what. AWS's time passes at `speed`, which is 1 but in the
    local mode. A request is answered within `seconds`.
    """

    url: str
    services: ConsoleServices
    verifier: TokenVerifier
    issuer: OpenIdProvider
    seal: Seal
    sign_outs: SignOuts
    uploads: str
    log: AccessLog
    connection: Connection
    speed: float = 1.0
    seconds: float = ANSWERED_WITHIN
    now: Callable[[], datetime] = field(default=utc_now)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK
        if not (parts.scheme == "https" or is_local) or parts.path or not parts.hostname:
            raise ValueError(
                f"the console's URL is {self.url!r}. Allowed: https://HOST, or http:// and this"
                " machine, without a path"
            )

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def is_secure(self) -> bool:
        """True if cookies travel by TLS alone; on this machine nothing else can read them."""
        return self.url.startswith("https://")

    def cookie(self, name: str) -> str:
        """
        The name of a cookie. `__Host-` lets no other host of the domain set it [RFC 6265bis
        4.1.3.2]; without TLS there is none such, and cookies don't tell ports apart.
        """
        if self.is_secure:
            return f"__Host-{name}"
        return f"{name}-{urlsplit(self.url).port or 80}"

    def keep_cookie(self, response: Response, name: str, value: str, *, seconds: int) -> None:
        response.set_cookie(
            self.cookie(name),
            value,
            max_age=seconds,
            path="/",
            secure=self.is_secure,
            httponly=True,
            samesite="lax",
        )

    def forget_cookie(self, response: Response, name: str) -> None:
        response.delete_cookie(
            self.cookie(name), path="/", secure=self.is_secure, httponly=True, samesite="lax"
        )
