"""REDIS_URL: where all processes that embed questions cache their vectors."""

import os
import re
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

_DATABASE = re.compile(r"(/[0-9]{0,4})?")


def redis_url(environ: Mapping[str, str] = os.environ) -> str | None:
    """
    Return the URL; None if the variable is absent or empty.

    Raises ValueError for another URL, without quoting it, because it may contain a password.
    """
    return _checked(environ.get("REDIS_URL"))


def _checked(url: str | None) -> str | None:
    if url and not _is_right(url):
        raise ValueError(
            "REDIS_URL must be redis://host:port or rediss://host:port, with /number behind it"
            " for a database that isn't the first"
        )
    return url or None


def _is_right(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("redis", "rediss")
            and bool(parts.hostname)
            and parts.port != 0
            and _DATABASE.fullmatch(parts.path) is not None
            # The client takes settings from a query, such as not to check certificates.
            and not (parts.query or parts.fragment)
            and url.isprintable()
            and " " not in url
        )
    except ValueError:  # a port that is not a number, or unbalanced brackets
        return False


RedisUrl = Annotated[str | None, AfterValidator(_checked), Field(repr=False)]
