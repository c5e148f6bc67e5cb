"""The body of a request: as much of it as is allowed, of the one type that its endpoint takes."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest

from stackroom.access.tool import is_encodable
from stackroom_console.endpoint import Endpoint, EndpointKind

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
_MOST_FIELDS = 128  # a page of a catalog's documents, each chosen
_MOST_DIGITS = 20  # whatever is announced, no more is read than may come


class BodyRefused(Exception):
    """`status` as HTTP has it; `str()` of it says what is allowed."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


async def body_of(http: HttpRequest, limit: int) -> bytes:
    """Raises BodyRefused when there is more of it than allowed, however it is sent."""
    too_large = BodyRefused(413, f"The request is larger than {limit // 1024} KB.")
    announced = http.headers.get("content-length", "")
    is_number = announced.isascii() and announced.isdigit() and len(announced) < _MOST_DIGITS
    if is_number and int(announced) > limit:
        raise too_large
    body = bytearray()
    try:
        async for chunk in http.stream():
            body += chunk
            if len(body) > limit:
                raise too_large
    except ClientDisconnect as error:
        raise BodyRefused(400, "The request ended before all of it had come.") from error
    return bytes(body)


def parsed(body: bytes, http: HttpRequest, endpoint: Endpoint) -> Mapping[str, Any]:
    """Raises BodyRefused for what is of another type, or malformed."""
    if not body:
        return {}
    given = http.headers.get("content-type", "").partition(";")[0].strip().lower()
    wanted = JSON if endpoint.kind is EndpointKind.API else FORM
    if given != wanted:
        raise BodyRefused(415, f"The request's Content-Type isn't {wanted}.")
    return _json(body) if endpoint.kind is EndpointKind.API else _form(body)


def _form(body: bytes) -> Mapping[str, str]:
    try:
        fields = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError as error:  # UnicodeDecodeError is one
        raise BodyRefused(400, "The form can't be read: it isn't UTF-8, or too long.") from error
    # Browsers end a line with CR LF [HTML: form submission], and nobody types that.
    form = {name: text.replace("\r\n", "\n") for name, text in fields}
    if len(form) != len(fields):
        raise BodyRefused(400, "The form has a field twice.")
    return form


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        given = json.loads(body, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise BodyRefused(400, "The request's body is no JSON.") from error
    if not isinstance(given, dict) or not is_encodable(given):
        raise BodyRefused(400, "The request's body is no JSON object of numbers and plain text.")
    return given


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)
