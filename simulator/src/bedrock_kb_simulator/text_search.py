"""
Full-text search over an index's metadata: BM25 by SQLite's FTS5, with a table for each key.

Triggers keep the tables current with every write and deletion of vectors.
"""

import math
import re
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.metadata import BEDROCK_TEXT, OwnKeys, metadata_of
from bedrock_kb_simulator.store import Store

# The words of a text: rule text-search.analyzers. Without a language the standard analyzer applies.
_STEMMED = "en"
_UNSPACED = ("zh", "ja", "ko")
_WORD = re.compile(r"[^\W_]+")
_UNSPACED_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")

# Lucene's English stop words, which OpenSearch's analyzer `english` has too.
_STOP_WORDS = frozenset(
    _WORD.findall(
        "a an and are as at be but by for if in into is it no not of on or such that the their"
        " then there these they this to was will with"
    )
)


@cache
def tokenizer_of(language: str | None) -> str:
    """Return the tokenizer of an FTS5 table."""
    base = "unicode61 remove_diacritics 0"
    return f"porter {base}" if language == _STEMMED else base


def space_words(text: str, language: str | None) -> str:
    """Return the text for FTS5; languages without spaces are cut into every two characters."""
    if language not in _UNSPACED:
        return text
    return _UNSPACED_RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text)


def query_terms(text: str, language: str | None) -> list[str]:
    """
    Return an FTS5 expression for each word of a free text, once: rule query.words.

    Every word is quoted, so that none is taken for syntax.
    """
    words = dict.fromkeys(_WORD.findall(space_words(text, language).lower()))
    dropped = _STOP_WORDS if language == _STEMMED else frozenset()
    return [f'"{word}"' for word in words if word not in dropped]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


_WORDS = "searchable_words"
_OF_ROW = "{0}.key, {0}.data_source_id, {0}.identifier, {0}.text, {0}.attributes"


@dataclass(frozen=True, kw_only=True)
class TextSearch:
    """A searchable key of an index; `active` once all vectors of the index are in it."""

    id: int
    metadata_key: str
    language: str | None
    active: bool

    @property
    def table(self) -> str:
        return f"text_{self.id}"


class TextSearches:
    def __init__(self, store: Store, clock: Clock, own_keys: OwnKeys) -> None:
        self._store = store
        self._clock = clock
        store.define(_WORDS, 7, partial(_words, own_keys))

    def of(self, index_arn: str) -> dict[str, TextSearch]:
        """Return the searches of an index by metadata key."""
        rows = self._store.rows(
            "SELECT * FROM text_searches WHERE index_arn = ? ORDER BY id", index_arn
        )
        now = self._clock.after(0)
        return {
            row["metadata_key"]: TextSearch(
                id=row["id"],
                metadata_key=row["metadata_key"],
                language=row["language"],
                active=row["active_from"] <= now,
            )
            for row in rows
        }

    def add(self, index_arn: str, metadata_key: str, language: str | None) -> None:
        """Add a key with all existing vectors; in an empty index it is active at once."""
        with self._store.transaction():
            held = self._store.count("SELECT count(*) FROM vectors WHERE index_arn = ?", index_arn)
            wait = rules.TEXT_BACKFILL.value if held else 0.0
            row = {
                "index_arn": index_arn,
                "metadata_key": metadata_key,
                "language": language,
                "active_from": self._clock.after(wait),
            }
            added = self._store.insert("text_searches", row)
            tokenizer = tokenizer_of(language)
            table = f"text_{added}"
            self._store.write(
                f"CREATE VIRTUAL TABLE {table} USING fts5 (words, tokenize = '{tokenizer}')"
            )
            for statement in _triggers(added):
                self._store.write(statement)
            self._store.write(_insert_words(added, "vectors", "vectors.index_arn = ?"), index_arn)

    def remove(self, index_arn: str, metadata_key: str) -> None:
        search = self.of(index_arn)[metadata_key]
        with self._store.transaction():
            for event in ("written", "changed", "deleted"):
                self._store.write(f"DROP TRIGGER {search.table}_{event}")
            self._store.write(f"DROP TABLE {search.table}")
            self._store.write("DELETE FROM text_searches WHERE id = ?", search.id)

    def forget_index(self, index_arn: str) -> None:
        for metadata_key in self.of(index_arn):
            self.remove(index_arn, metadata_key)

    def ranked(
        self, search: TextSearch, text: str, among: NDArray[np.int64], limit: int
    ) -> list[tuple[int, float]]:
        """Return rows of `vectors` and BM25 scores, best first; none for a text without words."""
        words = self._rarest(search.table, query_terms(text, search.language))
        total = self._store.count(f"SELECT count(*) FROM {search.table}_docsize")  # noqa: S608 - a number
        weighed = [self._weigh(search.table, word, total, among) for word in words]
        if not weighed:
            return []
        rows, at = np.unique(np.concatenate([of[0] for of in weighed]), return_inverse=True)
        scores = np.bincount(at, np.concatenate([of[1] for of in weighed]), len(rows))
        best = np.lexsort((rows, -scores))[:limit]
        return [(int(rows[at]), float(scores[at])) for at in best]

    def _rarest(self, table: str, words: list[str]) -> list[str]:
        """Return the rarest words of a long text: rule query.long-text."""
        if len(words) <= rules.LONG_TEXT.limit:
            return words
        matching = f"SELECT count(*) FROM {table} WHERE {table} MATCH ?"  # noqa: S608 - a number
        counts = {word: self._store.count(matching, word) for word in words}
        return sorted((word for word in words if counts[word]), key=counts.__getitem__)[
            : rules.LONG_TEXT.limit
        ]

    def _weigh(
        self, table: str, word: str, total: int, among: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the allowed rows that have a word, and its scores: rule query.bm25."""
        found = self._store.rows(
            f"SELECT rowid, -bm25({table}) FROM {table} WHERE {table} MATCH ?",  # noqa: S608 - a number
            word,
        )
        pairs = np.array([tuple(row) for row in found], dtype=np.float64).reshape(-1, 2)
        rows, scores = pairs[:, 0].astype(np.int64), pairs[:, 1]
        odds = (total - len(rows) + 0.5) / (len(rows) + 0.5)
        # FTS5's own weight of the word, almost zero if half of the rows have it.
        theirs = math.log(odds) if odds > 1 else 1e-6
        allowed = np.isin(rows, among)
        return rows[allowed], scores[allowed] / theirs * math.log1p(odds)


def _triggers(number: int) -> list[str]:
    table = f"text_{number}"
    applies = f"new.index_arn = (SELECT index_arn FROM text_searches WHERE id = {number})"  # noqa: S608
    before, after = (_words_of(number, row) for row in ("old", "new"))
    forget = f"DELETE FROM {table} WHERE rowid = old.id;"  # noqa: S608 - numbers alone, here too
    keep = f"{_insert_words(number, '(SELECT 1)', '1', row='new')};"
    return [
        f"CREATE TRIGGER {table}_written AFTER INSERT ON vectors WHEN {applies} BEGIN {keep} END",
        f"CREATE TRIGGER {table}_changed AFTER UPDATE OF attributes ON vectors"
        f" WHEN {applies} AND {before} IS NOT {after} BEGIN {forget} {keep} END",
        f"CREATE TRIGGER {table}_deleted AFTER DELETE ON vectors"
        f" WHEN {applies.replace('new.', 'old.')} BEGIN {forget} END",
    ]


def _insert_words(number: int, source: str, condition: str, *, row: str = "vectors") -> str:
    return (
        f"INSERT INTO text_{number} (rowid, words) SELECT id, words FROM"  # noqa: S608 - as above
        f" (SELECT {row}.id AS id, {_words_of(number, row)} AS words FROM {source}"
        f" WHERE {condition}) WHERE words IS NOT NULL"
    )


def _words_of(number: int, row: str) -> str:
    key, language = (
        f"(SELECT {column} FROM text_searches WHERE id = {number})"  # noqa: S608 - as above
        for column in ("metadata_key", "language")
    )
    return f"{_WORDS}({key}, {language}, {_OF_ROW.format(row)})"


def _words(own_keys: OwnKeys, metadata_key: str, language: str | None, *stored: str) -> str | None:
    """Return the searchable text of a vector under this key: rule text-search.values."""
    key, data_source_id, identifier, text, attributes = stored
    if metadata_key == BEDROCK_TEXT and data_source_id:
        return space_words(text, language)
    owner = (data_source_id, identifier)
    metadata = metadata_of(key, owner, text, attributes, parent=None, own_keys=own_keys)
    value = metadata.get(metadata_key)
    if isinstance(value, list):
        value = "\n".join(each for each in value if isinstance(each, str))
    return space_words(value, language) if isinstance(value, str) else None
