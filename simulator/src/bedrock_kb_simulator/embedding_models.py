"""
The models that stand in for Titan, by the names that `--model` takes.

BEDROCK_KB_SIMULATOR_VECTORS may name a file that keeps their vectors, by model and text: for
benchmarks, which embed the same texts again and again. A kept vector takes no time to make, so
nothing that is measured then says how long embedding takes.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bedrock_kb_simulator.embedder import MiniLM
    from bedrock_kb_simulator.kept_vectors import KeptVectors
    from bedrock_kb_simulator.multilingual import MultilingualE5

ModelName = Literal["minilm", "multilingual"]

DEFAULT_MODEL: ModelName = "minilm"
KEPT_VECTORS = "BEDROCK_KB_SIMULATOR_VECTORS"


def embedder_of(name: ModelName) -> "MiniLM | MultilingualE5 | KeptVectors":
    """Raises `multilingual.OtherWeights`."""
    model, file = _model(name), os.environ.get(KEPT_VECTORS)
    if not file:
        return model
    from bedrock_kb_simulator.kept_vectors import KeptVectors  # noqa: PLC0415

    return KeptVectors(model, Path(file))


def _model(name: ModelName) -> "MiniLM | MultilingualE5":
    # Imported here because `--help` answers at once.
    if name == "minilm":
        from bedrock_kb_simulator.embedder import MiniLM  # noqa: PLC0415

        return MiniLM()
    from bedrock_kb_simulator.multilingual import MultilingualE5, weights_file  # noqa: PLC0415

    weights_file()
    return MultilingualE5()
