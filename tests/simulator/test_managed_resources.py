"""Managed knowledge bases and their data sources: what they take, refuse and fill in."""

from dataclasses import replace
from typing import Any

import pytest

from stackroom_local.simulator import knowledge_bases, rules
from tests.simulator.holding import holds
from tests.simulator.managed import (
    CONNECTOR,
    CUSTOM,
    connected,
    described,
    managed,
    managed_request,
    parameters_told,
    s3,
    source_request,
    status_of,
)
from tests.simulator.world import TITAN, World, data_source_request, eventually, inline, refused


@holds("managed.creation", "managed.not-active")
def test_a_managed_knowledge_base_is_creating_for_a_while_and_takes_no_data_source_before(
    world: World,
) -> None:
    made = world.agent.create_knowledge_base(**managed_request())["knowledgeBase"]

    error = refused(
        world.agent.create_data_source, **source_request(made["knowledgeBaseId"], CUSTOM)
    )

    assert made["status"] == "CREATING"
    assert error["Code"] == "ConflictException"
    assert error["Message"].endswith("is not ACTIVE: CREATING")
    eventually(lambda: status_of(world, made["knowledgeBaseId"]) == "ACTIVE")


@holds("managed.configuration", "managed.storage")
def test_the_service_fills_in_its_own_embedding_and_tells_of_no_store(world: World) -> None:
    request = managed_request()
    del request["knowledgeBaseConfiguration"]["managedKnowledgeBaseConfiguration"]

    made = world.agent.create_knowledge_base(**request)["knowledgeBase"]

    assert made["knowledgeBaseConfiguration"] == {
        "type": "MANAGED",
        "managedKnowledgeBaseConfiguration": {"embeddingModelType": "MANAGED"},
    }
    assert "storageConfiguration" not in made


@holds("managed.storage", "managed.configuration")
def test_a_managed_knowledge_base_takes_no_store_and_no_other_types_configuration(
    world: World,
) -> None:
    storage = {"type": "S3_VECTORS", "s3VectorsConfiguration": {"indexArn": world.index()}}
    request = managed_request()
    other = managed_request()
    vector = {"vectorKnowledgeBaseConfiguration": {"embeddingModelArn": TITAN}}
    other["knowledgeBaseConfiguration"].update(vector)

    stored = refused(world.agent.create_knowledge_base, storageConfiguration=storage, **request)
    mixed = refused(world.agent.create_knowledge_base, **other)

    assert "storageConfiguration is not supported" in stored["Message"]
    assert "doesn't match the type MANAGED" in mixed["Message"]


@holds("managed.embedding")
@pytest.mark.parametrize(
    ("configuration", "problem"),
    [
        ({"embeddingModelType": "CUSTOM"}, "CUSTOM needs embeddingModelArn"),
        ({"embeddingModelArn": TITAN}, "MANAGED takes no model"),
        (
            {
                "embeddingModelType": "CUSTOM",
                "embeddingModelArn": TITAN,
                "embeddingModelConfiguration": {
                    "bedrockEmbeddingModelConfiguration": {"dimensions": 256}
                },
            },
            "1,024 dimensions",
        ),
    ],
)
def test_an_embedding_that_does_not_fit_is_refused(
    world: World, configuration: dict[str, Any], problem: str
) -> None:
    error = refused(world.agent.create_knowledge_base, **managed_request(**configuration))

    assert problem in error["Message"]


def test_an_update_may_leave_out_what_the_service_filled_in(world: World) -> None:
    knowledge_base = managed(world)
    request = managed_request()
    request["knowledgeBaseConfiguration"] = {"type": "MANAGED"}

    changed = world.agent.update_knowledge_base(knowledgeBaseId=knowledge_base, **request)

    assert changed["knowledgeBase"]["name"] == request["name"]


@holds("knowledge-base.immutable")
def test_the_embedding_of_a_managed_knowledge_base_can_not_change(world: World) -> None:
    knowledge_base = managed(world)
    custom = managed_request(embeddingModelType="CUSTOM", embeddingModelArn=TITAN)

    error = refused(world.agent.update_knowledge_base, knowledgeBaseId=knowledge_base, **custom)

    assert error["Code"] == "ValidationException"


@holds("managed.deletion")
def test_a_deleted_managed_knowledge_base_reads_deleting_until_it_is_gone(world: World) -> None:
    knowledge_base = managed(world)
    connected(world, knowledge_base, CUSTOM)

    world.agent.delete_knowledge_base(knowledgeBaseId=knowledge_base)

    assert status_of(world, knowledge_base) == "DELETING"
    listed = world.agent.list_data_sources(knowledgeBaseId=knowledge_base)
    assert listed["dataSourceSummaries"] == []
    gone = world.agent.exceptions.ResourceNotFoundException

    def is_gone() -> bool:
        try:
            status_of(world, knowledge_base)
        except gone:
            return True
        return False

    eventually(is_gone)


@holds("managed.source-type", "managed.connector-of-vector")
def test_a_data_source_is_of_its_knowledge_bases_kind(world: World) -> None:
    knowledge_base, vector = managed(world), world.knowledge_base()

    plain = [
        refused(
            world.agent.create_data_source,
            **{
                **data_source_request(knowledge_base, world.bucket),
                **({"dataSourceConfiguration": {"type": kind}} if kind != "S3" else {}),
            },
        )["Message"]
        for kind in ("S3", "CUSTOM")
    ]
    connector = refused(world.agent.create_data_source, **source_request(vector, CUSTOM))

    assert set(plain) == {"Unsupported data source type for MANAGED knowledge base type."}
    assert connector["Message"] == "Unsupported data source type for VECTOR knowledge base type."


@holds("managed.connector-*", "managed.connector-type")
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "Connector type is required in connector parameters"),
        ({"connectorType": "S3"}, "Connector type is required in connector parameters"),
        ('{"type": "CUSTOM", "version": "1"}', "Connector type is required"),
        ({"type": "CUSTOM"}, "The 'version' field is required in connector parameters."),
        (
            {"type": "CUSTOM", "version": "1.0.0"},
            "Invalid connector version '1.0.0'. Supported versions are: 1.",
        ),
        ({"type": "FTP", "version": "1"}, "Invalid connector type 'FTP'. Supported types are: S3,"),
        ({"type": "BOX", "version": "1"}, "does not offer connectors of type BOX"),
        ({**CUSTOM, "aclEnabled": True}, "does not offer aclEnabled of a connector"),
    ],
)
def test_connector_parameters_are_checked_one_after_the_other(
    world: World, shared: str, parameters: object, message: str
) -> None:
    error = refused(world.agent.create_data_source, **source_request(shared, parameters))

    assert error["Code"] == "ValidationException"
    assert message in error["Message"]


@holds("managed.connector-connection", "managed.source-creation", "managed.source-status")
@pytest.mark.parametrize(
    ("connection", "missing"),
    [({}, "connectionConfiguration"), ({"connectionConfiguration": {}}, "bucketName")],
)
def test_a_connector_without_a_bucket_is_accepted_and_fails_later(
    world: World, shared: str, connection: dict[str, Any], missing: str
) -> None:
    parameters = {"type": "S3", "version": "1", **connection}
    made = world.agent.create_data_source(**source_request(shared, parameters))["dataSource"]
    source = made["dataSourceId"]

    failed = eventually(
        lambda: (found := described(world, shared, source))["status"] == "FAILED" and found
    )
    error = refused(world.agent.start_ingestion_job, knowledgeBaseId=shared, dataSourceId=source)

    assert made["status"] == "CREATING"
    assert missing in failed["failureReasons"][0]
    assert "Member must not be null" in failed["failureReasons"][0]
    assert error["Message"] == (
        "You cannot start an ingestion job on a data source with status FAILED."
    )


@holds("managed.source-creation", "managed.source-status")
def test_a_data_source_is_creating_and_updating_before_it_takes_documents(
    world: World, shared: str
) -> None:
    request = source_request(shared, CUSTOM)
    made = world.agent.create_data_source(**request)["dataSource"]
    names = {"knowledgeBaseId": shared, "dataSourceId": made["dataSourceId"]}

    early = refused(
        world.agent.ingest_knowledge_base_documents,
        documents=[inline("a", "text", kind="note")],
        **names,
    )
    eventually(lambda: described(world, shared, made["dataSourceId"])["status"] == "AVAILABLE")
    changed = world.agent.update_data_source(**{**request, **names})["dataSource"]

    assert early["Message"].endswith("with status CREATING.")
    assert changed["status"] == "UPDATING"
    eventually(lambda: described(world, shared, made["dataSourceId"])["status"] == "AVAILABLE")


@holds("managed.connector-echo")
def test_answers_have_the_connectors_parameters_as_json_with_what_was_filled_in(
    world: World, shared: str
) -> None:
    source = connected(world, shared, s3(world, "a/", "b/"))

    found = described(world, shared, source)

    assert found["dataSourceConfiguration"]["type"] == CONNECTOR
    assert parameters_told(found) == {
        **s3(world),
        "aclEnabled": False,
        "filterConfiguration": {
            "inclusionPrefixes": ["a/", "b/"],
            "maxFileSizeInMegaBytes": "500",
        },
    }


@holds("managed.deletion-policy")
def test_the_passages_of_a_data_source_are_never_retained(world: World, shared: str) -> None:
    request = {**source_request(shared, CUSTOM), "dataDeletionPolicy": "RETAIN"}

    error = refused(world.agent.create_data_source, **request)

    assert "RETAIN is not supported" in error["Message"]


@holds("managed.chunking", "managed.parsing")
def test_chunks_are_configured_with_an_embedding_of_ones_own_only(
    world: World, shared: str
) -> None:
    own = managed(world, embeddingModelType="CUSTOM", embeddingModelArn=TITAN)
    whole = {"chunkingConfiguration": {"chunkingStrategy": "NONE"}}
    semantic = {
        "chunkingConfiguration": {
            "chunkingStrategy": "SEMANTIC",
            "semanticChunkingConfiguration": {
                "maxTokens": 100,
                "bufferSize": 0,
                "breakpointPercentileThreshold": 90,
            },
        }
    }
    seeing = {"parsingConfiguration": {"parsingStrategy": "BEDROCK_DATA_AUTOMATION"}}

    def refusal(knowledge_base: str, configuration: dict[str, Any]) -> str:
        request = source_request(knowledge_base, CUSTOM)
        asked = {**request, "vectorIngestionConfiguration": configuration}
        return refused(world.agent.create_data_source, **asked)["Message"]

    assert "chunkingConfiguration NONE" in refusal(shared, whole)
    assert "chunkingConfiguration SEMANTIC" in refusal(own, semantic)
    assert "BEDROCK_DATA_AUTOMATION" in refusal(own, seeing)
    smart = {"parsingConfiguration": {"parsingStrategy": "SMART_PARSING"}}
    request = {**source_request(own, CUSTOM), "vectorIngestionConfiguration": {**whole, **smart}}
    assert world.agent.create_data_source(**request)["dataSource"]["status"] == "CREATING"


@holds("managed.data-sources")
def test_a_managed_knowledge_base_takes_200_data_sources(world: World) -> None:
    knowledge_base = managed(world)
    for _ in range(200):
        world.agent.create_data_source(**source_request(knowledge_base, CUSTOM))

    error = refused(world.agent.create_data_source, **source_request(knowledge_base, CUSTOM))

    assert error["Code"] == "ServiceQuotaExceededException"
    assert error["Message"].endswith(": 200")


@holds("managed.per-account")
def test_managed_knowledge_bases_are_counted_apart(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no room for others there is room for managed ones, until they are as many as may be."""
    full = replace(rules.KNOWLEDGE_BASES_PER_ACCOUNT, value=0)
    monkeypatch.setattr(knowledge_bases, "KNOWLEDGE_BASES_PER_ACCOUNT", full)
    managed(world)
    enough = replace(rules.MANAGED_PER_ACCOUNT, value=1)
    monkeypatch.setattr(knowledge_bases, "MANAGED_PER_ACCOUNT", enough)

    error = refused(world.agent.create_knowledge_base, **managed_request())

    assert error["Code"] == "ServiceQuotaExceededException"
    assert error["Message"].endswith("managed knowledge bases per account: 1")
    assert rules.MANAGED_PER_ACCOUNT.limit == 10_000


@pytest.fixture(scope="module")
def _shared() -> dict[str, str]:
    return {}


@pytest.fixture
def shared(world: World, _shared: dict[str, str]) -> str:
    """A managed knowledge base for tests that leave nothing in it but data sources."""
    if not _shared:
        _shared["id"] = managed(world)
    return _shared["id"]
