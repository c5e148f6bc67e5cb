"""Chunks by each chunkingConfiguration, and the results of searches for them."""

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedrock_kb_simulator.chunk_strategies import Chunk, Chunking, strategy_of
from bedrock_kb_simulator.embedder import Vector, ids_of, spans_of
from simulator.tests.holding import holds
from simulator.tests.world import World, data_source_request, eventually, fixed, invalid

SENTENCE = "The quick brown fox number {number} jumps over a lazy dog, twice.\n"
STORY = "".join(SENTENCE.format(number=number) for number in range(200))
NUMBERS = "\n\n".join(f"Rule {number} says that the door stays shut." for number in range(60))


def hierarchical(*levels: int, overlap: int = 10) -> dict[str, Any]:
    return {
        "chunkingStrategy": "HIERARCHICAL",
        "hierarchicalChunkingConfiguration": {
            "levelConfigurations": [{"maxTokens": tokens} for tokens in levels],
            "overlapTokens": overlap,
        },
    }


def semantic(tokens: int = 300, buffer: int = 0, percentile: int = 90) -> dict[str, Any]:
    return {
        "chunkingStrategy": "SEMANTIC",
        "semanticChunkingConfiguration": {
            "maxTokens": tokens,
            "bufferSize": buffer,
            "breakpointPercentileThreshold": percentile,
        },
    }


def cut(chunking: dict[str, Any], *pieces: str) -> list[Chunk]:
    return list(strategy_of(chunking)(pieces, by_numbers))


def texts(chunking: dict[str, Any], *pieces: str) -> list[str]:
    return [chunk.text for chunk in cut(chunking, *pieces)]


def by_numbers(text: str) -> Vector:
    """Return a vector whose direction follows the numbers in the text."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    angles = np.array(numbers) / 400
    vector = np.array([np.cos(angles).sum(), np.sin(angles).sum()], dtype=np.float32)
    return vector / np.linalg.norm(vector)


@holds("chunk.tokens", "chunk.overlap")
def test_chunks_fit_token_limit_end_with_sentences_and_overlap() -> None:
    chunks = list(Chunking().split(STORY))
    shorter = [len(ids_of(text)) for text in texts(fixed(40, 10), STORY)]

    shared = [
        len(set(first.splitlines()) & set(second.splitlines())) / len(first.splitlines())
        for first, second in pairwise(chunks)
    ]
    assert all(len(ids_of(chunk)) <= 300 for chunk in chunks)
    assert all(chunk.endswith("twice.") for chunk in chunks)
    assert len(chunks) > 8
    assert all(0.1 <= share <= 0.25 for share in shared)
    assert max(shorter) <= 40
    assert min(shorter[:-1]) >= 20


@settings(max_examples=25)
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


@pytest.mark.parametrize("text", ["x" * 50_000 + " end", "word " * 20_000])
def test_text_without_lines_is_cut_by_size(text: str) -> None:
    chunks = list(Chunking().split(text))

    assert max(map(len, chunks)) <= 300 * 5
    assert chunks[-1].endswith(text[-3:].strip())


@holds("chunk.boundaries")
@pytest.mark.parametrize("chunking", [{}, fixed(1_000, 10), hierarchical(1_000, 500), semantic()])
def test_no_chunk_spans_two_pages_read_by_ocr(chunking: dict[str, Any]) -> None:
    found = cut(chunking, "The 1 door is open.", "The 2 window is shut.")

    assert [chunk.text for chunk in found] == ["The 1 door is open.", "The 2 window is shut."]
    assert {chunk.parent for chunk in found} <= {None, *(chunk.text for chunk in found)}


@holds("chunk.breakpoints")
def test_semantic_chunking_cuts_at_the_tenth_of_largest_differences() -> None:
    """The API model's example: of 100 pairs, 10 are split, which gives 11 chunks."""
    numbers = [number + 30 * (number // 10) for number in range(101)]
    text = " ".join(f"Item {number} is in stock." for number in numbers)

    found = texts(semantic(), text)

    assert len(found) == 11
    assert [piece.split()[1] for piece in found] == [str(number) for number in numbers[::10]]
    assert " ".join(found) == text


@holds("chunk.parents", "chunk.parent-metadata", "metadata.size")
def test_hierarchical_search_matches_children_and_returns_parents_once(
    world: World,
) -> None:
    index = world.index()
    knowledge_base = world.knowledge_base(index)
    small, large = (
        world.data_source(
            knowledge_base, prefix, vectorIngestionConfiguration={"chunkingConfiguration": levels}
        )
        for prefix, levels in (
            ("small/", hierarchical(120, 20, overlap=2)),
            ("large/", hierarchical(8_192, 300)),
        )
    )
    world.put("small/rules.txt", NUMBERS)
    world.put("large/short.txt", "A short text fits.")
    world.put("large/long.txt", "international " * 8_000)

    world.sync(knowledge_base, small)
    results = eventually(lambda: world.search(knowledge_base, "the door stays shut"))
    five = world.search(knowledge_base, "the door stays shut", results=5)
    listed = world.s3vectors.list_vectors(indexArn=index, returnMetadata=True)["vectors"]
    job = world.sync(knowledge_base, large)

    shown = [result["content"]["text"] for result in results]
    scores = [result["score"] for result in results]
    assert len(shown) == len(set(shown)) < 12
    assert min(len(ids_of(text)) for text in shown[:-1]) > 60
    assert len(five) < 5
    assert scores == sorted(scores, reverse=True)
    assert len(listed) > 30
    assert all("parentText" in each["metadata"]["AMAZON_BEDROCK_METADATA"] for each in listed)
    assert "Metadata must have at most 40960 bytes" in job["failureReasons"][0]
    found = {"small/rules.txt", "large/short.txt"}
    eventually(lambda: world.found_keys(knowledge_base, "text") == found)


@holds("chunk.ranges", "chunk.configuration", "chunk.levels")
def test_invalid_chunking_configuration_is_refused_with_the_reason(world: World) -> None:
    request = data_source_request(world.knowledge_base(), world.bucket)
    out_of_range = "1 validation error detected: Value at 'vectorIngestion"
    cases: list[tuple[dict[str, Any], str]] = [
        *((each, out_of_range) for each in (fixed(0, 20), fixed(300, 100), hierarchical(1_500))),
        *((semantic(*each), out_of_range) for each in ((8_193,), (300, 2), (300, 0, 100))),
        ({"chunkingStrategy": "SENTENCES"}, out_of_range),
        ({"chunkingStrategy": "HIERARCHICAL"}, "needs hierarchicalChunkingConfiguration"),
        ({**fixed(300, 20), "chunkingStrategy": "NONE"}, "does not go with NONE"),
        (hierarchical(300, 301), "the child's maxTokens (301), which must not exceed"),
        (hierarchical(1_500, 60, overlap=60), "overlapTokens (60) must be less"),
    ]

    for chunking, problem in cases:
        given = {**request, "vectorIngestionConfiguration": {"chunkingConfiguration": chunking}}
        assert problem in invalid(world.agent.create_data_source, **given)
