"""Text as BERT wordpieces: the tokens that chunks are measured in and embeddings are made of."""

from functools import cache
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

VOCABULARY = Path(__file__).parent / "vocabulary" / "vocab.txt"

# A word longer than this is one unknown token to BERT, however long it is.
_LONGEST_WORD = 100
_PIECE = 4  # characters, about what a token has in English
_BLOCK = 100_000  # characters tokenised at a time, to bound memory

Spans = NDArray[np.int64]


class _Encoding(Protocol):
    ids: list[int]
    offsets: list[tuple[int, int]]


class _Tokenizer(Protocol):
    def encode(self, sequence: str, *, add_special_tokens: bool) -> _Encoding: ...


@cache
def _tokenizer() -> _Tokenizer:
    from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415 - loaded when first needed

    return cast(_Tokenizer, BertWordPieceTokenizer(str(VOCABULARY), lowercase=True))


def ids_of(text: str) -> list[int]:
    """Wordpiece ids, without the special tokens around them."""
    return _tokenizer().encode(text, add_special_tokens=False).ids


def spans_of(text: str) -> Spans:
    """Where each token lies in `text`: an array of (start, end), in order."""
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = _block_end(text, start)
        encoding = _tokenizer().encode(text[start:end], add_special_tokens=False)
        for token_start, token_end in encoding.offsets:
            spans.extend(_cut(start + token_start, start + token_end))
        start = end
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def _block_end(text: str, start: int) -> int:
    """Up to a line's end where there is one, so that no word is torn."""
    end = start + _BLOCK
    if end >= len(text):
        return len(text)
    line_end = text.rfind("\n", start, end)
    word_end = line_end if line_end > start else text.rfind(" ", start, end)
    return word_end + 1 if word_end > start else end


def _cut(start: int, end: int) -> list[tuple[int, int]]:
    if end - start <= _LONGEST_WORD:
        return [(start, end)]
    return [(at, min(at + _PIECE, end)) for at in range(start, end, _PIECE)]
