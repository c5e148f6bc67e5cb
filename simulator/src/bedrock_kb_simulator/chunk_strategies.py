"""The strategies of a data source's chunkingConfiguration: which chunks a document becomes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bedrock_kb_simulator.chunking import Chunking
from bedrock_kb_simulator.semantic_chunking import Embed, SemanticChunking


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """`parent` is the text that a search shows in its place, None where that is its own."""

    text: str
    parent: str | None = None


class Strategy(Protocol):
    def chunks(self, pieces: Sequence[str], embed: Embed) -> Iterator[Chunk]:
        """
        In order; none spans two pieces (rule chunk.boundaries), and none is empty.

        Raises whatever `embed` raises.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class FixedSize:
    chunking: Chunking = field(default_factory=Chunking)

    def chunks(self, pieces: Sequence[str], embed: Embed) -> Iterator[Chunk]:  # noqa: ARG002
        return (Chunk(text=text) for piece in pieces for text in self.chunking.split(piece))


class Whole:
    """A document is one chunk."""

    def chunks(self, pieces: Sequence[str], embed: Embed) -> Iterator[Chunk]:  # noqa: ARG002
        return (Chunk(text=text) for text in Chunking(max_tokens=None).split("\n".join(pieces)))


@dataclass(frozen=True, kw_only=True)
class Hierarchical:
    """Children are embedded and searched; their parents are shown: rule chunk.parents."""

    parents: Chunking
    children: Chunking

    def chunks(self, pieces: Sequence[str], embed: Embed) -> Iterator[Chunk]:  # noqa: ARG002
        return (
            Chunk(text=child, parent=parent)
            for piece in pieces
            for parent in self.parents.split(piece)
            for child in self.children.split(parent)
        )


@dataclass(frozen=True, kw_only=True)
class Semantic:
    chunking: SemanticChunking

    def chunks(self, pieces: Sequence[str], embed: Embed) -> Iterator[Chunk]:
        return (Chunk(text=text) for piece in pieces for text in self.chunking.split(piece, embed))


def strategy_of(chunking: dict[str, Any]) -> Strategy:
    """Of a chunkingConfiguration that was checked; Bedrock's default if it is empty."""
    match chunking.get("chunkingStrategy"):
        case "NONE":
            return Whole()
        case "HIERARCHICAL":
            given = chunking["hierarchicalChunkingConfiguration"]
            parents, children = (
                Chunking(max_tokens=level["maxTokens"], overlap_tokens=given["overlapTokens"])
                for level in given["levelConfigurations"]
            )
            return Hierarchical(parents=parents, children=children)
        case "SEMANTIC":
            given = chunking["semanticChunkingConfiguration"]
            return Semantic(
                chunking=SemanticChunking(
                    max_tokens=given["maxTokens"],
                    buffer=given["bufferSize"],
                    percentile=given["breakpointPercentileThreshold"],
                )
            )
    fixed = chunking.get("fixedSizeChunkingConfiguration")
    if not fixed:
        return FixedSize()
    return FixedSize(
        chunking=Chunking(
            max_tokens=fixed["maxTokens"], overlap_percentage=fixed["overlapPercentage"]
        )
    )
