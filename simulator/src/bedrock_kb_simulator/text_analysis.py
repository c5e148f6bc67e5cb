"""Text as the words that full-text search compares: rule text-search.analyzers."""

import re
from functools import cache

# What a language's words are, of those that S3 Vectors names; no language is the standard analyzer.
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
def tokenizer(language: str | None) -> str:
    """For a table of FTS5."""
    base = "unicode61 remove_diacritics 0"
    return f"porter {base}" if language == _STEMMED else base


def spaced(text: str, language: str | None) -> str:
    """A text as FTS5 can find its words: without spaces between them, by every two characters."""
    if language not in _UNSPACED:
        return text
    return _UNSPACED_RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text)


def question(text: str, language: str | None) -> list[str]:
    """
    An expression of FTS5 for each of a free text's words, once: rule query.words.

    Every word is quoted, so that nothing of the text is taken for syntax.
    """
    words = dict.fromkeys(_WORD.findall(spaced(text, language).lower()))
    dropped = _STOP_WORDS if language == _STEMMED else frozenset()
    return [f'"{word}"' for word in words if word not in dropped]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]
