"""
Refuses uploads that the disk has no room for: ministack would acknowledge them, and lose them.

S3 has no such limit, so no error of its own for it.
"""

import shutil
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stackroom_local.simulator.sidecars import SUFFIX

_SPARE_BYTES = 2**20  # for the files beside the object, and what others write meanwhile
_INSUFFICIENT_STORAGE = 507  # RFC 4918; botocore doesn't try it again


class RoomGuard:
    """An ASGI application; `folder` is on the disk in question."""

    def __init__(self, app: ASGIApp, folder: Path, spare: int = _SPARE_BYTES) -> None:
        self._app = app
        self._folder = folder
        self._spare = spare

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_upload(scope):
            length = Headers(scope=scope).get("content-length", "")
            free = shutil.disk_usage(self._folder).free
            if free < self._spare + int(length if length.isdigit() else 0):
                await self._refused(free)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refused(self, free: int) -> Response:
        message = (
            f"The disk of {self._folder} has {free / 2**20:.1f} MB left, too few for this file:"
            " make room there, then upload again."
        )
        body = f"<Error><Code>InsufficientStorage</Code><Message>{message}</Message></Error>"
        return Response(body, _INSUFFICIENT_STORAGE, media_type="application/xml")


def _is_upload(scope: Scope) -> bool:
    """A PUT to S3, of an object or a part of it, or a form that a page posts to a bucket."""
    headers = Headers(scope=scope)
    is_form = headers.get("content-type", "").startswith("multipart/form-data")
    of_s3 = "/s3/aws4_request" in headers.get("authorization", "") or (
        b"X-Amz-Signature=" in scope["query_string"]
    )
    if scope["path"].endswith(SUFFIX):
        return False  # of a document that was accepted
    return (scope["method"] == "PUT" and of_s3) or (scope["method"] == "POST" and is_form)
