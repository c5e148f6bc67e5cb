"""
The words of a question in the passages that were found for it.

Words are compared as SQLite's full-text search does it: in one case, without accents, English ones
by their stem. Chinese, Japanese and Korean put no spaces between words, so two letters that stand
together count as one.
"""

import math
import re
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from stackroom.filters import Filter
from stackroom.ports.retrieval import KnowledgeBase, Retrieved, Search
from stackroom.retrieval.fusion import fused

_WORD = re.compile(r"\w+")
# Han, kana and Hangul, in runs.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_MOST_WORDS = 60  # of a question that are compared: it may be a thousand characters long
# What a question is asked with says nothing of what it is about. In English, and the shortest list
# that helps: words that most passages have weigh next to nothing by themselves.
_ASKING_WORDS = """
a about am an and any are as at be been but by can could did do does for from had has have how i if
in into is it its many me much my need of on or our please shall should so some such tell than that
the their them then there these they this those to us was we were what when where whether which who
whom whose why will with would you your
"""
_ASKING = frozenset(_ASKING_WORDS.split())


@dataclass(frozen=True, kw_only=True)
class Match:
    """
    Of a question and one passage among several.

    `bm25` is 0 or more, and grows with relevance. `coverage` is from 0 to 1: which share of the
    question's words the passage has, where a word counts more the fewer of the passages have it.
    """

    bm25: float
    coverage: float


@dataclass(frozen=True, kw_only=True)
class Matches:
    """
    By position of the passages. `missing` is the share of the question's words, from 0 to 1, that
    none of them has. Pairs of letters don't count: where no spaces are, most are no words.
    """

    passages: tuple[Match, ...]
    missing: float


_NONE = Match(bm25=0, coverage=0)


@dataclass(frozen=True)
class RankedByWords:
    """
    A `KnowledgeBase` in front of one that searches by meaning alone.

    What that finds is ranked by words, too, and ordered by both ranks; the more it is asked for,
    the more there is to choose from. What meaning doesn't bring near, no word can find.
    """

    knowledge_base: KnowledgeBase

    # A002: the port's name
    def retrieve(self, query: str, filter: Filter, limit: int) -> Retrieved:  # noqa: A002
        found = self.knowledge_base.retrieve(query, filter, limit)
        matches = matched(query, [passage.text for passage in found.passages]).passages
        passages = [
            replace(passage, words=match.bm25)
            for passage, match in zip(found.passages, matches, strict=True)
        ]
        ordered = fused(range(len(passages)), by_words(matches))
        return replace(found, passages=tuple(passages[at] for at in ordered), search=Search.RANKED)


def by_words(matches: Sequence[Match]) -> list[int]:
    """The positions of those that match at all, the best first."""
    matching = [at for at, match in enumerate(matches) if match.bm25]
    return sorted(matching, key=lambda at: -matches[at].bm25)


def matched(question: str, texts: Sequence[str]) -> Matches:
    """How well each of the texts matches the question's words, among all of them."""
    words = words_of(question)
    if not words or not texts:
        return Matches(passages=(_NONE,) * len(texts), missing=0.0)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(
            "CREATE VIRTUAL TABLE texts USING fts5"
            "(text, tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        database.executemany("INSERT INTO texts (text) VALUES (?)", [(spaced(t),) for t in texts])
        having = {word: _rows(database, [word]) for word in words}
        bm25 = _rows(database, words)
    weights = {word: _weight(len(rows), len(texts)) for word, rows in having.items()}
    total = sum(weights.values())
    return Matches(
        passages=tuple(
            Match(
                bm25=bm25.get(row, 0.0),
                coverage=sum(weights[word] for word in words if row in having[word]) / total,
            )
            for row in range(1, len(texts) + 1)
        ),
        missing=_missing(having),
    )


def words_of(question: str) -> list[str]:
    """Those that say what it is about, each once; all of them if it has no others."""
    words = list(dict.fromkeys(_WORD.findall(spaced(question).lower())))
    return ([word for word in words if word not in _ASKING] or words)[:_MOST_WORDS]


def spaced(text: str) -> str:
    """With spaces between any two letters, as they overlap, where a script has none."""
    storable = text.encode(errors="replace").decode()  # half a surrogate pair is no text to SQLite
    return _UNSPACED.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", storable)


def _missing(having: Mapping[str, Collection[int]]) -> float:
    counted = [rows for word, rows in having.items() if not _UNSPACED.search(word)]
    return sum(not rows for rows in counted) / len(counted) if counted else 0.0


def _pairs(run: str) -> Iterable[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def _rows(database: sqlite3.Connection, words: Sequence[str]) -> dict[int, float]:
    """Those with any of the words, and how well they match by BM25."""
    any_of = " OR ".join(f'"{word}"' for word in words)
    # FTS5's bm25() is the better the smaller, and always below 0.
    found = database.execute("SELECT rowid, -bm25(texts) FROM texts WHERE texts MATCH ?", (any_of,))
    return dict(found.fetchall())


def _weight(count: int, total: int) -> float:
    """BM25's inverse document frequency, as Lucene has it: above 0 for every count."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))
