"""PutVectors, GetVectors, ListVectors and DeleteVectors."""

from typing import Any

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import World, invalid


def put(world: World, index: str, count: int, **metadata: str) -> list[str]:
    keys = [f"{number:04}" for number in range(count)]
    vectors = [{"key": k, "data": {"float32": [1, 0]}, "metadata": metadata} for k in keys]
    for start in range(0, count, 500):
        world.s3vectors.put_vectors(indexArn=index, vectors=vectors[start : start + 500])
    return keys


def test_a_vector_comes_back_as_it_was_put(world: World) -> None:
    arn = world.index(dimension=3, non_filterable=["text"])
    metadata = {"text": "Grüße", "tags": ["a", "b"], "year": 2026, "share": 0.5, "seen": True}
    world.put_vector(arn, "k/ä", [0.1, 1e-20, 0], **metadata)

    asked = {"indexArn": arn, "keys": ["k/ä", "missing"]}
    [found] = world.s3vectors.get_vectors(**asked, returnData=True, returnMetadata=True)["vectors"]
    bare = world.s3vectors.get_vectors(**asked)["vectors"]

    assert found["metadata"] == metadata
    assert found["data"]["float32"] == pytest.approx([0.1, 1e-20, 0])
    assert bare == [{"key": "k/ä"}]


def test_the_last_of_a_key_takes_its_place_and_its_words(world: World) -> None:
    arn = world.index(dimension=2, searched={"text": "en"})
    world.put_vector(arn, "key", [1, 0], text="first")
    world.query(arn, vector=[1, 0])  # from here on it is in memory too
    world.put_vector(arn, "key", [0, 1], text="second")

    near = world.query(arn, vector=[0, 1], returnDistance=True)
    old, new = (world.query(arn, texts={"text": word}) for word in ("first", "second"))

    assert near == [{"key": "key", "distance": pytest.approx(0)}]
    assert (old, new) == ([], [{"key": "key"}])


def test_what_is_deleted_is_found_by_nothing(world: World) -> None:
    arn = world.index(dimension=2, searched={"text": "en"})
    world.put_vector(arn, "gone", [1, 0], text="words")
    world.put_vector(arn, "stays", [1, 0], text="words")
    world.query(arn, vector=[1, 0])

    world.s3vectors.delete_vectors(indexArn=arn, keys=["gone", "never-was"])

    stays = [{"key": "stays"}]
    assert world.query(arn, vector=[1, 0]) == world.query(arn, texts={"text": "words"}) == stays
    assert world.s3vectors.list_vectors(indexArn=arn)["vectors"] == stays
    assert world.s3vectors.get_vectors(indexArn=arn, keys=["gone"])["vectors"] == []


@holds("vectors.page", "vectors.segments")
def test_keys_are_listed_in_pages_and_in_segments(world: World) -> None:
    arn = world.index(dimension=2)
    keys = put(world, arn, 620)
    lists = world.s3vectors.list_vectors

    first = lists(indexArn=arn)
    pages = world.s3vectors.get_paginator("list_vectors").paginate(
        indexArn=arn, PaginationConfig={"PageSize": 250}
    )
    parts = [lists(indexArn=arn, segmentCount=4, segmentIndex=n)["vectors"] for n in range(4)]

    assert len(first["vectors"]) == 500
    assert [vector["key"] for page in pages for vector in page["vectors"]] == keys
    assert all(parts)
    assert sorted(vector["key"] for part in parts for vector in part) == keys
    invalid(lists, indexArn=arn, segmentCount=4)
    invalid(lists, indexArn=arn, segmentCount=4, segmentIndex=4)


@holds("vectors.page-bytes")
def test_a_page_ends_at_a_megabyte(world: World) -> None:
    arn = world.index(dimension=2, non_filterable=["text"])
    put(world, arn, 120, text="x" * 10_000)

    first = world.s3vectors.list_vectors(indexArn=arn, returnMetadata=True)

    assert 95 < len(first["vectors"]) < 105
    assert first["nextToken"]


@holds(
    "vector.dimension",
    "vector.values",
    "vector.zero",
    "vector.metadata-keys",
    "vector.metadata-values",
    "vector.filterable-size",
    "vector.metadata-size",
)
@pytest.mark.parametrize(
    ("vector", "says"),
    [
        ({"data": {"float32": [1, 0, 0]}}, "expected 2, got 3"),
        ({"data": {"float32": [0, 0]}}, "Zero"),
        ({"data": {"float32": [float("nan"), 1]}}, "floating-point"),
        ({"data": {"float32": [1e39, 1]}}, "floating-point"),
        ({"metadata": {f"k{n}": n for n in range(51)}}, "at most 50 keys"),
        ({"metadata": {"nested": {"a": 1}}}, "strings, numbers"),
        ({"metadata": {"note": "x" * 2048}}, "2048 bytes"),
        ({"metadata": {"text": "x" * 40_960}}, "40960 bytes"),
        ({"key": "x" * 1025}, "equal to 1024"),
    ],
)
def test_a_vector_that_s3_vectors_refuses_is_refused_with_its_whole_request(
    world: World, vector: dict[str, Any], says: str
) -> None:
    arn = world.index(dimension=2, non_filterable=["text"])
    good = {"key": "good", "data": {"float32": [1, 0]}}
    bad = {"key": "bad", "data": {"float32": [1, 0]}, **vector}

    assert says in invalid(world.s3vectors.put_vectors, indexArn=arn, vectors=[good, bad])
    assert world.s3vectors.list_vectors(indexArn=arn)["vectors"] == []


def test_a_call_takes_so_many(world: World) -> None:
    arn = world.index(dimension=1)
    keys = [str(number) for number in range(501)]
    vectors = [{"key": key, "data": {"float32": [1]}} for key in keys]

    for operation, values, most in (
        ("get_vectors", {"keys": keys}, 100),
        ("delete_vectors", {"keys": keys}, 500),
        ("put_vectors", {"vectors": vectors}, 500),
    ):
        call = getattr(world.s3vectors, operation)
        [(name, many)] = values.items()
        said = invalid(call, indexArn=arn, **{name: many[: most + 1]})
        assert f"less than or equal to {most}" in said
        call(indexArn=arn, **{name: many[:most]})
