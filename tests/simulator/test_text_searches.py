"""Which keys of an index are searched by words: from the start, later, and no longer."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import World, eventually, refused, text_search


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


@holds("text-search.backfill", "text-search.keys")
def test_an_index_is_made_searchable_by_keys_that_no_filter_may_use(world: World) -> None:
    arn = world.index(dimension=1, non_filterable=["text"], searched={"text": "de", "title": None})

    described = world.s3vectors.get_index(indexArn=arn)["index"]

    assert described["indexMode"] == "ENHANCED"
    assert described["metadataConfiguration"] == {
        "nonFilterableMetadataKeys": ["text"],
        "textSearchConfigurations": [
            {"metadataKey": "text", "language": "de", "status": "ACTIVE"},
            {"metadataKey": "title", "status": "ACTIVE"},
        ],
    }


@holds("text-search.backfill", "text-search.building", "query.text-building")
def test_a_key_that_is_added_later_is_built_then_finds_what_was_there(
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


@holds("text-search.t[aw]*", "text-search.absent", "text-search.change", "text-search.keys")
def test_a_change_either_adds_what_is_not_there_or_deletes_what_is(world: World) -> None:
    arn = world.index(dimension=1, searched={"text": "en"})

    def update(**changes: list[str]) -> dict[str, str]:
        asked = {
            change: {"textSearchConfigurations": [{"metadataKey": key} for key in keys]}
            for change, keys in changes.items()
        }
        return refused(world.s3vectors.update_metadata_configuration, indexArn=arn, **asked)

    taken = update(add=["text"])
    rest = [
        update(delete=["other"]),
        update(add=["other"], delete=["text"]),
        update(),
        update(add=[f"key-{number}" for number in range(10)]),
        update(add=["other", "other"]),
    ]

    assert taken["Code"] == "ConflictException"
    assert [error["Code"] for error in rest] == ["ValidationException"] * 5
    assert [each["metadataKey"] for each in searches(world, arn)] == ["text"]


@holds("text-search.mode", "index.classic")
def test_text_search_and_the_classic_mode_exclude_each_other(world: World) -> None:
    classic = world.index(dimension=1, mode="CLASSIC")
    searched = world.index(dimension=1, searched={"text": "en"})
    more = {"textSearchConfigurations": [text_search("text")]}

    needs_enhanced = refused(
        world.s3vectors.update_metadata_configuration, indexArn=classic, add=more
    )
    never_again = refused(world.s3vectors.update_index_mode, indexArn=searched, indexMode="CLASSIC")
    world.s3vectors.update_index_mode(indexArn=classic, indexMode="ENHANCED")
    add(world, classic, "text")

    assert "ENHANCED" in needs_enhanced["Message"]
    assert never_again["Code"] == "ValidationException"
    assert searches(world, classic) == [{"metadataKey": "text", "status": "ACTIVE"}]


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


@holds("text-search.analyzers")
@pytest.mark.parametrize(
    ("language", "text", "question"),
    [
        ("ja", "東京都の図書館は九時に開きます。", "図書館"),
        ("fr", "L'imprimante à l'étage", "ÉTAGE"),
        (None, "Straße nach Ørsted", "straße"),
    ],
)
def test_every_language_finds_its_words(
    world: World, language: str | None, text: str, question: str
) -> None:
    arn = world.index(dimension=1, searched={"text": language})
    world.put_vector(arn, "it", [1], text=text)
    world.put_vector(arn, "other", [1], text="nothing of the kind, 別のもの")

    assert world.query(arn, texts={"text": question}) == [{"key": "it"}]
