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


def blocks() -> list[Block]:
    """All fenced blocks of the page, in their order."""
    sections = re.split(r"^##+ (.+)$", PAGE, flags=re.MULTILINE)[1:]
    return [
        Block(heading, language, text)
        for heading, section in zip(sections[::2], sections[1::2], strict=True)
        for language, text in re.findall(
            r"^```(\w*)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL
        )
    ]


def table() -> dict[str, list[str]]:
    """The table at the top: what a client asks and how it signs in, by the client's name."""
    rows = re.findall(r"^\| \[(.+?)\]\(#.*?\) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    return {name: rest for name, *rest in rows}
