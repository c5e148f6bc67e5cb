"""docs/clients.md, as the tests read it: blocks for each client, by the heading above them."""

import re
from dataclasses import dataclass

from tests.clients.clients import ROOT

PAGE = (ROOT / "docs" / "clients.md").read_text("utf-8")
BEFORE = "Before"  # the heading of what is typed first, once for all clients


@dataclass(frozen=True)
class Block:
    heading: str
    language: str
    text: str


def sections() -> dict[str, str]:
    """What stands below each heading."""
    parts = re.split(r"^##+ (.+)$", PAGE, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def blocks() -> list[Block]:
    """All fenced blocks of the page, in their order."""
    return [
        Block(heading, language, text)
        for heading, section in sections().items()
        for language, text in re.findall(
            r"^```(\w*)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL
        )
    ]


def table() -> dict[str, list[str]]:
    """The table at the top by clients' names: link, what it asks, how it signs in."""
    rows = re.findall(r"^\| \[(.+?)\]\((.+?)\) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    return {name: rest for name, *rest in rows}
