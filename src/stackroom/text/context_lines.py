"""
Context lines: facts that a passage alone lacks, in lines of the text that it is cut from.

    ⟦2024 Q3 Nordwind⟧
    ⟦2024 Q3 Nordwind · Certifications · page 12⟧

Each has the file's name without its extension. A title, a section or a page takes similarity from
what a passage says, so that a line has its place only where several passages may be alike. So does
the name of the file: a text of a single passage, which is the whole document, has no such line.

The brackets stand nowhere else in such a text (`escaped`), so nobody can forge a line, and one is
known again even where a passage has only half of it.
"""

import re
from functools import lru_cache
from pathlib import PurePosixPath

from stackroom.text.extraction.page import readable

_MAX_PART = 80  # characters of a name, a title or a heading
_CUT = "…"
_BETWEEN = " · "
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a pair: it can't be written as UTF-8
# A whole line; its beginning at the end of a line; its end at the beginning of one.
_CONTEXT = re.compile(r"(⟦[^⟦⟧\n]*⟧|⟦[^⟦⟧\n]*$|^[^⟦⟧\n]*⟧)\s?", re.MULTILINE)


def escaped(text: str) -> str:
    """Return the text without the brackets of a context line, fit for UTF-8."""
    return _SURROGATE.sub("\ufffd", text.replace("⟦", "[[").replace("⟧", "]]"))


def context_line(filename: str, *, title: str, section: str | None, page: int | None) -> str:
    path = PurePosixPath(filename)
    name = str(path.with_suffix("")) if len(filename) <= _MAX_PART else path.stem
    return f"⟦{_BETWEEN.join(filter(None, map(_short, (name, title))))}{_ending(section, page)}"


@lru_cache(4096)  # passages that repeat are told apart by many of them
def _ending(section: str | None, page: int | None) -> str:
    """Return what a line for such a place ends with, its bracket included."""
    parts = [_short(section or ""), "" if page is None else f"page {page}"]
    return "".join(f"{_BETWEEN}{part}" for part in parts if part) + "⟧"


def _short(text: str) -> str:
    line = escaped(readable(text))
    return line if len(line) <= _MAX_PART else line[: _MAX_PART - 1].rstrip() + _CUT


def without_context(passage: str) -> str:
    """Return a passage without its context lines, whole or cut off at its ends."""
    shown = _CONTEXT.sub("", passage) if "⟦" in passage or "⟧" in passage else passage
    return shown.strip("\r\n")


def split_at_context(passage: str) -> tuple[list[str], list[str]]:
    """Return the texts between context lines, one more than there are, and these lines."""
    parts = _CONTEXT.split(passage)
    return parts[::2], parts[1::2]


def may_be_of(line: str, section: str | None, page: int | None) -> bool:
    """
    Return True if a context line, or the part of one that a passage has, names this section and
    page.
    """
    has_no_place = line.startswith("⟦") and _BETWEEN not in line
    if has_no_place or not line.endswith("⟧"):
        return True
    ending = _ending(section, page)
    return line.endswith(ending) or (not line.startswith("⟦") and ending.endswith(line))
