"""HTML: what a browser would show, one line a block, without scripts and styles."""

import codecs
import re

from selectolax.lexbor import LexborHTMLParser

from stackroom.inspection.extraction.page import Page, unpaged
from stackroom.inspection.extraction.plain import decode

_HIDDEN = ["script", "style", "noscript", "template", "svg", "iframe", "object"]
# fmt: off
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr",
})
# fmt: on
_DECLARED = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_HEAD_BYTES = 1_024  # where HTML wants the declaration to be (WHATWG HTML, 4.2.5.4)


def read(body: bytes) -> tuple[Page, ...]:
    tree = LexborHTMLParser(_markup(body))
    tree.strip_tags(_HIDDEN)
    pieces: list[str] = []
    for node in tree.root.traverse(include_text=True) if tree.root else ():
        if node.tag == "-text":
            pieces.append(re.sub(r"\s+", " ", node.text_content or ""))
        elif node.tag not in _INLINE:
            pieces.append("\n")
    return unpaged(_tidied("".join(pieces)))


def _markup(body: bytes) -> str:
    declared = _DECLARED.search(body[:_HEAD_BYTES])
    if declared and not body.startswith(
        (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    ):
        try:
            return body.decode(declared[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            pass  # a wrong declaration is common; the bytes themselves know better
    return decode(body)


def _tidied(text: str) -> str:
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
