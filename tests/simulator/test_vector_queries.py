"""QueryVectors: by a vector, by texts, by both; what it tells, and what it refuses."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import World, invalid, refused

MANUAL = "The printer jams with error E-4711"
REPAIR = "How to repair a washing machine"
NOVEL = "A story of the sea, and of old machines"


@pytest.fixture
def index(world: World) -> str:
    """Three texts in two dimensions."""
    arn = world.index(dimension=2, non_filterable=["text"], searched={"text": "en", "title": None})
    world.put_vector(arn, "manual", [1, 0], text=MANUAL, title="Printers", year=2020)
    world.put_vector(arn, "repair", [8, 6], text=REPAIR, year=2021)
    world.put_vector(arn, "novel", [0, 1], text=NOVEL, title="The sea", year=2022)
    return arn


def keys(found: list[dict[str, Any]]) -> list[str]:
    return [vector["key"] for vector in found]


def test_a_vector_finds_the_nearest_and_tells_what_is_asked_for(world: World, index: str) -> None:
    bare = world.query(index, vector=[1, 0], results=2)
    told = world.query(
        index, vector=[1, 0], returnDistance=True, returnMetadata=True, returnScores=True
    )

    assert bare == [{"key": "manual"}, {"key": "repair"}]
    assert keys(told) == ["manual", "repair", "novel"]
    assert [vector["distance"] for vector in told] == pytest.approx([0, 0.2, 1], abs=1e-6)
    assert told[0]["metadata"] == {"text": MANUAL, "title": "Printers", "year": 2020}
    assert "scores" not in told[0]


def test_an_euclidean_index_measures_lengths_too(world: World) -> None:
    arn = world.index(dimension=2, metric="euclidean")
    world.put_vector(arn, "near", [1, 1])
    world.put_vector(arn, "far", [30, 40])
    world.put_vector(arn, "nought", [0, 0])

    found = world.query(arn, vector=[0, 0], returnDistance=True)

    assert keys(found) == ["nought", "near", "far"]
    assert [vector["distance"] for vector in found] == pytest.approx([0, 2**0.5, 50])


@holds("query.words", "text-search.analyzers")
def test_a_text_finds_what_has_any_of_its_words_in_whatever_form(world: World, index: str) -> None:
    found = world.query(index, texts={"text": "machine for washing?"})
    stemmed = world.query(index, texts={"text": "MACHINES"})
    code = world.query(index, texts={"text": "e-4711"})
    standard = world.query(index, texts={"title": "printer"})

    assert keys(found) == ["repair", "novel"]
    assert set(keys(stemmed)) == {"repair", "novel"}
    assert keys(code) == ["manual"]
    assert standard == []  # the standard analyzer has no stems


@holds("query.words")
def test_no_text_is_an_error_or_syntax(world: World, index: str) -> None:
    nothing = ("the of and", '"', "' OR 1=1 --", "x NEAR(", "text:*", "-", "🙂", "\x00")
    longest = ("x " * 512, "海" * 1024, " ".join(f"w{n}" for n in range(250))[:1024])

    found = {
        text: hits
        for text in (*nothing, *longest)
        if (hits := world.query(index, texts={"text": text}))
    }

    assert found == {}
    assert keys(world.query(index, texts={"text": "novel NOT story"})) == ["novel"]


@holds("query.fusion", "query.scores")
def test_a_hybrid_query_fuses_the_rankings_and_tells_each_score(world: World, index: str) -> None:
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
def test_a_words_score_is_bm25s(world: World) -> None:
    arn = world.index(dimension=1, searched={"text": None})
    texts = ("red red blue", "red green", "green blue white grey", "red")
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


def test_what_was_deleted_or_replaced_makes_no_word_less_rare(world: World) -> None:
    arn = world.index(dimension=1, searched={"text": None})
    for number in range(8):
        world.put_vector(arn, str(number), [1], text="red")
    world.put_vector(arn, "stays", [1], text="red blue")
    world.s3vectors.delete_vectors(indexArn=arn, keys=[str(number) for number in range(6)])
    world.put_vector(arn, "7", [1], text="green")
    texts = ("red", "green", "red blue")

    red = _scores(world.query(arn, texts={"text": "red"}, returnScores=True))

    assert red == {
        "6": pytest.approx(_bm25("red", texts, 0), rel=1e-5),
        "stays": pytest.approx(_bm25("red", texts, 2), rel=1e-5),
    }


@holds("query.long-text")
def test_the_rare_words_of_a_long_text_decide(world: World) -> None:
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
def test_what_lies_too_deep_in_a_ranking_did_not_match_it(world: World) -> None:
    arn = world.index(dimension=2, searched={"text": None})
    vectors = [
        {"key": f"{number:03}", "data": {"float32": [1, number / 100]}} for number in range(100)
    ]
    world.s3vectors.put_vectors(indexArn=arn, vectors=vectors)
    world.put_vector(arn, "far", [0, 1], text="needle")

    found = world.query(arn, vector=[1, 0], texts={"text": "needle"}, returnScores=True)

    assert keys(found)[:2] == ["000", "far"]
    assert "vectorDistance" not in found[1]["scores"]


@holds("query.filter-first")
def test_a_filter_comes_before_every_ranking(world: World) -> None:
    arn = world.index(dimension=2, searched={"text": None})
    crowd = [
        {
            "key": str(number),
            "data": {"float32": [1, 0]},
            "metadata": {"text": "word", "whose": "others"},
        }
        for number in range(300)
    ]
    world.s3vectors.put_vectors(indexArn=arn, vectors=crowd)
    world.put_vector(arn, "mine", [0, 1], text="word among many", whose="me")
    mine = {"whose": {"$eq": "me"}}

    by_vector = world.query(arn, vector=[1, 0], filter=mine)
    by_text = world.query(arn, texts={"text": "word"}, filter=mine)
    by_both = world.query(arn, vector=[1, 0], texts={"text": "word"}, filter=mine)

    assert keys(by_vector) == keys(by_text) == keys(by_both) == ["mine"]


@holds("query.page", "query.next-token", "query.top-k")
def test_results_come_by_the_hundred(world: World) -> None:
    arn = world.index(dimension=2)
    vectors = [{"key": str(n), "data": {"float32": [1, n / 100]}} for n in range(250)]
    world.s3vectors.put_vectors(indexArn=arn, vectors=vectors)
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


@holds("query.empty", "query.text-key", "query.text-twice", "vector.dimension")
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
def test_what_s3_vectors_refuses_is_refused(
    world: World, index: str, query: dict[str, Any], says: str
) -> None:
    assert says in invalid(world.s3vectors.query_vectors, indexArn=index, topK=3, **query)


@holds("query.classic", "query.text-mode", "query.classic-filter", "vector-bucket.default-mode")
def test_a_classic_index_knows_vectors_only_and_filters_as_it_searches(world: World) -> None:
    arn = world.index(dimension=2, mode="CLASSIC")
    crowd = [
        {"key": str(number), "data": {"float32": [1, 0]}, "metadata": {"whose": "others"}}
        for number in range(30)
    ]
    world.s3vectors.put_vectors(indexArn=arn, vectors=crowd)
    world.put_vector(arn, "mine", [0, 1], whose="me")
    mine: dict[str, Any] = {"filter": {"whose": "me"}, "vector": [1, 0]}

    texts = [{"text": "a", "metadataKey": "text"}]
    error = refused(world.s3vectors.query_vectors, indexArn=arn, topK=1, queryTexts=texts)

    assert world.s3vectors.get_index(indexArn=arn)["index"]["indexMode"] == "CLASSIC"
    assert "ENHANCED" in error["Message"]
    assert world.query(arn, results=1, **mine) == []
    assert keys(world.query(arn, results=4, **mine)) == ["mine"]
    assert keys(world.query(arn, results=1, queryMode="ENHANCED", **mine)) == ["mine"]


@holds("index.unnamed")
def test_a_query_names_its_index(world: World) -> None:
    query = {"topK": 1, "queryVector": {"float32": [1]}}

    for named in ({}, {"vectorBucketName": "bucket"}, {"indexName": "index"}):
        invalid(world.s3vectors.query_vectors, **query, **named)


def _scores(found: list[dict[str, Any]]) -> dict[str, float]:
    return {each["key"]: each["scores"]["bm25Scores"][0]["score"] for each in found}


def _bm25(word: str, texts: Sequence[str], at: int) -> float:
    """Of one word in one of the texts, from the formula."""
    words = [text.split() for text in texts]
    having = sum(word in each for each in words)
    weight = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
    count, length = words[at].count(word), len(words[at])
    average = sum(map(len, words)) / len(words)
    return weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / average))
