"""
The models in place of Titan, by the names that `--model` accepts.

BEDROCK_KB_SIMULATOR_VECTORS may name a file that caches vectors by model and text, for benchmarks
that embed the same texts repeatedly. Times measured with it don't include embedding.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bedrock_kb_simulator.embedder import MiniLM
    from bedrock_kb_simulator.multilingual import MultilingualE5
    from bedrock_kb_simulator.vector_cache import VectorCache

ModelName = Literal["minilm", "multilingual"]

DEFAULT_MODEL: ModelName = "minilm"
KEPT_VECTORS = "BEDROCK_KB_SIMULATOR_VECTORS"


def embedder_of(name: ModelName) -> "MiniLM | MultilingualE5 | VectorCache":
    """Return the embedder of a model. Raises `multilingual.OtherWeights`."""
    model, file = _model(name), os.environ.get(KEPT_VECTORS)
    if not file:
        return model
    from bedrock_kb_simulator.vector_cache import VectorCache  # noqa: PLC0415

    return VectorCache(model, Path(file))


def _model(name: ModelName) -> "MiniLM | MultilingualE5":
    # Imported here because `--help` answers at once.
    if name == "minilm":
        from bedrock_kb_simulator.embedder import MiniLM  # noqa: PLC0415

        return MiniLM()
    from bedrock_kb_simulator.multilingual import MultilingualE5, weights_file  # noqa: PLC0415

    weights_file()
    return MultilingualE5()
