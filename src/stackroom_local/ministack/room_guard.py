"""
Refuses uploads that ministack would acknowledge and lose.

Those are uploads that its disk has no room for or could not write. AWS has no such limit, so it has
no error for them.
"""

import shutil
from contextvars import ContextVar
from pathlib import Path
from xml.sax.saxutils import escape

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bedrock_kb_simulator.bucket_objects import SUFFIX
from stackroom_local.ministack.disk_reserve import SPARE_BYTES

_INSUFFICIENT_STORAGE = 507  # RFC 4918; botocore doesn't try it again

_unwritten: ContextVar[list[str]] = ContextVar("_unwritten")  # in the request at hand


def install() -> None:
    """Note the failed writes of ministack's S3, which only logs them and reports success."""
    from ministack.services import s3  # noqa: PLC0415 - in its own process

    warning = s3.logger.warning

    def note(*arguments: object) -> None:
        if str(arguments[0]).startswith("Failed to persist"):
            _unwritten.get([]).append(str(arguments[-1]))
        warning(*arguments)

    s3.logger.warning = note


class RoomGuard:
    """An ASGI application that refuses uploads when `folder`'s disk is full."""

    def __init__(self, app: ASGIApp, folder: Path, spare: int = SPARE_BYTES) -> None:
        self._app = app
        self._folder = folder
        self._spare = spare

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        unwritten = list[str]()
        _unwritten.set(unwritten)
        has_begun = False

        async def answered(message: Message) -> None:
            nonlocal has_begun
            if has_begun or not unwritten:
                has_begun = True
                await send(message)

        has_room = not _is_upload(scope) or self._free() >= self._spare
        if has_room:
            await self._app(scope, receive, answered)
        if not has_room or (unwritten and not has_begun):
            await self._refusal(unwritten, Headers(scope=scope))(scope, receive, send)

    def _free(self) -> int:
        return shutil.disk_usage(self._folder).free

    def _refusal(self, unwritten: list[str], headers: Headers) -> Response:
        """Return the refusal as S3 words it, readable by pages that may call."""
        why = f" ({unwritten[0]})" if unwritten else ""
        message = escape(
            f"The disk of {self._folder} has {self._free() / 2**20:.1f} MB left, too few for this,"
            f" which is not stored: make room there, then try again.{why}"
        )
        body = f"<Error><Code>InsufficientStorage</Code><Message>{message}</Message></Error>"
        origin = headers.get("origin")
        allowed = {"Access-Control-Allow-Origin": origin} if origin else {}
        return Response(body, _INSUFFICIENT_STORAGE, allowed, "application/xml")


def _is_upload(scope: Scope) -> bool:
    """Return whether a request puts an object or a part, or posts a form to a bucket."""
    if scope["path"].endswith(SUFFIX):
        return False  # of a document that was accepted
    kind = Headers(scope=scope).get("content-type", "")
    is_form = scope["method"] == "POST" and kind.startswith("multipart/form-data")
    return is_form or scope["method"] == "PUT"
