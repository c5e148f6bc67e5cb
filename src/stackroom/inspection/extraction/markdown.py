"""
MD: the text as it is written, but for its tables, and its headings.

Headings as CommonMark has them (https://spec.commonmark.org/0.31.2/, 4.2 and 4.3): `#` to `######`
before the line, or a line of `=` or `-` below. Not looked into: fenced code, HTML comments and the
front matter that site generators read. Indented code, quotes and lists have no headings of ours.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from stackroom.inspection.extraction.page import RAW_CHARACTERS, Found, Page, unpaged
from stackroom.inspection.extraction.plain import lines_of
from stackroom.inspection.extraction.tables import table_lines

_FRONT_MATTER = re.compile(r"---[ \t]*\n[\w\"'-][^\n:]*:")
_END_OF_FRONT_MATTER = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_MAX_FRONT_MATTER = 20_000
# Each at the start of a line; possessive where a line of a megabyte would else be tried twice.
_MARK = re.compile(
    r"^ {0,3}(?:"
    r"(?P<hashes>#{1,6})(?=[ \t\n]|\Z)"
    r"|(?P<fence>`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)"
    r"|(?P<comment><!--)"
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
    text = _with_tables(written)
    return unpaged(text, _found(text), missing=missing)


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
        written.append(table_lines(rows, has_header=True))
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
    has_header = first is not None and first.css_first("th") is not None
    return table_lines(rows, has_header=has_header or None)


# Headings.


def _found(text: str) -> Iterator[Found]:
    """Where each heading begins, and what it says."""
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
        elif mark["fence"]:
            position = _end_of_fence(text, mark["fence"], position)
        else:
            position = _end_of_comment(text, mark.end())
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
    """Where the line that closes it ends; without one, code goes on to the end of the file."""
    closing = re.compile(rf"^ {{0,3}}{fence[0]}{{{len(fence)},}}+[ \t]*$", re.MULTILINE)
    closed = closing.search(text, position)
    return closed.end() if closed else len(text)


def _end_of_comment(text: str, position: int) -> int:
    end = text.find("-->", position)
    return _end_of_line(text, end) if end >= 0 else len(text)


def _paragraph_above(text: str, position: int, below: int) -> int | None:
    """
    Where the paragraph that ends at the position begins; None if none does, or a long one.

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
    """What is read of it: text of links and pictures; closing hashes, emphasis and tags gone."""
    text = " ".join(markup.split())
    if closing:
        text = _CLOSING_HASHES.sub("", text)
    text = _NAMED.sub("", text)
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))  # twice: a picture inside a link
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub("", _TAG.sub("", text)))
