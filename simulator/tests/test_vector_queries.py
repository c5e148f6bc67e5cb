"""QueryVectors by vectors, texts and filters, and the configuration of text search."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from simulator.tests.holding import holds
from simulator.tests.world import World, eventually, invalid, refused, text_search

MANUAL = "The printer jams with error E-4711"
REPAIR = "How to repair a washing machine"
NOVEL = "A story of the sea, and of old machines"
VECTORS: dict[str, dict[str, Any]] = {
    "drama": {"genre": "drama", "year": 1999, "seen": True},
    "both": {"genre": ["drama", "comedy"], "year": 2020.5, "seen": False},
    "plain": {"note": "nothing else"},
}


@pytest.fixture
def index(world: World) -> str:
    """Create an index of three texts in two dimensions."""
    arn = world.index(dimension=2, non_filterable=["text"], searched={"text": "en", "title": None})
    world.put_vector(arn, "manual", [1, 0], text=MANUAL, title="Printers", year=2020)
    world.put_vector(arn, "repair", [8, 6], text=REPAIR, year=2021)
    world.put_vector(arn, "novel", [0, 1], text=NOVEL, title="The sea", year=2022)
    return arn


def crowd(world: World, arn: str, count: int, **metadata: str) -> None:
    """Put vectors, each a little farther from [1, 0] than the last."""
    vectors = [
        {"key": str(n), "data": {"float32": [1, n / 100]}, "metadata": metadata}
        for n in range(count)
    ]
    world.s3vectors.put_vectors(indexArn=arn, vectors=vectors)


def keys(found: list[dict[str, Any]]) -> list[str]:
    return [vector["key"] for vector in found]


def test_query_by_vector_returns_the_nearest_with_requested_members(
    world: World, index: str
) -> None:
    bare = world.query(index, vector=[1, 0], results=2)
    told = world.query(
        index, vector=[1, 0], returnDistance=True, returnMetadata=True, returnScores=True
    )

    assert bare == [{"key": "manual"}, {"key": "repair"}]
    assert keys(told) == ["manual", "repair", "novel"]
    assert [vector["distance"] for vector in told] == pytest.approx([0, 0.2, 1], abs=1e-6)
    assert told[0]["metadata"] == {"text": MANUAL, "title": "Printers", "year": 2020}
    assert "scores" not in told[0]


def test_euclidean_index_uses_the_vectors_lengths(world: World) -> None:
    arn = world.index(dimension=2, metric="euclidean")
    world.put_vector(arn, "near", [1, 1])
    world.put_vector(arn, "far", [30, 40])
    world.put_vector(arn, "nought", [0, 0])

    found = world.query(arn, vector=[0, 0], returnDistance=True)

    assert keys(found) == ["nought", "near", "far"]
    assert [vector["distance"] for vector in found] == pytest.approx([0, 2**0.5, 50])


@holds("query.words", "text-search.analyzers")
def test_query_by_text_finds_any_of_its_words_in_any_form(world: World, index: str) -> None:
    found = world.query(index, texts={"text": "machine for washing?"})
    stemmed = world.query(index, texts={"text": "MACHINES"})
    code = world.query(index, texts={"text": "e-4711"})
    standard = world.query(index, texts={"title": "printer"})

    assert keys(found) == ["repair", "novel"]
    assert set(keys(stemmed)) == {"repair", "novel"}
    assert keys(code) == ["manual"]
    assert standard == []  # the standard analyzer has no stems


@holds("query.fusion", "query.scores")
def test_hybrid_query_fuses_rankings_and_returns_each_score(world: World, index: str) -> None:
    found = world.query(
        index, vector=[1, 0], texts={"text": "story", "title": "sea"}, returnScores=True
    )

    assert keys(found) == ["novel", "manual", "repair"]
    novel, manual = found[0]["scores"], found[1]["scores"]
    assert novel["fused"] == pytest.approx(1 / 63 + 1 / 61 + 1 / 61)
    assert novel["vectorDistance"] == pytest.approx(1)
    assert {each["metadataKey"] for each in novel["bm25Scores"]} == {"text", "title"}
    assert all(each["score"] > 0 for each in novel["bm25Scores"])
    assert manual["fused"] == pytest.approx(1 / 61)
    assert manual["bm25Scores"] == []
    [alone] = world.query(index, texts={"text": "story"}, returnScores=True, returnDistance=True)
    assert set(alone["scores"]) == {"bm25Scores"}
    assert "distance" not in alone


@holds("query.bm25")
def test_bm25_score_ignores_deleted_and_replaced_vectors(world: World) -> None:
    arn = world.index(dimension=1, searched={"text": None})
    texts = ("red red blue", "red green", "green blue white grey", "red")
    for number in range(8):
        world.put_vector(arn, str(number), [1], text="red")
    world.s3vectors.delete_vectors(indexArn=arn, keys=["4", "5", "6", "7"])
    for number, text in enumerate(texts):
        world.put_vector(arn, str(number), [1], text=text)

    red = _scores(world.query(arn, texts={"text": "red"}, returnScores=True))
    both = _scores(world.query(arn, texts={"text": "blue, red"}, returnScores=True))

    assert red == {key: pytest.approx(_bm25("red", texts, int(key)), rel=1e-5) for key in "013"}
    assert both == {
        key: pytest.approx(_bm25("red", texts, int(key)) + _bm25("blue", texts, int(key)), rel=1e-5)
        for key in "0123"
    }
    assert list(both) == ["0", "2", "3", "1"]


@holds("query.long-text")
def test_rarest_words_of_a_long_text_decide(world: World) -> None:
    arn = world.index(dimension=1, searched={"text": None})
    common = [f"common{number}" for number in range(40)]
    rare = [f"rare{number}" for number in range(32)]
    for number in range(2):
        world.put_vector(arn, f"common-{number}", [1], text=" ".join(common))
    for word in rare:
        world.put_vector(arn, word, [1], text=word)

    found = world.query(arn, texts={"text": " ".join(common + rare)}, results=100)

    assert set(keys(found)) == set(rare)


@holds("query.fusion-depth")
def test_result_below_the_fusion_depth_does_not_count(world: World) -> None:
    arn = world.index(dimension=2, searched={"text": None})
    crowd(world, arn, 100)
    world.put_vector(arn, "far", [0, 1], text="needle")

    found = world.query(arn, vector=[1, 0], texts={"text": "needle"}, returnScores=True)

    assert keys(found)[:2] == ["0", "far"]
    assert "vectorDistance" not in found[1]["scores"]


@holds("query.filter-first")
def test_filter_applies_before_every_ranking(world: World) -> None:
    arn = world.index(dimension=2, searched={"text": None})
    crowd(world, arn, 300, text="word", whose="others")
    world.put_vector(arn, "mine", [0, 1], text="word among many", whose="me")
    mine = {"whose": {"$eq": "me"}}

    by_vector = world.query(arn, vector=[1, 0], filter=mine)
    by_text = world.query(arn, texts={"text": "word"}, filter=mine)
    by_both = world.query(arn, vector=[1, 0], texts={"text": "word"}, filter=mine)

    assert keys(by_vector) == keys(by_text) == keys(by_both) == ["mine"]


@holds("query.page", "retrieve.next-token", "query.top-k")
def test_results_come_in_pages_of_100(world: World) -> None:
    arn = world.index(dimension=2)
    crowd(world, arn, 250)
    query = {"indexArn": arn, "queryVector": {"float32": [1, 0]}}

    first = world.s3vectors.query_vectors(**query, topK=220)
    pages = list(world.s3vectors.get_paginator("query_vectors").paginate(**query, topK=220))
    token = first["nextToken"]
    of_another = refused(world.s3vectors.query_vectors, **query, topK=221, nextToken=token)
    made_up = refused(world.s3vectors.query_vectors, **query, topK=220, nextToken="e30=")
    too_many = refused(world.s3vectors.query_vectors, **query, topK=10_001)

    assert [len(page["vectors"]) for page in pages] == [100, 100, 20]
    assert [v["key"] for page in pages for v in page["vectors"]] == [str(n) for n in range(220)]
    assert of_another["Code"] == made_up["Code"] == too_many["Code"] == "ValidationException"


@holds("query.empty", "query.text-key", "query.text-twice", "vector.dimension", "index.unnamed")
@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({}, "queryVector, queryTexts, or both"),
        ({"queryTexts": [{"text": "a", "metadataKey": "year"}]}, "not configured"),
        ({"queryTexts": [{"text": "a", "metadataKey": "text"}] * 2}, "distinct"),
        ({"queryVector": {"float32": [1, 2, 3]}}, "expected 2, got 3"),
        ({"queryTexts": [{"text": "a" * 1025, "metadataKey": "text"}]}, "equal to 1024"),
        ({"queryMode": "CLASSIC", "queryVector": {"float32": [1, 0]}}, "CLASSIC"),
    ],
)
def test_invalid_query_is_refused(
    world: World, index: str, query: dict[str, Any], says: str
) -> None:
    assert says in invalid(world.s3vectors.query_vectors, indexArn=index, topK=3, **query)
    for named in ({}, {"vectorBucketName": "bucket"}, {"indexName": "index"}):
        invalid(world.s3vectors.query_vectors, topK=3, **query, **named)


@pytest.fixture(scope="module")
def genres(shared: World) -> tuple[World, str]:
    world = shared.anew()
    arn = world.index(dimension=1, non_filterable=["text"])
    for key, metadata in VECTORS.items():
        world.put_vector(arn, key, [1], **metadata)
    return world, arn


@holds("vector-filter.operator")
@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"genre": {"$eq": "drama"}}, "drama both"),
        ({"genre": {"$ne": "drama"}}, "plain"),
        ({"genre": {"$in": ["comedy", "western"]}}, "both"),
        ({"genre": {"$nin": ["comedy", "western"]}}, "drama plain"),
        ({"year": {"$lte": 2020.5, "$gt": 2000}}, "both"),
        ({"genre": {"$startsWith": "dra"}}, "drama"),
        ({"genre": {"$exists": True}}, "drama both"),
        ({"genre": {"$exists": False}}, "plain"),
        ({"seen": 1}, ""),
        ({"$or": [{"genre": "comedy"}, {"note": {"$exists": True}}]}, "both plain"),
        ({"$and": [{"$or": [{"seen": True}, {"seen": False}]}, {"year": {"$gt": 2000}}]}, "both"),
    ],
)
def test_filter_operator_matches_as_documented(
    genres: tuple[World, str], condition: dict[str, Any], found: str
) -> None:
    world, arn = genres

    vectors = world.query(arn, vector=[1], filter=condition)

    assert [vector["key"] for vector in vectors] == found.split()


@holds("vector-filter.[!s]*", "vector-filter.shape")
@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ({"genre": {"$like": "d"}}, "$like"),
        ({"$not": [{"genre": "drama"}]}, "$not"),
        ({"genre": {}}, "empty"),
        ({"$or": {"genre": "drama"}}, "empty"),
        ({"year": {"$gt": "1999"}}, "another type"),
        ({"genre": {"$in": []}}, "another type"),
        ({"genre": {"$exists": "yes"}}, "another type"),
        ({"$or": [{"year": 1}, {"text": {"$exists": True}}]}, "non-filterable"),
        ({"year": {"$in": list(range(101))}}, "at most 100"),
        ({"$or": [{"year": {"$in": list(range(60))}}, {"year": {"$nin": list(range(41))}}]}, "100"),
    ],
)
def test_malformed_filter_is_refused(
    genres: tuple[World, str], condition: dict[str, Any], says: str
) -> None:
    world, arn = genres
    query = {"topK": 1, "queryVector": {"float32": [1]}, "filter": condition}

    assert says in invalid(world.s3vectors.query_vectors, indexArn=arn, **query)


def searches(world: World, index: str) -> list[dict[str, str]]:
    found = world.s3vectors.get_index(indexArn=index)["index"]
    listed: list[dict[str, str]] = found.get("metadataConfiguration", {}).get(
        "textSearchConfigurations", []
    )
    return listed


def add(world: World, index: str, *keys: str) -> None:
    added = {"textSearchConfigurations": [text_search(key) for key in keys]}
    world.s3vectors.update_metadata_configuration(indexArn=index, add=added)


def is_active(world: World, index: str) -> bool:
    return all(each["status"] == "ACTIVE" for each in searches(world, index))


@holds("text-search.backfill", "text-search.building", "query.text-building")
def test_key_added_later_is_built_and_finds_existing_vectors(
    world_at: Callable[..., World],
) -> None:
    world = world_at(30)
    arn = world.index(dimension=1, non_filterable=["text"])
    world.put_vector(arn, "before", [1], text="needle")
    add(world, arn, "text")

    building = searches(world, arn)
    world.put_vector(arn, "meanwhile", [1], text="needle and thread")
    query = {"indexArn": arn, "topK": 3, "queryTexts": [{"text": "needle", "metadataKey": "text"}]}
    too_early = refused(world.s3vectors.query_vectors, **query)
    by_vector = world.query(arn, vector=[1])
    more = {"textSearchConfigurations": [text_search("title")]}
    busy = refused(world.s3vectors.update_metadata_configuration, indexArn=arn, add=more)
    eventually(lambda: is_active(world, arn))

    assert building == [{"metadataKey": "text", "status": "BUILDING"}]
    assert too_early["Code"] == "ValidationException"
    assert len(by_vector) == 2
    assert busy["Code"] == "ConflictException"
    found = world.query(arn, texts={"text": "needle"})
    assert {vector["key"] for vector in found} == {"before", "meanwhile"}


@holds("text-search.taken", "text-search.absent", "text-search.change")
def test_change_of_text_search_either_adds_or_deletes_keys(world: World) -> None:
    arn = world.index(dimension=1, searched={"text": "en"})

    def update(**changes: list[str]) -> dict[str, str]:
        asked = {
            change: {"textSearchConfigurations": [{"metadataKey": key} for key in keys]}
            for change, keys in changes.items()
        }
        return refused(world.s3vectors.update_metadata_configuration, indexArn=arn, **asked)

    taken = [update(add=["text"]), update(add=["other", "other"])]
    rest = [
        update(delete=["other"]),
        update(add=["other"], delete=["text"]),
        update(),
    ]

    assert [error["Code"] for error in taken] == ["ConflictException"] * 2
    assert [error["Code"] for error in rest] == ["ValidationException"] * 3
    assert [each["metadataKey"] for each in searches(world, arn)] == ["text"]


@holds("text-search.values")
def test_strings_and_lists_of_them_are_searched(world: World) -> None:
    arn = world.index(dimension=1, searched={"text": None})
    values: dict[str, Any] = {"string": "blue sea", "list": ["red", "blue"], "number": 7}
    for key, value in values.items():
        world.put_vector(arn, key, [1], text=value)

    blue = world.query(arn, texts={"text": "blue"})
    seven = world.query(arn, texts={"text": "7"})
    by_vector = world.query(arn, vector=[1])

    assert {vector["key"] for vector in blue} == {"string", "list"}
    assert seven == []
    assert len(by_vector) == 3


def _scores(found: list[dict[str, Any]]) -> dict[str, float]:
    return {each["key"]: each["scores"]["bm25Scores"][0]["score"] for each in found}


def _bm25(word: str, texts: Sequence[str], at: int) -> float:
    """Return a word's BM25 score in a text, by the formula."""
    words = [text.split() for text in texts]
    having = sum(word in each for each in words)
    weight = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
    count, length = words[at].count(word), len(words[at])
    average = sum(map(len, words)) / len(words)
    return weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / average))
