"""
The words of a question in the passages that were found for it.

Words are compared as SQLite's full-text search does it: in one case, without accents, English ones
by their stem. Chinese, Japanese and Korean put no spaces between words, so two letters that stand
together count as one.
"""

import math
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

_WORD = re.compile(r"\w+")
# Han, kana and Hangul, in runs.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_MOST_WORDS = 60  # of a question that are compared: it may be a thousand characters long
TOKENIZER = "tokenize = 'porter unicode61 remove_diacritics 2'"  # of FTS5
# What a question is asked with says nothing of what it is about. In English, and the shortest list
# that helps: words that most passages have weigh next to nothing by themselves.
_ASKING_WORDS = """
a about am an and any are as at be been but by can could did do does for from had has have how i if
in into is it its many may me might much must my need not of on or our please shall should so some
such tell than that the their them then there these they this those to us was we were what when
where whether which who whom whose why will with would you your
"""
_ASKING = frozenset(_ASKING_WORDS.split())


@dataclass(frozen=True, kw_only=True)
class Matches:
    """
    Of a question and several passages. `scores` are by position, 0 or more, and grow with
    relevance: BM25 among these passages.

    `shares` are by position, too: how much of the question each passage has, from 0 to 1. A word
    counts the more the fewer of these passages have it, one that none has as if one had it.

    `missing` is the share of the question's words, from 0 to 1, that none of them has. Pairs of
    letters don't count: where no spaces are, most are no words.
    """

    scores: tuple[float, ...]
    shares: tuple[float, ...]
    missing: float

    @property
    def order(self) -> list[int]:
        """The positions of those that match at all, the best first."""
        matching = [at for at, score in enumerate(self.scores) if score]
        return sorted(matching, key=lambda at: -self.scores[at])


def matched(question: str, texts: Sequence[str]) -> Matches:
    """How well each of the texts matches the question's words, among all of them."""
    words = words_of(question)
    if not words or not texts:
        nothing = (0.0,) * len(texts)
        return Matches(scores=nothing, shares=nothing, missing=0.0)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE VIRTUAL TABLE texts USING fts5(text, {TOKENIZER})")
        database.executemany("INSERT INTO texts (text) VALUES (?)", [(spaced(t),) for t in texts])
        having = {word: _rows(database, [word]) for word in words}
        found = _rows(database, words)
    scores = tuple(found.get(row, 0.0) for row in range(1, len(texts) + 1))
    return Matches(scores=scores, shares=_shares(having, len(texts)), missing=_missing(having))


def words_of(question: str) -> list[str]:
    """Those that say what it is about, each once; all of them if it has no others."""
    words = list(dict.fromkeys(_WORD.findall(spaced(question).lower())))
    return ([word for word in words if word not in _ASKING] or words)[:_MOST_WORDS]


def is_unspaced(word: str) -> bool:
    """Whether it is a pair of letters, of a script that puts no spaces between words."""
    return _UNSPACED.search(word) is not None


def spaced(text: str) -> str:
    """With spaces between any two letters, as they overlap, where a script has none."""
    storable = text.encode(errors="replace").decode()  # half a surrogate pair is no text to SQLite
    return _UNSPACED.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", storable)


def _shares(having: Mapping[str, Collection[int]], count: int) -> tuple[float, ...]:
    weights = {word: _weight(max(1, len(rows)), count) for word, rows in having.items()}
    whole = sum(weights.values())
    return tuple(
        sum(weights[word] for word, rows in having.items() if row in rows) / whole
        for row in range(1, count + 1)
    )


def _weight(having: int, count: int) -> float:
    """Of a word that so many of the passages have: what BM25 gives it, in Lucene's form."""
    return math.log1p((count - having + 0.5) / (having + 0.5))


def _missing(having: Mapping[str, Collection[int]]) -> float:
    counted = [rows for word, rows in having.items() if not is_unspaced(word)]
    return sum(not rows for rows in counted) / len(counted) if counted else 0.0


def _pairs(run: str) -> Iterable[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def _rows(database: sqlite3.Connection, words: Sequence[str]) -> dict[int, float]:
    """Those with any of the words, and how well they match by BM25."""
    any_of = " OR ".join(f'"{word}"' for word in words)
    # FTS5's bm25() is the better the smaller, and always below 0.
    found = database.execute("SELECT rowid, -bm25(texts) FROM texts WHERE texts MATCH ?", (any_of,))
    return dict(found.fetchall())


_OPEN, _CLOSE = "\x02", "\x03"
_MARKS = re.compile(f"[{_OPEN}{_CLOSE}]")
_OURS = re.compile(f"[\x00{_OPEN}{_CLOSE}]")  # at a zero SQLite ends a text


@dataclass(frozen=True)
class MarkedPiece:
    text: str
    is_marked: bool


def marked_pieces(question: str, text: str) -> tuple[MarkedPiece, ...]:
    """
    The text in pieces, for whoever shows it to a person; together they are all of it. A word is
    marked in any of its forms that the search by words takes for the same; the asking words ("how",
    "the") are none.
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


def _pieces(text: str, ranges: Iterable[tuple[int, int]]) -> Iterator[MarkedPiece]:
    at = 0
    for begin, end in ranges:
        if at < begin:
            yield MarkedPiece(text[at:begin], is_marked=False)
        yield MarkedPiece(text[begin:end], is_marked=True)
        at = end
    if at < len(text):
        yield MarkedPiece(text[at:], is_marked=False)
