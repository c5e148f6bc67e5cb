"""Knowledge bases and data sources: life cycle, names, limits, immutable settings."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bedrock_kb_simulator import rules
from simulator.tests.holding import holds
from simulator.tests.world import (
    CUSTOM,
    World,
    at,
    data_source_request,
    eventually,
    inline,
    invalid,
    knowledge_base_request,
    refused,
)


@holds("knowledge-base.creation", "request.client-token")
def test_knowledge_base_becomes_active_and_client_token_makes_it_once(
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


@holds("knowledge-base.index-*")
def test_index_must_exist_match_model_dimension_and_be_named_one_way(
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


@holds("knowledge-base.immutable", "knowledge-base.name-taken")
def test_knowledge_base_configuration_is_immutable_and_name_unique(
    world: World,
) -> None:
    request = knowledge_base_request(world.index(), "taken")
    created = world.agent.create_knowledge_base(**request)["knowledgeBase"]
    taken = refused(world.agent.create_knowledge_base, **request)
    key = {"knowledgeBaseId": created["knowledgeBaseId"]}

    renamed = world.agent.update_knowledge_base(**{**request, **key, "name": "renamed"})
    other = knowledge_base_request(world.index())
    error = refused(world.agent.update_knowledge_base, **{**other, **key})

    assert taken["Code"] == "ConflictException"
    assert taken["Message"] == "KnowledgeBase with name taken already exists"
    assert renamed["knowledgeBase"]["name"] == "renamed"
    assert error["Code"] == "ValidationException"


@holds("knowledge-base.per-account")
def test_account_limits_knowledge_bases_to_100_and_lists_them_in_pages(
    world_at: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three stand for the 100."""
    few = replace(rules.KNOWLEDGE_BASES_PER_ACCOUNT, value=3)
    monkeypatch.setattr(rules, "KNOWLEDGE_BASES_PER_ACCOUNT", few)
    world = world_at(1_000)
    index = world.index()
    made = {world.knowledge_base(index) for _ in range(3)}

    error = refused(world.agent.create_knowledge_base, **knowledge_base_request(index))
    paginator = world.agent.get_paginator("list_knowledge_bases")
    pages = list(paginator.paginate(PaginationConfig={"PageSize": 2}))

    assert error["Code"] == "ServiceQuotaExceededException"
    assert error["Message"].endswith("knowledge bases per account: 3")
    assert rules.RULES["knowledge-base.per-account"].limit == 100
    assert [len(page["knowledgeBaseSummaries"]) for page in pages] == [2, 1]
    listed = {base["knowledgeBaseId"] for page in pages for base in page["knowledgeBaseSummaries"]}
    assert listed == made


@holds("data-source.name-taken", "data-source.per-knowledge-base")
def test_knowledge_base_has_at_most_five_data_sources_of_unique_names(world: World) -> None:
    knowledge_base, other = world.knowledge_base(), world.knowledge_base()
    world.data_source(knowledge_base, name="ds-catalog")
    request = data_source_request(knowledge_base, world.bucket)
    create = world.agent.create_data_source

    taken = refused(create, **{**request, "name": "ds-catalog"})
    for _ in range(4):
        world.data_source(knowledge_base)
    sixth = refused(create, **request)

    assert taken["Code"] == "ConflictException"
    assert sixth["Code"] == "ServiceQuotaExceededException"
    assert world.data_source(other, name="ds-catalog")


@holds("data-source.chunking-immutable", "data-source.replaced")
def test_data_source_update_replaces_all_but_chunking_and_parser(
    world: World,
) -> None:
    by_pictures = {"parsingConfiguration": {"parsingStrategy": "BEDROCK_DATA_AUTOMATION"}}
    more = {"description": "books", "dataDeletionPolicy": "RETAIN"}
    knowledge_base, source = world.pair("shelf/", vectorIngestionConfiguration=by_pictures, **more)
    request = {**data_source_request(knowledge_base, world.bucket), "dataSourceId": source}
    whole = {"chunkingConfiguration": {"chunkingStrategy": "NONE"}}
    by_model = {"parsingConfiguration": {"parsingStrategy": "BEDROCK_FOUNDATION_MODEL"}}
    update = world.agent.update_data_source

    for other in (by_pictures | whole, by_model):
        invalid(update, **request, vectorIngestionConfiguration=other)
    update(**request, vectorIngestionConfiguration=by_pictures)

    found = world.agent.get_data_source(**at(knowledge_base, source))["dataSource"]
    assert found["name"] == request["name"]
    assert found["dataDeletionPolicy"] == "DELETE"
    assert "description" not in found
    assert "inclusionPrefixes" not in found["dataSourceConfiguration"]["s3Configuration"]


@holds("data-source.deletion", "data-source.retained")
@pytest.mark.parametrize("policy", ["DELETE", "RETAIN"])
def test_deleted_data_source_deletes_or_retains_its_vectors(world: World, policy: str) -> None:
    index = world.index(searched={"AMAZON_BEDROCK_TEXT": None})
    knowledge_base = world.knowledge_base(index)
    source = world.data_source(knowledge_base, dataDeletionPolicy=policy)
    tea = "Green tea is brewed at eighty degrees."
    world.put("tea.txt", tea, {"owner": "alice"})
    world.sync(knowledge_base, source)
    eventually(lambda: world.search(knowledge_base, "tea"))

    deleted = world.agent.delete_data_source(**at(knowledge_base, source))

    assert deleted["status"] == "DELETING"
    eventually(lambda: is_gone(world, knowledge_base))
    assert world.search(knowledge_base, "tea") == []
    left = world.s3vectors.list_vectors(indexArn=index, returnMetadata=True)["vectors"]
    kept = [tea] if policy == "RETAIN" else []
    assert [each["metadata"]["AMAZON_BEDROCK_TEXT"] for each in left] == kept
    texts = {"AMAZON_BEDROCK_TEXT": "tea"}
    found = world.query(index, texts=texts, filter={"owner": "alice"})
    assert found == [{"key": each["key"]} for each in left]


@holds("data-source.deletion-failed")
def test_data_source_with_missing_index_is_deleted_only_with_retain(world: World) -> None:
    index = world.index()
    knowledge_base = world.knowledge_base(index)
    key = at(knowledge_base, world.data_source(knowledge_base))
    world.s3vectors.delete_index(indexArn=index)
    world.agent.delete_data_source(**key)

    def failed() -> dict[str, Any] | None:
        found: dict[str, Any] = world.agent.get_data_source(**key)["dataSource"]
        return found if found["status"] == "DELETE_UNSUCCESSFUL" else None

    assert "RETAIN" in eventually(failed)["failureReasons"][0]
    request = data_source_request(knowledge_base, world.bucket)
    world.agent.update_data_source(**{**request, **key, "dataDeletionPolicy": "RETAIN"})
    world.agent.delete_data_source(**key)
    eventually(lambda: is_gone(world, knowledge_base))


@holds("data-source.being-deleted", "data-source.deletion")
def test_data_source_being_deleted_refuses_work(
    world_at: Callable[..., World],
) -> None:
    world = world_at(4, patient=True)
    agent = world.agent
    knowledge_base, source = world.pair(dataSourceConfiguration=CUSTOM)
    key = at(knowledge_base, source)
    request = {**data_source_request(knowledge_base, world.bucket), **key}
    named = {"documentIdentifiers": [{"dataSourceType": "CUSTOM", "custom": {"id": "doc"}}]}
    written = {"documents": [inline("doc", "Text.", a="b")]}
    agent.delete_data_source(**key)

    errors = [
        refused(agent.start_ingestion_job, **key),
        refused(agent.update_data_source, **request),
        refused(agent.delete_data_source, **key),
        refused(agent.ingest_knowledge_base_documents, **key, **written),
        refused(agent.delete_knowledge_base_documents, **key, **named),
    ]
    during = agent.get_data_source(**key)["dataSource"]["status"]

    assert {error["Code"] for error in errors} == {"ConflictException"}
    assert during == "DELETING"
    eventually(lambda: is_gone(world, knowledge_base))
    assert refused(agent.get_data_source, **key)["Code"] == "ResourceNotFoundException"


def is_gone(world: World, knowledge_base: str) -> bool:
    """Return True once the only data source is gone."""
    return not world.agent.list_data_sources(knowledgeBaseId=knowledge_base)["dataSourceSummaries"]
