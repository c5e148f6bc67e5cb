"""S3 Vectors' own filters: what each operator lets through, and what is refused."""

from typing import Any

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import World, invalid, refused

VECTORS: dict[str, dict[str, Any]] = {
    "drama": {"genre": "drama", "year": 1999, "seen": True},
    "both": {"genre": ["drama", "comedy"], "year": 2020.5, "seen": False},
    "plain": {"note": "nothing else"},
}


@pytest.fixture(scope="module")
def index(shared: World) -> tuple[World, str]:
    world = shared.anew()
    arn = world.index(dimension=1, non_filterable=["text"])
    for key, metadata in VECTORS.items():
        world.put_vector(arn, key, [1], **metadata)
    return world, arn


@holds("vector-filter.operator")
@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"genre": "drama"}, "drama both"),
        ({"genre": {"$eq": "comedy"}}, "both"),
        ({"genre": {"$ne": "drama"}}, "plain"),
        ({"year": {"$gte": 1999}}, "drama both"),
        ({"year": {"$lte": 2020.5, "$gt": 2000}}, "both"),
        ({"genre": {"$startsWith": "dra"}}, "drama"),
        ({"genre": {"$in": ["comedy", "western"]}}, "both"),
        ({"genre": {"$nin": ["comedy", "western"]}}, "drama plain"),
        ({"genre": {"$exists": True}}, "drama both"),
        ({"genre": {"$exists": False}}, "plain"),
        ({"seen": True}, "drama"),
        ({"seen": 1}, ""),
        ({"year": "1999"}, ""),
        ({"$and": [{"genre": "drama"}, {"seen": False}]}, "both"),
        ({"$or": [{"genre": "comedy"}, {"note": {"$exists": True}}]}, "both plain"),
        ({"$and": [{"$or": [{"seen": True}, {"seen": False}]}, {"year": {"$gt": 2000}}]}, "both"),
    ],
)
def test_an_operator_lets_through_what_it_means(
    index: tuple[World, str], condition: dict[str, Any], found: str
) -> None:
    world, arn = index

    vectors = world.query(arn, vector=[1], filter=condition)

    assert [vector["key"] for vector in vectors] == found.split()


@holds(
    "vector-filter.operator",
    "vector-filter.shape",
    "vector-filter.value",
    "vector-filter.key",
    "vector-filter.constraints",
)
@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ({"genre": {"$like": "d"}}, "$like"),
        ({"$not": [{"genre": "drama"}]}, "$not"),
        ({"genre": {}}, "empty"),
        ({"$and": []}, "empty"),
        ({"$or": {"genre": "drama"}}, "empty"),
        ({"year": {"$gt": "1999"}}, "another type"),
        ({"genre": {"$in": []}}, "another type"),
        ({"genre": {"$exists": "yes"}}, "another type"),
        ({"text": {"$eq": "a"}}, "non-filterable"),
        ({"$or": [{"year": 1}, {"text": {"$exists": True}}]}, "non-filterable"),
        ({"year": {"$in": list(range(101))}}, "at most 100"),
        ({"$or": [{"year": {"$in": list(range(60))}}, {"year": {"$nin": list(range(41))}}]}, "100"),
    ],
)
def test_what_is_no_filter_is_refused(
    index: tuple[World, str], condition: dict[str, Any], says: str
) -> None:
    world, arn = index

    query = {"topK": 1, "queryVector": {"float32": [1]}, "filter": condition}

    assert says in invalid(world.s3vectors.query_vectors, indexArn=arn, **query)


@holds("vector-filter.starts-with")
def test_prefixes_need_the_enhanced_mode(world: World) -> None:
    arn = world.index(dimension=1, mode="CLASSIC")
    world.put_vector(arn, "drama", [1], genre="drama")
    query = {"filter": {"genre": {"$startsWith": "dra"}}, "queryVector": {"float32": [1]}}

    error = refused(world.s3vectors.query_vectors, indexArn=arn, topK=1, **query)
    world.s3vectors.update_index_mode(indexArn=arn, indexMode="ENHANCED")
    found = world.s3vectors.query_vectors(indexArn=arn, topK=1, **query)["vectors"]

    assert "$startsWith" in error["Message"]
    assert found == [{"key": "drama"}]
