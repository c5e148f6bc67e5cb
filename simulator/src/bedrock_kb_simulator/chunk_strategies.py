"""The strategies of a data source's chunkingConfiguration."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.embedder import Spans, Vector, spans_of


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A chunk; `parent` is the text that a search shows instead, if any."""

    text: str
    parent: str | None = None


# Fixed-size chunks: by tokens, with overlap, ending with sentences where possible.

# The share of its tokens that a chunk may give up to end with a sentence or a line.
_SLACK = 0.4
_ENDINGS = frozenset(".!?。！？")


@dataclass(frozen=True, kw_only=True)
class Chunking:
    """
    Chunks of a fixed size.

    With `max_tokens` None, a text is one chunk. Neighbours overlap by `overlap_tokens`, or by
    `overlap_percentage` of the size.
    """

    max_tokens: int | None = rules.DEFAULT_CHUNK_TOKENS.limit
    overlap_percentage: int = rules.DEFAULT_CHUNK_OVERLAP.limit
    overlap_tokens: int | None = None

    def split(self, text: str) -> Iterator[str]:
        """Return chunks in order, each an exact span of `text`; together they cover all tokens."""
        return (text[start:end] for start, end in self.spans(text))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each chunk in `text`."""
        tokens = spans_of(text)
        if not len(tokens):
            return
        if self.max_tokens is None:
            yield int(tokens[0][0]), int(tokens[-1][1])
            return
        for start, end in self._ranges(tokens, _ends(text, tokens)):
            yield int(tokens[start][0]), int(tokens[end - 1][1])

    def _ranges(self, spans: Spans, ends: list[int]) -> Iterator[tuple[int, int]]:
        """Yield token ranges; `ends` are the token counts at which sentences or lines end."""
        assert self.max_tokens is not None, "NONE makes one chunk without ranges"
        overlap = self.overlap_tokens
        if overlap is None:
            overlap = self.max_tokens * self.overlap_percentage // 100
        start = 0
        while True:
            limit = start + self.max_tokens
            if limit >= len(spans):
                yield start, len(spans)
                return
            end = _last_between(ends, limit - int(self.max_tokens * _SLACK), limit) or limit
            yield start, end
            start = max(start + 1, _first_between(ends, end - overlap, end) or end - overlap)


def _ends(text: str, spans: Spans) -> list[int]:
    """Return the token counts at which a sentence or a line has just ended."""
    ends = []
    for number in range(1, len(spans)):
        before, after = int(spans[number - 1][1]), int(spans[number][0])
        gap = text[before:after]
        if "\n" in gap or (gap and text[before - 1] in _ENDINGS):
            ends.append(number)
    return ends


def _last_between(ends: list[int], low: int, high: int) -> int | None:
    at = bisect_right(ends, high) - 1
    return ends[at] if at >= 0 and ends[at] >= low else None


def _first_between(ends: list[int], low: int, high: int) -> int | None:
    at = bisect_left(ends, low)
    return ends[at] if at < len(ends) and ends[at] < high else None


# Semantic chunks: cut where neighbouring sentences differ most. Each sentence is embedded, with its
# neighbours within the buffer, and compared with the next: rule chunk.breakpoints.

Embed = Callable[[str], Vector]

# After a sentence's punctuation, and at an empty line; AWS doesn't document what else ends one.
_BETWEEN = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n[^\S\n]*\n\s*")


@dataclass(frozen=True, kw_only=True)
class SemanticChunking:
    """Semantic chunks; `buffer` is the number of neighbours embedded with a sentence."""

    max_tokens: int
    buffer: int
    percentile: int

    def chunks(self, pieces: Sequence[str], embed: Embed) -> Iterator[Chunk]:
        """Yield chunks in order, each an exact span of a piece; raises whatever `embed` raises."""
        sized = Chunking(max_tokens=self.max_tokens, overlap_tokens=0)
        for piece in pieces:
            for start, end in self._spans(piece, embed):
                yield from (Chunk(text=text) for text in sized.split(piece[start:end]))

    def _spans(self, text: str, embed: Embed) -> Iterator[tuple[int, int]]:
        """Yield the spans of sentences that belong together."""
        sentences = list(_sentences(text))
        if not sentences:
            return
        begun = sentences[0][0]
        breaks = self._breaks(text, sentences, embed)
        for number in breaks:
            yield begun, sentences[number][1]
            begun = sentences[number + 1][0]
        yield begun, sentences[-1][1]

    def _breaks(self, text: str, sentences: list[tuple[int, int]], embed: Embed) -> list[int]:
        """Return the numbers of the sentences after which the subject changes."""
        last = len(sentences) - 1
        if last < 1:
            return []
        windows = (
            (sentences[max(0, at - self.buffer)][0], sentences[min(last, at + self.buffer)][1])
            for at in range(len(sentences))
        )
        vectors = np.array([embed(text[start:end]) for start, end in windows])
        distances = 1 - np.einsum("ij,ij->i", vectors[:-1], vectors[1:])
        return np.flatnonzero(distances > np.percentile(distances, self.percentile)).tolist()


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _BETWEEN.finditer(text):
        if text[start : gap.start()].strip():
            yield start, gap.start()
            start = gap.end()
    if text[start:].strip():
        yield start, len(text)


# Yields chunks in order; none spans two pieces (rule chunk.boundaries) or is empty. Raises whatever
# the embedding raises.
Strategy = Callable[[Sequence[str], Embed], Iterator[Chunk]]


def fixed_size(chunking: Chunking) -> Strategy:
    return lambda pieces, _: (Chunk(text=text) for each in pieces for text in chunking.split(each))


def _whole(pieces: Sequence[str], _: Embed) -> Iterator[Chunk]:
    return (Chunk(text=text) for text in Chunking(max_tokens=None).split("\n".join(pieces)))


def _hierarchical(parents: Chunking, children: Chunking) -> Strategy:
    """Return a strategy whose children are searched and parents shown: rule chunk.parents."""
    return lambda pieces, _: (
        Chunk(text=child, parent=parent)
        for piece in pieces
        for parent in parents.split(piece)
        for child in children.split(parent)
    )


def strategy_of(chunking: dict[str, Any]) -> Strategy:
    """Return the strategy of a checked chunkingConfiguration; Bedrock's default if empty."""
    match chunking.get("chunkingStrategy"):
        case "NONE":
            return _whole
        case "HIERARCHICAL":
            given = chunking["hierarchicalChunkingConfiguration"]
            parents, children = (
                Chunking(max_tokens=level["maxTokens"], overlap_tokens=given["overlapTokens"])
                for level in given["levelConfigurations"]
            )
            return _hierarchical(parents, children)
        case "SEMANTIC":
            given = chunking["semanticChunkingConfiguration"]
            return SemanticChunking(
                max_tokens=given["maxTokens"],
                buffer=given["bufferSize"],
                percentile=given["breakpointPercentileThreshold"],
            ).chunks
    fixed = chunking.get("fixedSizeChunkingConfiguration")
    if not fixed:
        return fixed_size(Chunking())
    percentage = fixed["overlapPercentage"]
    return fixed_size(Chunking(max_tokens=fixed["maxTokens"], overlap_percentage=percentage))
