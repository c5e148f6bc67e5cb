"""Retrieve in pages, where an answer has no room for all that was asked for."""

from dataclasses import replace
from typing import Any

import pytest

from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.errors import ServiceError
from stackroom_local.simulator.page_tokens import start_of, token_for
from stackroom_local.simulator.rules import RETRIEVE_TOKEN
from tests.simulator.holding import holds
from tests.simulator.world import World, eventually, refused

COUNT = 40
LETTERS = 36_000  # of a passage: 40 of them are more than an answer holds


@pytest.fixture(scope="module")
def long_texts(shared: World) -> tuple[World, str]:
    """Passages as long as S3 Vectors takes them, and quick to embed; read only."""
    world = shared.anew()
    knowledge_base = world.knowledge_base()
    whole = {"chunkingConfiguration": {"chunkingStrategy": "NONE"}}
    source = world.data_source(knowledge_base, vectorIngestionConfiguration=whole)
    for number in range(COUNT):
        world.put(f"{number}.txt", f"Number {number}: {'x' * LETTERS}")
    world.sync(knowledge_base, source)
    eventually(lambda: sum(map(len, pages(world, request(knowledge_base)))) == COUNT)
    return world, knowledge_base


def request(knowledge_base: str, results: int = 100, question: str = "number") -> dict[str, Any]:
    return {
        "knowledgeBaseId": knowledge_base,
        "retrievalQuery": {"text": question},
        "retrievalConfiguration": {"vectorSearchConfiguration": {"numberOfResults": results}},
    }


def pages(world: World, asked: dict[str, Any]) -> list[list[dict[str, Any]]]:
    paginator = world.runtime.get_paginator("retrieve")
    return [page["retrievalResults"] for page in paginator.paginate(**asked)]


@holds("retrieve.page")
def test_all_pages_together_are_what_was_asked_for_best_first(
    long_texts: tuple[World, str],
) -> None:
    world, knowledge_base = long_texts

    found = pages(world, request(knowledge_base))
    fewer = pages(world, request(knowledge_base, results=33))
    few = world.runtime.retrieve(**request(knowledge_base, results=3))

    results = [each for page in found for each in page]
    scores = [each["score"] for each in results]
    assert len(found) == 2
    assert len({each["content"]["text"] for each in results}) == COUNT
    assert scores == sorted(scores, reverse=True)
    assert sum(map(len, fewer)) == 33
    assert len(few["retrievalResults"]) == 3
    assert "nextToken" not in few
    bodies = [sum(len(each["content"]["text"]) for each in page) for page in found]
    assert max(bodies) <= 1024 * 1024


@holds("retrieve.next-token")
def test_a_token_is_of_one_request_and_no_other(long_texts: tuple[World, str]) -> None:
    world, knowledge_base = long_texts
    asked = request(knowledge_base)
    token = world.runtime.retrieve(**asked)["nextToken"]

    again = world.runtime.retrieve(**asked, nextToken=token)
    errors = [
        refused(world.runtime.retrieve, **other, nextToken=given)
        for other, given in (
            (request(knowledge_base, results=99), token),
            (request(knowledge_base, question="another"), token),
            (asked, token[:-8] + "AAAAAAAA"),
            (asked, "bm90IG91cnM="),
            (asked, "not-base64!"),
            (asked, "MQ=="),
        )
    ]

    assert "nextToken" not in again
    assert {error["Code"] for error in errors} == {"ValidationException"}
    assert {error["Message"] for error in errors} == {
        "The provided nextToken is not valid for this request"
    }


@holds("retrieve.next-token")
def test_a_token_lasts_for_a_while() -> None:
    asked, clock = request("KB12345678"), Clock()
    until_now = replace(RETRIEVE_TOKEN, value=0)

    new = token_for(asked, 7, clock=clock, rule=RETRIEVE_TOKEN)
    old = token_for(asked, 7, clock=clock, rule=until_now)

    assert start_of({**asked, "nextToken": new}, clock=clock, rule=RETRIEVE_TOKEN) == 7
    with pytest.raises(ServiceError, match="not valid for this request"):
        start_of({**asked, "nextToken": old}, clock=clock, rule=RETRIEVE_TOKEN)
