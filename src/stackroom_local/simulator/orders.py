"""
Orders for the simulator itself, which are no calls of AWS: GET shows what was ordered, POST orders
more, DELETE takes all back and shows what it was.
"""

import json
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError


@dataclass(frozen=True, kw_only=True)
class Book:
    """`take` reads an order from a request's body, and raises pydantic's ValidationError."""

    report: Callable[[], bytes]  # JSON
    clear: Callable[[], None]
    take: Callable[[bytes], None]


def served(book: Book, method: str, body: bytes) -> tuple[int, bytes]:
    """HTTP status and JSON."""
    match method:
        case "GET":
            return 200, book.report()
        case "DELETE":
            report = book.report()
            book.clear()
            return 200, report
        case "POST":
            return _taken(book, body)
        case _:
            return 405, b'{"message": "GET, POST or DELETE"}'


def send(url: str, order: Mapping[str, Any]) -> None:
    """Raises urllib.error.HTTPError for what is no order."""
    body = json.dumps(order).encode()
    request = urllib.request.Request(url, data=body, method="POST")  # noqa: S310 - our own server
    with urllib.request.urlopen(request, timeout=60):  # noqa: S310 - as above
        pass


def _taken(book: Book, body: bytes) -> tuple[int, bytes]:
    try:
        book.take(body)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        return 400, json.dumps({"message": "invalid order", "problems": problems}).encode()
    return 200, book.report()
