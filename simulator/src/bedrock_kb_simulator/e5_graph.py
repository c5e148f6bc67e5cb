"""The encoder of multilingual-e5-small in ONNX, built from its weights when loaded."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from bedrock_kb_simulator.embedder import WIDTH, Floats

if TYPE_CHECKING:
    from bedrock_kb_simulator.multilingual import E5File

HEADS, INNER = 12, 1536
_EPSILON = 1e-12  # of the layer norms
_IR_VERSION = 9  # older than that of `onnx`, which may be newer than ONNX Runtime reads
_OWN = "com.microsoft"  # ONNX Runtime's own operators
# https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
_OPERATORS = {"": 18, _OWN: 1}  # sets of operators, and their versions
_INPUT, _OUTPUT = "embeddings", "mean"


def encoder(weights: "E5File") -> bytes:
    """
    Return a model from the embeddings of a text's tokens to the mean of their last states.

    Weights are int8 with a scale for each output; activations are quantised dynamically.
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


def _add_layer(graph: "_Graph", weights: "E5File", number: int) -> None:
    layer, before = f"l{number}", f"state.{number}"
    names = [f"{layer}.{each}" for each in "qkv"]
    joined = np.concatenate([weights.matrix(f"{each}.w", WIDTH) for each in names])
    graph.keep(f"{layer}.qkv.b", np.concatenate([weights.vector(f"{each}.b") for each in names]))
    graph.multiply(before, joined, f"{layer}.qkv")
    graph.add("Split", [f"{layer}.qkv"], names, axis=2, num_outputs=3)
    graph.add(
        "MultiHeadAttention",
        [*names, f"{layer}.qkv.b"],
        [f"{layer}.seen"],
        domain=_OWN,
        num_heads=HEADS,
    )
    graph.multiply(f"{layer}.seen", weights.matrix(f"{layer}.ao.w", WIDTH), f"{layer}.attended")
    _add_norm(graph, weights, f"{layer}.attended", before, of=f"{layer}.aln", bias=f"{layer}.ao.b")
    graph.multiply(f"{layer}.aln", weights.matrix(f"{layer}.fi.w", WIDTH), f"{layer}.inner")
    graph.keep(f"{layer}.fi.b", weights.vector(f"{layer}.fi.b"))
    graph.add("BiasGelu", [f"{layer}.inner", f"{layer}.fi.b"], [f"{layer}.gelu"], domain=_OWN)
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
    weights: "E5File",
    value: str,
    residual: str,
    *,
    of: str,
    bias: str,
    to: str | None = None,
) -> None:
    """Add the layer norm of a value, its bias and the residual."""
    names = [graph.keep(name, weights.vector(name)) for name in (f"{of}.w", f"{of}.b", bias)]
    graph.add(
        "SkipLayerNormalization",
        [value, residual, *names],
        [to or of],
        domain=_OWN,
        epsilon=_EPSILON,
    )


class _Graph:
    """A graph of nodes and constants."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def add(self, operator: str, inputs: Sequence[str], outputs: Sequence[str], **how: Any) -> None:
        self._nodes.append(helper.make_node(operator, inputs, outputs, **how))

    def keep(self, name: str, values: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        self._constants.append(numpy_helper.from_array(values, name))
        return name

    def multiply(self, value: str, matrix: Floats, to: str) -> None:
        """Multiply by a matrix with a row for each output, in int8."""
        scales = np.abs(matrix).max(axis=1) / 127
        quantised = np.round(matrix / scales[:, None]).astype(np.int8)
        constants = {
            "weights": np.ascontiguousarray(quantised.T),
            "scales": scales.astype(np.float32),
            "zeros": np.zeros(len(matrix), dtype=np.int8),
        }
        names = [self.keep(f"{to}.{name}", each) for name, each in constants.items()]
        self.add("DynamicQuantizeMatMul", [value, *names], [to], domain=_OWN)

    def model(self) -> bytes:
        """Return the serialised model, from any number of tokens to one vector."""
        taken = helper.make_tensor_value_info(_INPUT, TensorProto.FLOAT, [1, "tokens", WIDTH])
        given = helper.make_tensor_value_info(_OUTPUT, TensorProto.FLOAT, [1, WIDTH])
        graph = helper.make_graph(self._nodes, "encoder", [taken], [given], self._constants)
        sets = [helper.make_opsetid(domain, version) for domain, version in _OPERATORS.items()]
        model = helper.make_model(graph, opset_imports=sets, ir_version=_IR_VERSION)
        written: bytes = model.SerializeToString()
        return written
