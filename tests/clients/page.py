"""docs/clients.md, as the tests read it: a block for each client, by the heading above it."""

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


def named() -> list[str]:
    """The clients of the table at the top."""
    rows = re.findall(r"^\| \[(.+?)\]\(#", PAGE, re.MULTILINE)
    return [str(row) for row in rows]
