"""The clients of docs/clients.md, and what the console's page *Connect* shows of them."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).with_name("clients.md")
SHOWN = ROOT / "src" / "stackroom_console" / "clients.json"
BEFORE = "Before"  # the heading of the commands that every client needs first
# What the clients of a part ask, by the heading of that part.
ASKED = {"The gateway": "gateway", "The knowledge base itself": "knowledge_base"}
# A fenced block, or a line that links to an example.
_BLOCK = re.compile(
    r"^```(\w*)\n(.*?)^```$|^\[examples/\S+\]\(\.\./(examples/\S+\.py)\)$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """`about` is the prose above it, as Markdown without links, which lead into these docs."""

    heading: str
    language: str
    text: str
    about: str


def blocks() -> list[Block]:
    """Return the page's blocks in order: fenced ones, and the examples that it links to."""
    return [block for _, block in _under_parts()]


def clients() -> str:
    """Return JSON with the blocks of each client by what it asks, and how one signs in on AWS."""
    shown: dict[str, dict[str, list[dict[str, str]]]] = {part: {} for part in ASKED.values()}
    for part, block in _under_parts():
        if part in ASKED:
            shown[ASKED[part]].setdefault(block.heading, []).append(
                {name: value for name, value in asdict(block).items() if name != "heading"}
            )
    content = {**shown, "signing_in_on_aws": _signing_in_on_aws()}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _signing_in_on_aws() -> str:
    [text] = re.findall(
        r"^- (A client that signs in by itself .*?)(?=^- )", PAGE.read_text("utf-8"), re.M | re.S
    )
    return " ".join(_without_links(text).split())


def _without_links(text: str) -> str:
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).strip()


def _under_parts() -> list[tuple[str, Block]]:
    """Return each block with the heading of its part of the page."""
    pieces = re.split(r"^(##+) (.+)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    part, found = "", []
    for level, heading, section in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        part = heading if level == "##" else part
        end = 0
        for block in _BLOCK.finditer(section):
            about = _without_links(section[end : block.start()])
            language, text, example = block.groups()
            if example:
                language, text = "python", (ROOT / example).read_text("utf-8")
            found.append((part, Block(heading, language, text, about)))
            end = block.end()
    return found
