"""
What a page shows as it comes: asked for again and again, the more seldom the less happens.

The page says with each question what it shows (`seen`) and how often in a row nothing had changed
(`quiet`); an answer without a change holds nothing but when to ask next.
"""

import hashlib
from dataclasses import dataclass
from urllib.parse import urlencode

from stackroom_console.request import Request

_GROWTH = 1.5
_UNDER_WAY = (2.0, 15.0)  # seconds between two questions: the first, and the longest
_AT_REST = (10.0, 60.0)
_MOST_QUIET = 20


@dataclass(frozen=True, kw_only=True)
class Watch:
    """`path` is asked `seconds` from now."""

    path: str
    seconds: float
    is_changed: bool


def watch(request: Request, path: str, shown: object, *, is_under_way: bool) -> Watch:
    """`shown` is all that the page's part is made of; its `repr` tells two of them apart."""
    digest = hashlib.sha256(repr(shown).encode(errors="replace")).hexdigest()[:16]
    is_changed = request.query.get("seen") != digest
    quiet = 0 if is_changed else min(_quiet(request) + 1, _MOST_QUIET)
    first, longest = _UNDER_WAY if is_under_way else _AT_REST
    kept = {"after": request.query["after"]} if "after" in request.query else {}
    query = urlencode({**kept, "seen": digest, "quiet": quiet})
    return Watch(
        path=f"{path}?{query}",
        seconds=round(min(first * _GROWTH**quiet, longest), 1),
        is_changed=is_changed,
    )


def _quiet(request: Request) -> int:
    given = request.query.get("quiet", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 3 else 0
