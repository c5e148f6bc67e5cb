"""Text into passages of bounded size: by tokens, with overlap, at the ends of sentences."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from bedrock_kb_simulator.embedding import Spans, spans_of
from bedrock_kb_simulator.rules import DEFAULT_CHUNK_OVERLAP, DEFAULT_CHUNK_TOKENS

# A chunk gives up at most this share of its tokens to end with a sentence or a line.
_SLACK = 0.4
_ENDINGS = frozenset(".!?。！？")


@dataclass(frozen=True, kw_only=True)
class Chunking:
    """
    `max_tokens` None makes one chunk of a text; the overlap of neighbours is a part of that size,
    unless `overlap_tokens` says how many tokens.
    """

    max_tokens: int | None = DEFAULT_CHUNK_TOKENS.limit
    overlap_percentage: int = DEFAULT_CHUNK_OVERLAP.limit
    overlap_tokens: int | None = None

    def split(self, text: str) -> Iterator[str]:
        """Passages in order, each an exact span of `text`; nothing but space lies outside all."""
        return (text[start:end] for start, end in self.spans(text))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where in `text` each passage begins and ends."""
        tokens = spans_of(text)
        if not len(tokens):
            return
        if self.max_tokens is None:
            yield int(tokens[0][0]), int(tokens[-1][1])
            return
        for start, end in self._ranges(tokens, _ends(text, tokens)):
            yield int(tokens[start][0]), int(tokens[end - 1][1])

    def _ranges(self, spans: Spans, ends: list[int]) -> Iterator[tuple[int, int]]:
        """Token ranges; `ends` are the numbers of tokens after which a sentence or line is over."""
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
    """The token counts at which a sentence or a line has just ended."""
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
