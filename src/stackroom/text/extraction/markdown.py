"""
MD: the text as it is written, but for its tables, its headings, and what nobody sees of it once it
is rendered: comments, attributes, elements that are hidden, links that no text refers to.

Headings as CommonMark has them (https://spec.commonmark.org/0.31.2/, 4.2 and 4.3): `#` to `######`
before the line, or a line of `=` or `-` below. Not looked into: fenced code and the front matter
that site generators read. Indented code, quotes and lists have no headings of ours.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser

from stackroom.errors import Unreadable
from stackroom.text.extraction import webpage
from stackroom.text.extraction.page import (
    RAW_CHARACTERS,
    Found,
    Page,
    hidden_words,
    unpaged,
)
from stackroom.text.extraction.plain import lines_of
from stackroom.text.extraction.tables import table_lines

_FRONT_MATTER = re.compile(r"---[ \t]*\n[\w\"'-][^\n:]*:")
_END_OF_FRONT_MATTER = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_MAX_FRONT_MATTER = 20_000
# Each at the start of a line; possessive where a line of a megabyte would else be tried twice.
_MARK = re.compile(
    r"^ {0,3}(?:"
    r"(?P<hashes>#{1,6})(?=[ \t\n]|\Z)"
    r"|(?P<fence>`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)"
    r"|(?P<underline>=++|-++)[ \t]*+(?=\n|\Z)"
    r")",
    re.MULTILINE,
)
_MAX_MARKS = 400_000  # as many are looked at: a second's work, where a file is nothing but marks
_MAX_LINES = 5  # of a heading with a line below it
_BREAK = re.compile(r" {0,3}(?:\*{3,}|_{3,})[ \t]*$")
# What a line begins with that is no paragraph: quote, list, table, HTML, indented code. A line of
# `-` below one of them ends it.
_NO_PARAGRAPH = re.compile(r" {0,3}(?:[>|<]|[-+*][ \t]|\d{1,9}[.)][ \t])| {4}|\t")
_CLOSING_HASHES = re.compile(r"(?:^| )#+$")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_NAMED = re.compile(r" ?\{[#.:][^{}]*\}$")  # {#id} and {.class} of many generators
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*+|`+|~~|(?<!\w)_+|(?<!_)_++(?!\w))")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def read(body: bytes) -> tuple[Page, ...]:
    written, missing = lines_of(body)
    shown, hidden = _as_rendered(written)
    text = _with_tables(shown)
    return unpaged(text, _found(text), missing=(*missing, *hidden_words(hidden)))


# What nobody sees of it, in code apart. HTML in Markdown begins and ends as CommonMark has it
# (https://spec.commonmark.org/0.31.2/, 4.6, 4.7 and 6.6).

_TITLE = r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))"""
_RAW = re.compile(
    r"^ {0,3}(?P<fence>`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)"
    r"|(?<![\\`])(?P<code>`++)"
    r"|(?P<opening><!--|<\?|<!\[CDATA\[|<!(?=[A-Za-z]))"
    r"""|<(?P<name>[A-Za-z][A-Za-z0-9-]*+)(?P<rest>(?:\s(?:[^<>"']|"[^"]*+"|'[^']*+')*+|/)?)>"""
    r"|^ {0,3}\[(?!\^|\s*\])(?P<label>(?:[^\[\]\\]|\\.)++)\]:[ \t]*+\n?[ \t]*+"
    rf"(?P<link><[^<>\n]*+>|[^\s<]\S*+)(?:(?:[ \t]++|[ \t]*+\n[ \t]*+){_TITLE})?[ \t]*+$",
    re.MULTILINE | re.DOTALL,
)
_CLOSINGS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>", "<!": ">"}
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.)++)\](?!:)", re.DOTALL)
_STYLE = re.compile(r"<style\b[^<>]*>.*?</style\s*>", re.DOTALL | re.IGNORECASE)
# Of a paragraph: lines of HTML, in which backticks are no code.
_HTML_LINE = re.compile(r"^ {0,3}</?[A-Za-z]", re.MULTILINE)
# What shows some of it, or more than the text in it; what an open one ends with, its paragraph.
_NOT_JUDGED = frozenset({"svg", "math", "select", "optgroup", "option"})
_OF_A_PARAGRAPH = frozenset({"p", "li", "dt", "dd", "span", "tr", "td", "th"})
_SPAN = re.compile(r"""\s(?:col|row)span\s*+=\s*+["']?\d++["']?""", re.IGNORECASE)
_MAY_HIDE = re.compile(r"hidden|style|class|color|popover|opacity|size|width|height", re.I)
_AROUND = {"td": "<table><tr>", "th": "<table><tr>", "tr": "<table>"}

_Cut = tuple[int, int, str]  # from where to where, and what stays there


def _as_rendered(text: str) -> tuple[str, int]:
    """Return what is seen of it, and how many words of hidden elements are not."""
    pieces, at, hidden = list[str](), 0, 0
    for begin, end, kept in _unseen(text):
        pieces += [text[at:begin], kept]
        at = end
        if not kept and text[begin] == "<" and text[begin + 1].isalpha():
            hidden += len(_TAG.sub(" ", text[begin:end]).split())
    return "".join([*pieces, text[at:]]), hidden


def _unseen(text: str) -> Iterator[_Cut]:
    hidden = _Hidden(text, styles="".join(_STYLE.findall(text)))
    labels = {_label_of(each) for each in _LABEL.findall(text)}
    at, paragraph = 0, _Paragraph(text)
    while found := _RAW.search(text, at):
        begin, at = found.span()
        if code := found["fence"] or found["code"]:
            at = _end_of_code(text, code, at) if paragraph.has_code(begin) else at
        elif opening := found["opening"]:
            if (end := _end_of_comment(text, begin, _CLOSINGS[opening])) is not None:
                yield begin, (at := end), ""
        elif label := found["label"]:
            is_used = _label_of(label) in labels
            yield begin, at, f"[{label}]: {found['link']}" if is_used else ""
        elif (end := hidden.end_of(found)) is not None:
            yield begin, (at := end), ""
        elif found["rest"].strip(" \t\n/"):
            yield begin, at, f"<{found['name']}{''.join(_SPAN.findall(found['rest']))}>"


@dataclass
class _Paragraph:
    """The paragraph that was looked at last, and where HTML begins in it."""

    text: str
    end: int = 0
    html: int = 0

    def has_code(self, position: int) -> bool:
        if position >= self.end:
            above, below = self.text.rfind("\n\n", 0, position), self.text.find("\n\n", position)
            self.end = below if below >= 0 else len(self.text)
            found = _HTML_LINE.search(self.text, max(0, above), self.end)
            self.html = found.start() if found else self.end
        return position < self.html


@dataclass
class _Hidden:
    """The elements of a text that a page shows nothing of."""

    text: str
    styles: str
    ends: dict[str, Mapping[int, int]] = field(default_factory=dict)  # by name

    def end_of(self, opening: re.Match[str]) -> int | None:
        """
        Return where the element ends; None if a page shows something of it.

        One that hides by its name alone and has no end is prose, such as "<Object> is not a
        function", and shown by what renders Markdown.
        """
        name, attributes = opening["name"].lower(), opening["rest"]
        if not _is_hidden(self.styles, name, attributes):
            return None
        if name not in self.ends:
            self.ends[name] = _ends_of(self.text, name)
        end = self.ends[name].get(opening.start())
        if end is not None or _is_hidden("", name, ""):
            return end
        end = self.text.find("\n\n", opening.end()) if name in _OF_A_PARAGRAPH else -1
        return end if end >= 0 else len(self.text)


def _ends_of(text: str, name: str) -> Mapping[int, int]:
    """Return by where it begins where each element of that name ends, if it has an end."""
    ends, opened = dict[int, int](), list[int]()
    for tag in re.finditer(rf"<(/?){name}(?=[\s/>])[^<>]*>", text, re.IGNORECASE):
        if not tag[1]:
            opened.append(tag.start())
        elif opened:
            ends[opened.pop()] = tag.end()
    return ends


def _end_of_code(text: str, opening: str, position: int) -> int:
    """Return where a fence is closed, or a span of code in a line; of an open span, its opening."""
    if len(opening) > 2 and not text[text.rfind("\n", 0, position) + 1 : position].strip(" `~"):
        return _end_of_fence(text, opening, position)
    span = re.compile(rf"(?<!`){opening}(?!`)")
    closing = span.search(text, position, _end_of_line(text, position))
    return closing.end() if closing else position


def _label_of(written: str) -> str:
    return " ".join(written.split()).lower()


def _is_hidden(styles: str, name: str, attributes: str) -> bool:
    """Return True if a page shows nothing of an element with this name and these attributes."""
    if name.lower() in _NOT_JUDGED:
        return False
    hides = styles or _MAY_HIDE.search(attributes)
    return _shows_nothing(styles, name.lower(), attributes if hides else "")


@lru_cache(4096)
def _shows_nothing(styles: str, name: str, attributes: str) -> bool:
    try:
        webpage.read(f"<body>{styles}{_AROUND.get(name, '')}<{name}{attributes}>x".encode())
    except Unreadable:
        return True
    return False


def _end_of_comment(text: str, begin: int, closing: str) -> int | None:
    """Return where it ends; None of one that begins in a line and has no end, which is text."""
    end = text.find(closing, begin + 2)
    if end >= 0:
        return end + len(closing)
    return len(text) if not text[text.rfind("\n", 0, begin) + 1 : begin].strip() else None


# Tables as GitHub has them (https://github.github.com/gfm/#tables-extension-), and those of HTML.

_DELIMITER_ROW = re.compile(r" {0,3}\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NO_ROW = re.compile(r" {0,3}(?:[>#]|[-+*][ \t])| {4}|\t")
_CELL_END = re.compile(r"(?<!\\)\|")
_HTML_TABLE = re.compile(r"<table\b(?:(?!<table\b).)*?</table\s*>", re.DOTALL | re.IGNORECASE)


def _with_tables(text: str) -> str:
    lines, written, fence = text.split("\n"), list[str](), ""
    at = 0
    while at < len(lines):
        line, is_table = lines[at], False
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif not fence and "|" in line and at + 1 < len(lines):
            is_table = _is_header(line, lines[at + 1])
        if not is_table:
            written.append(line)
            at += 1
            continue
        end = next((n for n in range(at + 2, len(lines)) if not _is_row(lines[n])), len(lines))
        rows = [_cells(lines[n]) for n in range(at, end) if n != at + 1]
        written.append(table_lines(rows, headers=1))
        at = end
    return _HTML_TABLE.sub(_html_table, "\n".join(written))


def _is_header(line: str, below: str) -> bool:
    return (
        "-" in below
        and not _NO_ROW.match(line)
        and _DELIMITER_ROW.fullmatch(below) is not None
        and len(_cells(line)) == len(_cells(below))
    )


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not _NO_ROW.match(line) and not _FENCE.match(line)


def _cells(line: str) -> list[str]:
    inside = line.strip().removeprefix("|")
    cells = _CELL_END.split(inside)
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _html_table(found: re.Match[str]) -> str:
    """Return a table whose cells stand in rows of their own; another stays as it is written."""
    if "span=" in found[0]:
        return found[0]
    tree = LexborHTMLParser(found[0])
    rows = [
        [cell.text(separator=" ", strip=True) for cell in row.css("td, th")]
        for row in tree.css("tr")
    ]
    first = tree.css_first("tr")
    has_names = first is not None and first.css_first("th") is not None
    return table_lines(rows, headers=1 if has_names else None)


# Headings.


def _found(text: str) -> Iterator[Found]:
    """Yield where each heading begins, and its text."""
    position = _end_of_front_matter(text)
    for _ in range(_MAX_MARKS):
        mark = _MARK.search(text, position)
        if mark is None:
            return
        below, position = position, _end_of_line(text, mark.end())
        if mark["hashes"]:
            yield mark.start(), _plain(_slice(text, mark.end(), position), closing=True)
        elif mark["underline"]:
            start = _paragraph_above(text, mark.start(), below)
            if start is not None:
                yield start, _plain(_slice(text, start, mark.start()))
        else:
            position = _end_of_fence(text, mark["fence"], position)
    yield position, None


def _slice(text: str, start: int, end: int) -> str:
    return text[start : min(end, start + RAW_CHARACTERS)]


def _end_of_front_matter(text: str) -> int:
    begun = _FRONT_MATTER.match(text)
    end = begun and _END_OF_FRONT_MATTER.search(text, begun.end(), _MAX_FRONT_MATTER)
    return end.end() if end else 0


def _end_of_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _end_of_fence(text: str, fence: str, position: int) -> int:
    """
    Return where the line that closes the fence ends; without one, code goes on to the end of the
    file.
    """
    closing = re.compile(rf"^ {{0,3}}{fence[0]}{{{len(fence)},}}+[ \t]*$", re.MULTILINE)
    closed = closing.search(text, position)
    return closed.end() if closed else len(text)


def _paragraph_above(text: str, position: int, below: int) -> int | None:
    """
    Return where the paragraph that ends at the position begins; None if none does, or a long one.

    Nothing of it stands above `below`.
    """
    start = None
    for _ in range(_MAX_LINES + 1):
        line = max(text.rfind("\n", 0, position - 1) + 1, below) if position > below else position
        above = _slice(text, line, position)
        if not above.strip() or _BREAK.match(above):
            return start
        if _NO_PARAGRAPH.match(above):
            return None
        position = start = line
    return None


def _plain(markup: str, *, closing: bool = False) -> str:
    """
    Return the markup's visible text: of links and pictures their text; closing hashes, emphasis and
    tags are gone.
    """
    text = " ".join(markup.split())
    if closing:
        text = _CLOSING_HASHES.sub("", text)
    text = _NAMED.sub("", text)
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))  # twice: a picture inside a link
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub("", _TAG.sub("", text)))
