"""Where the words of a question stand in a text, for whoever shows it to a person."""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

from stackroom.retrieval.words import TOKENIZER, is_unspaced, words_of

_OPEN, _CLOSE = "\x02", "\x03"
_MARKS = re.compile(f"[{_OPEN}{_CLOSE}]")
_OURS = re.compile(f"[\x00{_OPEN}{_CLOSE}]")  # at a zero SQLite ends a text


@dataclass(frozen=True)
class Piece:
    text: str
    is_marked: bool


def marked_pieces(question: str, text: str) -> tuple[Piece, ...]:
    """
    The text in pieces; together they are all of it. A word is marked in any of its forms that the
    search by words takes for the same; the asking words ("how", "the") are none.
    """
    text = _OURS.sub(" ", text).encode(errors="replace").decode()
    words = words_of(question)
    pairs = [word for word in words if is_unspaced(word)]
    ranges = [*_of_words(set(words) - set(pairs), text), *_of_pairs(pairs, text)]
    return tuple(_pieces(text, _merged(ranges)))


def _of_words(words: Iterable[str], text: str) -> list[tuple[int, int]]:
    query = " OR ".join(f'"{word}"' for word in sorted(words))
    if not query:
        return []
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE VIRTUAL TABLE texts USING fts5(text, {TOKENIZER})")
        database.execute("INSERT INTO texts (text) VALUES (?)", (text,))
        found = database.execute(
            "SELECT highlight(texts, 0, ?, ?) FROM texts WHERE texts MATCH ?",
            (_OPEN, _CLOSE, query),
        ).fetchone()
    return [] if found is None else _between_marks(found[0])


def _between_marks(highlighted: str) -> list[tuple[int, int]]:
    """Positions in the text as it was before the marks."""
    ranges, begins = [], 0
    for number, mark in enumerate(_MARKS.finditer(highlighted)):
        at = mark.start() - number
        if mark[0] == _OPEN:
            begins = at
        else:
            ranges.append((begins, at))
    return ranges


def _of_pairs(pairs: Iterable[str], text: str) -> Iterator[tuple[int, int]]:
    lowered = text.lower() if len(text.lower()) == len(text) else text
    for pair in pairs:
        for match in re.finditer(f"(?={re.escape(pair)})", lowered):
            yield match.start(), match.start() + len(pair)


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def _pieces(text: str, ranges: Iterable[tuple[int, int]]) -> Iterator[Piece]:
    at = 0
    for begin, end in ranges:
        if at < begin:
            yield Piece(text[at:begin], is_marked=False)
        yield Piece(text[begin:end], is_marked=True)
        at = end
    if at < len(text):
        yield Piece(text[at:], is_marked=False)
