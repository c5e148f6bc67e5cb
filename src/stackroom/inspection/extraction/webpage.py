"""HTML: what a browser would show, one line a block, without scripts and styles."""

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from selectolax.lexbor import LexborHTMLParser, LexborNode

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.page import MAX_CHARACTERS, MAX_HEADINGS, Found, Page, unpaged
from stackroom.inspection.extraction.plain import Decoded, decode

_HIDDEN = ["script", "style", "noscript", "template", "svg", "iframe", "object"]
# fmt: off
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr",
})
# What ends without an end tag, and what a parser opens anew where it was not closed: neither says
# how deep a page is (WHATWG HTML, 13.1.2 and 13.2.4.3).
_NOT_NESTED = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr", "caption", "colgroup", "dd", "dt", "li", "optgroup", "option", "p", "rp", "rt",
    "tbody", "td", "tfoot", "th", "thead", "tr", "a", "b", "big", "code", "em", "font", "i", "nobr",
    "s", "small", "strike", "strong", "tt", "u",
})
# fmt: on
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
# Elements inside each other; what a parser takes for them grows by the square.
_MAX_NESTING = 10_000
_MAX_DEPTH = 32  # of a heading's own elements; text below that is not taken for its words
_DECLARED = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD_BYTES = 1_024  # where HTML wants the declaration to be (WHATWG HTML, 4.2.5.4)


def read(body: bytes) -> tuple[Page, ...]:
    markup, missing = _markup(body)
    if _is_too_deep(markup):
        raise Unreadable(
            f"the HTML has more than {_MAX_NESTING:,} elements inside each other, which is too"
            " many to read; save it as UTF-8 text and upload it again"
        )
    tree = LexborHTMLParser(markup)
    tree.strip_tags(_HIDDEN)
    shown = _Shown()
    for node in tree.root.traverse(include_text=True) if tree.root else ():
        shown.add(node)
    return unpaged(shown.text(), shown.found(), missing=missing)


class _Shown:
    """What a browser shows, gathered node by node."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, list[str]]] = []  # where each begins, and what it says
        self._sections: list[str] = []
        self._length = 0  # of the sections, each with a line's end
        self._pieces: list[str] = []  # of the section that is being read
        self._inside: LexborNode | None = None  # of which heading

    def add(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _HEADINGS and self._has_room():
            self._end_section()
            self._headings.append((self._length, []))
            self._inside = node
        elif self._inside is not None and not _is_within(node, self._inside):
            self._inside = None
        piece, is_permalink = "", False
        if tag == "-text":
            piece = re.sub(r"\s+", " ", node.text_content or "")
            is_permalink = _is_of_permalink(node.parent, piece)
        elif tag not in _INLINE:
            piece = "\n"
        self._pieces.append(piece)
        if self._inside is not None and not is_permalink:
            self._headings[-1][1].append(piece)

    def text(self) -> str:
        self._end_section()
        return "\n".join(self._sections)

    def found(self) -> Iterator[Found]:
        return ((at, "".join(said)) for at, said in self._headings)

    def _has_room(self) -> bool:
        # One more than are told, so that the last one ends where the next would begin.
        return len(self._headings) <= MAX_HEADINGS and self._length <= MAX_CHARACTERS

    def _end_section(self) -> None:
        section = _tidied("".join(self._pieces))
        self._pieces = []
        if section:
            self._sections.append(section)
            self._length += len(section) + 1


def _is_of_permalink(parent: LexborNode | None, text: str) -> bool:
    """Whether it is the sign of a link to the heading itself: Sphinx's ¶, or a # or § of others."""
    if parent is None or parent.tag != "a" or any(map(str.isalnum, text)):
        return False
    return (parent.attributes.get("href") or "").startswith("#")


def _is_too_deep(markup: str) -> bool:
    if markup.count("<") <= _MAX_NESTING:
        return False
    inside: list[str] = []
    open_of = Counter[str]()
    for found in _TAG.finditer(markup):
        ends, name = found[1], found[2].lower()
        if name in _NOT_NESTED:
            continue
        if not ends:
            inside.append(name)
            open_of[name] += 1
            if len(inside) > _MAX_NESTING:
                return True
        elif open_of[name]:  # it ends what was opened after it, too
            while open_of[name] and (last := inside.pop()) != name:
                open_of[last] -= 1
            open_of[name] -= 1
    return False


def _is_within(node: LexborNode, heading: LexborNode) -> bool:
    above = node.parent
    for _ in range(_MAX_DEPTH):
        if above is None:
            return False
        if above.mem_id == heading.mem_id:
            return True
        above = above.parent
    return False


def _markup(body: bytes) -> Decoded:
    declared = _DECLARED.search(body[:_HEAD_BYTES])
    if declared and not body.startswith(_MARKS):
        # A wrong declaration is common; the bytes themselves know better.
        with suppress(LookupError, UnicodeDecodeError):
            return Decoded(body.decode(declared[1].decode("ascii")))
    return decode(body)


def _tidied(text: str) -> str:
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
