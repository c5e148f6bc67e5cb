"""
Refuses writes that ministack would acknowledge and lose.

Those are uploads that its disk has no room for or could not write, and entries of tables and queues
beyond the reserved room. AWS has no such limits, so it has no error for them.
"""

import json
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
_CODE = "InsufficientStorage"
# Beginnings of operations that add to the tables and queues that ministack has in memory.
_ADDING = (
    *(f"DynamoDB_20120810.{each}" for each in ("BatchWrite", "Put", "TransactWrite", "Update")),
    "AmazonSQS.Send",
)

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
    """
    An ASGI application that refuses writes when `folder`'s disk is full.

    Tables and queues have `kept` bytes, and may grow to `reserved` bytes plus what the disk has
    free.
    """

    def __init__(
        self,
        app: ASGIApp,
        folder: Path,
        spare: int = SPARE_BYTES,
        *,
        kept: int = 0,
        reserved: int = 0,
    ) -> None:
        self._app = app
        self._folder = folder
        self._spare = spare
        self._kept = kept
        self._reserved = reserved
        self._on_their_way = 0  # bytes of uploads that are not written yet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        free = shutil.disk_usage(self._folder).free
        length = headers.get("content-length", "")
        size = int(length) if length.isdigit() else 0
        is_upload = _is_upload(scope, headers)
        # Of an entry as it is sent: more than what is kept of it, which may replace another.
        is_entry = _operation(headers).startswith(_ADDING)
        needed = 0
        if is_upload:
            needed = self._spare + self._on_their_way + size
        elif is_entry:
            needed = self._kept + size - self._reserved
        if free < needed:
            await _refusal(self._message(free), headers)(scope, receive, send)
            return
        self._kept += size * is_entry
        self._on_their_way += size * is_upload
        try:
            await self._answer(scope, receive, send)
        finally:
            self._on_their_way -= size * is_upload

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on ministack's answer, unless it could not write the data."""
        unwritten = list[str]()
        _unwritten.set(unwritten)
        has_begun = False

        async def answered(message: Message) -> None:
            nonlocal has_begun
            if has_begun or not unwritten:
                has_begun = True
                await send(message)

        await self._app(scope, receive, answered)
        if unwritten and not has_begun:
            message = f"{self._message(shutil.disk_usage(self._folder).free)} ({unwritten[0]})"
            await _refusal(message, Headers(scope=scope))(scope, receive, send)

    def _message(self, free: int) -> str:
        return (
            f"The disk of {self._folder} has {free / 2**20:.1f} MB left, too few for this, which"
            " is not stored: make room there, then try again."
        )


def _operation(headers: Headers) -> str:
    """Return the operation of protocols that name it, such as `DynamoDB_20120810.PutItem`."""
    return headers.get("x-amz-target", "")


def _refusal(message: str, headers: Headers) -> Response:
    """Return the refusal in the caller's protocol, readable by pages that may call."""
    origin = headers.get("origin")
    allowed = {"Access-Control-Allow-Origin": origin} if origin else {}
    if _operation(headers):
        body, kind = json.dumps({"__type": _CODE, "message": message}), "application/x-amz-json-1.0"
    else:
        escaped = escape(message)
        body, kind = (
            f"<Error><Code>{_CODE}</Code><Message>{escaped}</Message></Error>",
            "application/xml",
        )
    return Response(body, _INSUFFICIENT_STORAGE, allowed, kind)


def _is_upload(scope: Scope, headers: Headers) -> bool:
    """
    Return whether a request is a PUT to S3, of an object or a part, or a form posted to a bucket.
    """
    is_form = headers.get("content-type", "").startswith("multipart/form-data")
    of_s3 = "/s3/aws4_request" in headers.get("authorization", "") or (
        b"X-Amz-Signature=" in scope["query_string"]
    )
    if scope["path"].endswith(SUFFIX):
        return False  # of a document that was accepted
    return (scope["method"] == "PUT" and of_s3) or (scope["method"] == "POST" and is_form)
