"""
Text into passages that each keep to their matter: cut where neighbouring sentences differ most.

Each sentence is embedded, with its neighbours if the buffer says so, and compared with the next.
Rule chunk.breakpoints.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from bedrock_kb_simulator.chunking import Chunking
from bedrock_kb_simulator.embedding import Vector

Embed = Callable[[str], Vector]

# After the end of a sentence, and at an empty line: what else ends one is not documented.
_BETWEEN = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n[^\S\n]*\n\s*")


@dataclass(frozen=True, kw_only=True)
class SemanticChunking:
    """`buffer` is how many sentences on either side a sentence is embedded with."""

    max_tokens: int
    buffer: int
    percentile: int

    def split(self, text: str, embed: Embed) -> Iterator[str]:
        """Passages in order, each an exact span of `text`; raises whatever `embed` raises."""
        sized = Chunking(max_tokens=self.max_tokens, overlap_tokens=0)
        for start, end in self._spans(text, embed):
            yield from sized.split(text[start:end])

    def _spans(self, text: str, embed: Embed) -> Iterator[tuple[int, int]]:
        """Of sentences that belong together."""
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
        """The numbers of sentences after which another matter begins."""
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
