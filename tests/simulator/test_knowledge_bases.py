"""Knowledge bases: life, names, limits, and what can't change."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from stackroom_local.simulator import knowledge_bases, rules
from tests.simulator.holding import holds
from tests.simulator.world import World, eventually, invalid, knowledge_base_request, refused


@holds("knowledge-base.creation", "request.client-token")
def test_a_new_knowledge_base_is_creating_then_active_and_made_once_for_a_client_token(
    world: World,
) -> None:
    request = {**knowledge_base_request(world.index()), "clientToken": "t" * 33}

    first, second = (
        world.agent.create_knowledge_base(**request)["knowledgeBase"] for _ in range(2)
    )

    assert first["status"] == "CREATING"
    assert second["knowledgeBaseId"] == first["knowledgeBaseId"]
    key = {"knowledgeBaseId": first["knowledgeBaseId"]}
    eventually(lambda: world.agent.get_knowledge_base(**key)["knowledgeBase"]["status"] == "ACTIVE")
    world.agent.delete_knowledge_base(**key)
    gone = refused(world.agent.get_knowledge_base, **key)
    assert gone["Code"] == "ResourceNotFoundException"
    assert first["knowledgeBaseId"] in gone["Message"]


@holds("knowledge-base.name-taken")
def test_a_name_is_taken_once(world: World) -> None:
    request = knowledge_base_request(world.index(), "taken")
    world.agent.create_knowledge_base(**request)

    error = refused(world.agent.create_knowledge_base, **request)

    assert error["Code"] == "ConflictException"
    assert error["Message"] == "KnowledgeBase with name taken already exists"


@holds(
    "knowledge-base.index-missing",
    "knowledge-base.index-dimension",
    "knowledge-base.index-arn-or-name",
)
def test_the_index_must_exist_have_the_models_dimension_and_be_named_in_one_way(
    world: World,
) -> None:
    narrow, arn = world.index(dimension=256), world.index()
    bucket, _, name = arn.partition("/index/")
    parts = {"vectorBucketArn": bucket, "indexName": name}

    def made(**named: str) -> dict[str, Any]:
        request = knowledge_base_request(arn)
        request["storageConfiguration"]["s3VectorsConfiguration"] = named
        return request

    missing, mismatched, both, _ = (
        invalid(world.agent.create_knowledge_base, **made(**named))
        for named in (
            {"indexArn": f"{arn}-elsewhere"},
            {"indexArn": narrow},
            {"indexArn": arn, **parts},
            {},
        )
    )
    world.agent.create_knowledge_base(**made(**parts))

    assert "could not be found" in missing
    assert "1024" in mismatched
    assert "either indexArn or vectorBucketArn" in both


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


@holds("knowledge-base.per-account")
def test_an_account_has_at_most_100_knowledge_bases_which_are_listed_in_pages(
    world_at: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three stand for the hundred."""
    few = replace(rules.KNOWLEDGE_BASES_PER_ACCOUNT, value=3)
    monkeypatch.setattr(knowledge_bases, "KNOWLEDGE_BASES_PER_ACCOUNT", few)
    world = world_at(1_000)
    index = world.index()
    made = {world.knowledge_base(index) for _ in range(3)}

    error = refused(world.agent.create_knowledge_base, **knowledge_base_request(index))
    paginator = world.agent.get_paginator("list_knowledge_bases")
    pages = list(paginator.paginate(PaginationConfig={"PageSize": 2}))

    assert error["Code"] == "ServiceQuotaExceededException"
    assert error["Message"].endswith("knowledge bases per account: 3")
    assert rules.KNOWLEDGE_BASES_PER_ACCOUNT.limit == 100
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
