"""Chunks: exact spans of the text, of bounded size, that lose nothing."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom_local.simulator.chunking import Chunking
from stackroom_local.simulator.wordpieces import ids_of, spans_of
from tests.simulator.holding import holds

SENTENCE = "The quick brown fox number {number} jumps over a lazy dog, twice.\n"
STORY = "".join(SENTENCE.format(number=number) for number in range(200))


@holds("chunk.tokens")
def test_chunks_have_at_most_300_tokens_and_end_with_a_sentence() -> None:
    chunks = list(Chunking().split(STORY))

    assert all(len(ids_of(chunk)) <= 300 for chunk in chunks)
    assert all(chunk.endswith("twice.") for chunk in chunks)
    assert len(chunks) > 8


@holds("chunk.overlap")
def test_neighbours_overlap_by_about_a_fifth() -> None:
    chunks = list(Chunking().split(STORY))

    shared = [
        len(set(first.splitlines()) & set(second.splitlines())) / len(first.splitlines())
        for first, second in pairwise(chunks)
    ]
    assert all(0.1 <= share <= 0.25 for share in shared)


@given(
    text=st.text(max_size=3_000),
    size=st.integers(min_value=1, max_value=60),
    overlap=st.integers(min_value=1, max_value=99),
)
def test_every_token_is_in_a_chunk(text: str, size: int, overlap: int) -> None:
    chunking = Chunking(max_tokens=size, overlap_percentage=overlap)

    spans = list(chunking.spans(text))

    covered = {position for start, end in spans for position in range(start, end)}
    assert list(chunking.split(text)) == [text[start:end] for start, end in spans]
    assert all(covered.issuperset(range(start, end)) for start, end in spans_of(text).tolist())


@pytest.mark.parametrize("text", ["x" * 50_000, "x" * 250_000 + " end", "word " * 60_000])
def test_text_without_lines_is_cut_all_the_same(text: str) -> None:
    chunks = list(Chunking().split(text))

    assert max(map(len, chunks)) <= 300 * 5
    assert chunks[-1].endswith(text[-3:].strip())
