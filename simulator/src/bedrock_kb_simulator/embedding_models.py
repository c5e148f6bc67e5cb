"""The models that stand in for Titan, by the names that `--model` takes."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bedrock_kb_simulator.embedder import MiniLM
    from bedrock_kb_simulator.multilingual import MultilingualE5

ModelName = Literal["minilm", "multilingual"]

DEFAULT_MODEL: ModelName = "minilm"


def embedder_of(name: ModelName) -> "MiniLM | MultilingualE5":
    """Raises `multilingual.OtherWeights`."""
    # Imported here because `--help` answers at once.
    if name == "minilm":
        from bedrock_kb_simulator.embedder import MiniLM  # noqa: PLC0415

        return MiniLM()
    from bedrock_kb_simulator.multilingual import MultilingualE5, weights_file  # noqa: PLC0415

    weights_file()
    return MultilingualE5()
