"""Knowledge bases: life, names, limits, and what can't change."""

from collections.abc import Callable

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import World, eventually, knowledge_base_request, refused


@holds("knowledge-base.creation")
def test_a_new_knowledge_base_is_creating_and_then_active(world: World) -> None:
    request = knowledge_base_request(world.index())

    created = world.agent.create_knowledge_base(**request)["knowledgeBase"]

    assert created["status"] == "CREATING"
    key = {"knowledgeBaseId": created["knowledgeBaseId"]}
    eventually(lambda: world.agent.get_knowledge_base(**key)["knowledgeBase"]["status"] == "ACTIVE")


@holds("knowledge-base.name-taken")
def test_a_name_is_taken_once(world: World) -> None:
    request = knowledge_base_request(world.index(), "taken")
    world.agent.create_knowledge_base(**request)

    error = refused(world.agent.create_knowledge_base, **request)

    assert error["Code"] == "ConflictException"
    assert error["Message"] == "KnowledgeBase with name taken already exists"


@holds("request.client-token")
def test_a_repeated_client_token_answers_the_first_knowledge_base(world: World) -> None:
    request = {**knowledge_base_request(world.index()), "clientToken": "t" * 33}

    first = world.agent.create_knowledge_base(**request)["knowledgeBase"]
    second = world.agent.create_knowledge_base(**request)["knowledgeBase"]

    assert second["knowledgeBaseId"] == first["knowledgeBaseId"]


@holds("model.name")
@pytest.mark.parametrize("name", ["two words", "-leading", "double--hyphen", "naïve", "x" * 101])
def test_a_name_that_breaks_the_pattern_is_refused(world: World, name: str) -> None:
    request = knowledge_base_request(world.index(), name)

    error = refused(world.agent.create_knowledge_base, **request)

    assert error["Code"] == "ValidationException"
    assert "Value at 'name'" in error["Message"]


@holds("model.client-token")
def test_a_client_token_of_32_characters_is_too_short(world: World) -> None:
    request = {**knowledge_base_request(world.index()), "clientToken": "t" * 32}

    error = refused(world.agent.create_knowledge_base, **request)

    assert error["Code"] == "ValidationException"
    assert "greater than or equal to 33" in error["Message"]


@holds("knowledge-base.index-missing", "knowledge-base.index-dimension")
def test_the_index_must_exist_and_have_the_models_dimension(world: World) -> None:
    narrow = world.index(dimension=256)

    missing = refused(
        world.agent.create_knowledge_base, **knowledge_base_request(f"{narrow}-elsewhere")
    )
    mismatched = refused(world.agent.create_knowledge_base, **knowledge_base_request(narrow))

    assert missing["Code"] == mismatched["Code"] == "ValidationException"
    assert "could not be found" in missing["Message"]
    assert "1024" in mismatched["Message"]


@holds("knowledge-base.index-arn-or-name")
def test_an_index_is_named_in_one_way(world: World) -> None:
    arn = world.index()
    bucket, _, name = arn.partition("/index/")
    request = knowledge_base_request(arn)
    vectors = request["storageConfiguration"]["s3VectorsConfiguration"]
    parts = {"vectorBucketArn": bucket, "indexName": name}

    request["storageConfiguration"]["s3VectorsConfiguration"] = {**vectors, **parts}
    both = refused(world.agent.create_knowledge_base, **request)
    request["storageConfiguration"]["s3VectorsConfiguration"] = {}
    neither = refused(world.agent.create_knowledge_base, **request)
    request["storageConfiguration"]["s3VectorsConfiguration"] = parts
    world.agent.create_knowledge_base(**request)

    assert both["Code"] == neither["Code"] == "ValidationException"
    assert "either indexArn or vectorBucketArn" in both["Message"]


@holds("knowledge-base.immutable")
def test_the_configuration_of_a_knowledge_base_never_changes(world: World) -> None:
    index = world.index()
    request = knowledge_base_request(index)
    created = world.agent.create_knowledge_base(**request)["knowledgeBase"]
    key = {"knowledgeBaseId": created["knowledgeBaseId"]}

    renamed = world.agent.update_knowledge_base(**{**request, **key, "name": "renamed"})
    other = knowledge_base_request(world.index())
    error = refused(world.agent.update_knowledge_base, **{**other, **key})

    assert renamed["knowledgeBase"]["name"] == "renamed"
    assert error["Code"] == "ValidationException"


def test_a_deleted_knowledge_base_is_not_found(world: World) -> None:
    knowledge_base = world.knowledge_base()

    world.agent.delete_knowledge_base(knowledgeBaseId=knowledge_base)

    error = refused(world.agent.get_knowledge_base, knowledgeBaseId=knowledge_base)
    assert error["Code"] == "ResourceNotFoundException"


@holds("knowledge-base.per-account")
def test_an_account_has_at_most_100_knowledge_bases(world_at: Callable[[float], World]) -> None:
    world = world_at(10_000)
    index = world.index()
    for number in range(100):
        world.agent.create_knowledge_base(**knowledge_base_request(index, f"kb-{number}"))

    error = refused(world.agent.create_knowledge_base, **knowledge_base_request(index, "kb-100"))

    assert error["Code"] == "ServiceQuotaExceededException"


def test_lists_come_in_pages(world_at: Callable[[float], World]) -> None:
    world = world_at(1_000)
    index = world.index()
    made = {world.knowledge_base(index) for _ in range(3)}

    pages = list(
        world.agent.get_paginator("list_knowledge_bases").paginate(PaginationConfig={"PageSize": 2})
    )

    assert [len(page["knowledgeBaseSummaries"]) for page in pages] == [2, 1]
    listed = {base["knowledgeBaseId"] for page in pages for base in page["knowledgeBaseSummaries"]}
    assert listed == made


def test_a_model_of_256_dimensions_searches_as_well(world: World) -> None:
    request = knowledge_base_request(world.index(dimension=256))
    request["knowledgeBaseConfiguration"]["vectorKnowledgeBaseConfiguration"][
        "embeddingModelConfiguration"
    ] = {"bedrockEmbeddingModelConfiguration": {"dimensions": 256}}
    created = world.agent.create_knowledge_base(**request)["knowledgeBase"]
    knowledge_base = created["knowledgeBaseId"]
    source = world.data_source(knowledge_base)
    world.put("bees.txt", "Bees make honey.")
    world.put("tax.txt", "Taxes are due in May.")

    world.sync(knowledge_base, source)

    eventually(lambda: len(world.search(knowledge_base, "honey")) == 2)
    best = world.search(knowledge_base, "honey", results=1)[0]
    assert best["content"]["text"] == "Bees make honey."
