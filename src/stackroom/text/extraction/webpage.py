"""
HTML: what a browser would show, one line a block; text that styles hide is left out and counted.

Scripts, templates, comments, alternatives to pictures and `noscript` are not text. Form fields
have the values, or the choice, that they show.
"""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from stackroom.errors import Unreadable
from stackroom.text.extraction.blocks import (
    MAX_ACROSS,
    Block,
    Cell,
    Row,
    joined,
    table_blocks,
)
from stackroom.text.extraction.page import (
    RAW_CHARACTERS,
    Page,
    hidden_words,
    readable,
    unpaged,
)
from stackroom.text.extraction.page_styles import Appearance, PageStyles, looked
from stackroom.text.extraction.plain import Decoded, decode, decode_declared
from stackroom.text.extraction.word_numbering import numbered

# fmt: off
_NOT_SHOWN = frozenset({
    "script", "style", "noscript", "template", "object", "datalist", "rp", "canvas", "audio",
    "video", "progress", "meter", "noembed", "noframes", "annotation", "annotation-xml", "option",
    "title",
})
_NOT_DRAWN = frozenset({  # of an SVG
    "title", "desc", "metadata", "defs", "symbol", "clippath", "mask", "marker", "pattern",
})
_SHAPES = "rect, circle, ellipse, path, polygon, image, use"  # that text of an SVG may stand on
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr", "ruby", "rt", "rb", "img", "input", "button", "select",
    "textarea", "br", "tspan", "textPath", "math", "semantics", "mrow", "mi", "mn", "mo", "mtext",
    "ms", "mspace", "mstyle", "mpadded", "mfrac", "msqrt", "mroot", "msup", "msub", "msubsup",
    "mover", "munder", "munderover", "menclose",
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
# What stands between two elements of an equation.
_OPERATORS = {"mfrac": "/", "msup": "^", "msub": "_", "mroot": "√"}
_BEFORE, _AFTER = {"q": "“", "rt": " ("}, {"q": "”", "rt": ")"}
_NO_TEXT_INPUTS = frozenset({"hidden", "password", "file", "image", "range", "color"})
_FORMATS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_MOST_CELLS = 1_000_000  # of a table, that are only parts of those above
_MAX_INDENT = 20
_INTEGER = re.compile(r"\s*([+-]?\d{1,6})")
# Beside scripts and comments, which may have such tags in them.
_NOSCRIPT = re.compile(
    r"(<script\b.*?(?:</script|\Z)|<!--.*?(?:-->|\Z))|<noscript\b.*?(?:</noscript[^>]*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_LINKED = 'link[rel~="stylesheet" i][href]'
_SPACES = re.compile(r"[ \t\n\r\f\v\x85\xa0\u2028\u2029]+")
_DECLARED = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD_BYTES = 65_536  # HTML wants the declaration earlier (WHATWG HTML, 4.2.5.4)


def read(body: bytes) -> tuple[Page, ...]:
    markup, missing = _markup(body)
    shown = _Shown.of(markup)
    frames = shown.frames
    if frames:
        missing = (
            *missing,
            f"{frames} pages in frames were not read"
            if frames > 1
            else "a page in a frame was not read",
        )
    missing = (*missing, *hidden_words(shown.hidden_words))
    (page,) = unpaged(*joined(shown.blocks), missing=missing)
    return (replace(page, title=shown.title),)


@dataclass
class _List:
    is_ordered: bool
    next: int = 1
    step: int = 1
    format: str = "decimal"


@dataclass
class _Table:
    is_arrangement: bool
    rows: list[Row] = field(default_factory=list)
    width: int = 0  # columns of the row that is being read
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)  # rows to come, and columns
    spanned: int = 0

    def start_row(self) -> None:
        self.rows.append([])
        self.width = 0
        self._span()

    def add(self, cell: Cell, down: int) -> None:
        if not self.rows:
            self.start_row()
        if down > 1 and self.spanned < _MOST_CELLS:
            self.spans[self.width] = (down - 1, cell.across)
        self.rows[-1].append(cell)
        self.width += cell.across
        self._span()

    def _span(self) -> None:
        """Add what is part of cells above, up to the next column that is free."""
        while span := self.spans.pop(self.width, None):
            self.rows[-1].append(Cell(across=span[1], continues=True))
            if span[0] > 1 and self.spanned < _MOST_CELLS:
                self.spans[self.width] = (span[0] - 1, span[1])
            self.width += span[1]
            self.spanned += 1

    def blocks(self) -> list[Block]:
        rows = [row for row in self.rows if any(cell.blocks for cell in row)]
        if self.is_arrangement:
            return [block for row in rows for cell in row for block in cell.blocks]
        of_names = 0
        while of_names < len(rows) and all(c.is_header or not c.blocks for c in rows[of_names]):
            of_names += 1
        # What goes on in the rows below names those.
        while 1 < of_names < len(rows) and any(cell.continues for cell in rows[of_names]):
            of_names -= 1
        # Rows of nothing but names are more than names of columns, where a table is all of them.
        return table_blocks(rows, headers=of_names if of_names < len(rows) else 0)


@dataclass
class _Heading:
    element: int
    said: list[str] = field(default_factory=list)
    length: int = 0


class _Shown:
    """The visible parts of a page, gathered node by node."""

    def __init__(self) -> None:
        self.blocks = list[Block]()
        self.hidden_words = self.frames = 0
        self.title = ""
        self._places = [self.blocks]
        self._pieces = list[str]()
        self._heading: _Heading | None = None
        self._label = ""  # of a list's item, until its text comes
        self._lists, self._tables = list[_List](), list[_Table]()
        self._looks = list[Appearance]()
        self._verbatim = self._drawn = 0  # how many such elements are open
        self._has_scripts = False

    @classmethod
    def of(cls, markup: str) -> "_Shown":
        if _is_too_deep(markup):
            raise Unreadable(
                f"the HTML has more than {_MAX_NESTING:,} elements inside each other, which is too"
                " many to read; save it as UTF-8 text and upload it again"
            )
        # Where scripts run, it ends at its end tag, whatever is open in it.
        markup = _NOSCRIPT.sub(lambda found: found[1] or "", markup)
        shown, tree = cls(), LexborHTMLParser(markup)
        title = tree.css_first("head > title")
        shown.title = readable(title.text()) if title is not None else ""
        shown._has_scripts = tree.css_first("script") is not None
        if tree.root is not None:
            shown._read(tree.root, PageStyles(tree), has_sheets=bool(tree.css(_LINKED)))
        return shown

    def _read(self, root: LexborNode, styles: PageStyles, *, has_sheets: bool) -> None:
        # The colours that a sheet which is not in the file gives to text can't be told.
        self._looks.append(Appearance(ink=None, paper=None) if has_sheets else Appearance())
        node = root
        while True:
            if self._enter(node, styles) and (child := node.child) is not None:
                node = child
                continue
            while self._leave(node) or node.next is None:
                if node.mem_id == root.mem_id or node.parent is None:
                    self._end_block()
                    return
                node = node.parent
            node = node.next

    def _enter(self, node: LexborNode, styles: PageStyles) -> bool:
        """Return True for an element that is looked into."""
        tag = node.tag or ""
        if tag == "-text":
            self._say(node)
        if tag.startswith("-"):
            return False
        look = looked(self._looks[-1], styles.of(node))
        if tag == "dialog" and "open" not in node.attributes:
            look = replace(look, is_gone=True)
        if self._has_scripts and tag in {"html", "body"}:  # one shows what is hidden as a whole
            look = replace(look, is_gone=False, is_invisible=False)
        if tag == "svg" and node.css_first(_SHAPES):
            look = replace(look, paper=None)
        self._looks.append(look)
        self._drawn += tag == "svg"
        if self._drawn and tag.lower() in _NOT_DRAWN:
            return False
        if starts := _STARTS.get(tag):
            return starts(self, node)
        self._start(tag, node)
        return tag not in _NOT_SHOWN

    def _start(self, tag: str, node: LexborNode) -> None:
        if tag in _HEADINGS:
            self._end_block()
            self._heading = _Heading(node.mem_id)
        elif tag in _LISTS:
            self._start_list(node)
        elif tag not in _INLINE:
            self._break()
        elif tag in _BEFORE:
            self._add(_BEFORE[tag])
        elif (parent := node.parent) and parent.tag in _OPERATORS and node.prev is not None:
            self._add(_OPERATORS[parent.tag])

    def _leave(self, node: LexborNode) -> bool:
        """Return False, so that whoever leaves goes on to what follows."""
        tag = node.tag or ""
        if tag.startswith("-"):
            return False
        if ends := _ENDS.get(tag):
            ends(self, node)
        elif tag in _LISTS:
            self._end_block()
            self._lists.pop()
        elif tag in _AFTER:
            self._add(_AFTER[tag])
        elif tag not in _INLINE:
            self._break()
        if self._heading and self._heading.element == node.mem_id:
            self._end_block()
        self._looks.pop()
        self._drawn -= tag == "svg"
        return False

    # Text, and the blocks that it makes.

    def _say(self, node: LexborNode) -> None:
        text = node.text_content or ""
        parent = node.parent
        if self._drawn and parent and parent.tag in {"svg", "g"}:
            return
        if not text.strip():
            self._add(text)
        elif self._looks[-1].hides():
            self.hidden_words += len(text.split())
        else:
            self._add(text, is_of_heading=not _is_of_permalink(parent, text))

    def _add(self, text: str, *, is_of_heading: bool = True) -> None:
        if self._looks[-1].hides():
            return
        text = text if self._verbatim else _SPACES.sub(" ", text)
        self._pieces.append(text)
        heading = self._heading
        if heading and is_of_heading and heading.length <= RAW_CHARACTERS:
            heading.said.append(text)
            heading.length += len(text)

    def _break(self) -> None:
        if self._heading:
            self._pieces.append("\n")
            self._heading.said.append(" ")
        else:
            self._end_block()

    def _end_block(self) -> None:
        lines = "".join(self._pieces).split("\n")
        self._pieces = []
        if not self._verbatim:
            lines = [" ".join(filter(None, line.split(" "))) for line in lines]
        text = "\n".join(line.rstrip() for line in lines if line.strip())
        heading, self._heading = self._heading, None
        if text and self._label:
            text, self._label = f"{self._label} {text.lstrip()}", ""
        if text:
            self._places[-1].append(Block(text, heading="".join(heading.said) if heading else None))

    def _new_line(self, _: LexborNode) -> bool:
        self._pieces.append("\n")
        if self._heading:
            self._heading.said.append(" ")
        return False

    def _start_verbatim(self, _: LexborNode) -> bool:
        self._break()
        self._verbatim += 1
        return True

    def _end_verbatim(self, _: LexborNode) -> None:
        self._break()
        self._verbatim -= 1

    # Lists.

    def _start_list(self, node: LexborNode) -> None:
        self._break()
        attributes = node.attributes
        of = _List(
            node.tag == "ol", format=_FORMATS.get((attributes.get("type") or "").strip(), "decimal")
        )
        if "reversed" in attributes:
            of.step, of.next = -1, len(node.css("li"))
        of.next = _integer(attributes.get("start"), of.next)
        self._lists.append(of)

    def _start_item(self, node: LexborNode) -> bool:
        self._break()
        if not self._lists or self._looks[-1].is_gone or self._heading:
            return True
        this = self._lists[-1]
        this.next = _integer(node.attributes.get("value"), this.next)
        sign = f"{numbered(this.next, this.format)}." if this.is_ordered else "-"
        this.next += this.step
        self._label = "  " * min(len(self._lists) - 1, _MAX_INDENT) + sign
        return True

    def _end_item(self, _: LexborNode) -> None:
        self._break()
        self._label = ""

    # Tables; one in a heading is its text.

    def _start_table(self, node: LexborNode) -> bool:
        self._break()
        if not self._heading:
            role = (node.attributes.get("role") or "").lower()
            self._tables.append(_Table(role in {"presentation", "none"}))
            self._places.append(self._places[-1])
        return True

    def _end_table(self, _: LexborNode) -> None:
        self._break()
        if self._tables and not self._heading:
            self._places.pop()
            self._places[-1].extend(self._tables.pop().blocks())

    def _start_row(self, _: LexborNode) -> bool:
        self._break()
        if self._tables and not self._heading:
            self._tables[-1].start_row()
        return True

    def _start_cell(self, node: LexborNode) -> bool:
        self._break()
        if self._tables and not self._heading:
            across = _integer(node.attributes.get("colspan"), 1)
            in_head = node.parent and node.parent.parent and node.parent.parent.tag == "thead"
            cell = Cell(
                across=max(1, min(across, MAX_ACROSS)),
                is_header=node.tag == "th" or bool(in_head),
            )
            self._tables[-1].add(cell, _integer(node.attributes.get("rowspan"), 1))
            self._places.append(cell.blocks)
            self._label = ""
        return True

    def _end_cell(self, _: LexborNode) -> None:
        self._break()
        if self._tables and not self._heading:
            self._places.pop()

    # Forms and frames.

    def _show_input(self, node: LexborNode) -> bool:
        attributes = node.attributes
        kind = (attributes.get("type") or "text").lower()
        if kind in {"checkbox", "radio"}:
            self._add(" ☒ " if "checked" in attributes else " ☐ ")
        elif kind not in _NO_TEXT_INPUTS:
            self._add(f" {attributes.get('value') or attributes.get('placeholder') or ''} ")
        return False

    def _show_text_area(self, node: LexborNode) -> bool:
        self._add(f" {node.text() or node.attributes.get('placeholder') or ''} ")
        return False

    def _show_choice(self, node: LexborNode) -> bool:
        options = node.css("option")
        shows_all = "multiple" in node.attributes or _integer(node.attributes.get("size"), 1) > 1
        if not shows_all:
            options = [each for each in options if "selected" in each.attributes][-1:] or options[
                :1
            ]
        for option in options:
            self._add(f" {option.attributes.get('label') or option.text()} ")
        return False

    def _show_frame(self, node: LexborNode) -> bool:
        attributes = node.attributes
        self._break()
        if self._looks[-1].hides():
            return False
        if (attributes.get("srcdoc") or attributes.get("src")) and not _is_dot(attributes):
            self.frames += 1
        return False


_STARTS: dict[str, Callable[[_Shown, LexborNode], bool]] = {
    "br": _Shown._new_line,
    "pre": _Shown._start_verbatim,
    "listing": _Shown._start_verbatim,
    "li": _Shown._start_item,
    "table": _Shown._start_table,
    "tr": _Shown._start_row,
    "td": _Shown._start_cell,
    "th": _Shown._start_cell,
    "input": _Shown._show_input,
    "textarea": _Shown._show_text_area,
    "select": _Shown._show_choice,
    "iframe": _Shown._show_frame,
    "frame": _Shown._show_frame,
}
_ENDS: dict[str, Callable[[_Shown, LexborNode], None]] = {
    "pre": _Shown._end_verbatim,
    "listing": _Shown._end_verbatim,
    "li": _Shown._end_item,
    "table": _Shown._end_table,
    "td": _Shown._end_cell,
    "th": _Shown._end_cell,
}


def _integer(value: str | None, default: int) -> int:
    found = _INTEGER.match(value or "")
    return int(found[1]) if found else default


def _is_dot(attributes: Mapping[str, str | None]) -> bool:
    """Return True for a frame that is only there to count visitors."""
    return any((attributes.get(side) or "").strip() in {"0", "1"} for side in ("width", "height"))


def _is_of_permalink(parent: LexborNode | None, text: str) -> bool:
    """Return True for the sign of a heading's link to itself: Sphinx's ¶, or a # or § of others."""
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


def _markup(body: bytes) -> Decoded:
    declared = _DECLARED.search(body[:_HEAD_BYTES])
    if declared and not body.startswith(_MARKS):
        return decode_declared(body, declared[1].decode("ascii"))
    return decode(body)
