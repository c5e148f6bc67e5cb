"""Managed knowledge bases and their data sources: validation and defaults."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bedrock_kb_simulator import rules
from simulator.tests.holding import holds
from simulator.tests.managed import (
    CONNECTOR,
    CUSTOM,
    described,
    echoed_parameters,
    managed,
    managed_request,
    pair,
    s3,
    source_request,
    status_of,
)
from simulator.tests.world import (
    TITAN,
    World,
    data_source_request,
    eventually,
    inline,
    invalid,
    refused,
)

S3 = {"type": "S3", "version": "1"}


@pytest.fixture(scope="module")
def home(shared: World) -> str:
    """Return a managed knowledge base for tests that create only data sources in it."""
    return managed(shared)


@holds("managed.creation", "managed.not-active", "managed.configuration", "managed.storage")
def test_managed_knowledge_base_refuses_data_sources_until_active(
    world: World,
) -> None:
    request = managed_request()
    del request["knowledgeBaseConfiguration"]["managedKnowledgeBaseConfiguration"]
    made = world.agent.create_knowledge_base(**request)["knowledgeBase"]
    knowledge_base = made["knowledgeBaseId"]

    early = refused(world.agent.create_data_source, **source_request(knowledge_base, CUSTOM))
    eventually(lambda: status_of(world, knowledge_base) == "ACTIVE")
    update = {**request, "knowledgeBaseId": knowledge_base, "name": f"{request['name']}-2"}
    changed = world.agent.update_knowledge_base(**update)["knowledgeBase"]

    assert made["status"] == "CREATING"
    assert early["Code"] == "ConflictException"
    assert early["Message"].endswith("is not ACTIVE: CREATING")
    assert made["knowledgeBaseConfiguration"] == {
        "type": "MANAGED",
        "managedKnowledgeBaseConfiguration": {"embeddingModelType": "MANAGED"},
    }
    assert "storageConfiguration" not in made
    assert changed["name"] == update["name"]


@holds("managed.embedding", "managed.storage", "managed.configuration", "knowledge-base.immutable")
def test_option_unfit_for_a_managed_knowledge_base_is_refused(world: World, home: str) -> None:
    own = {"embeddingModelType": "CUSTOM", "embeddingModelArn": TITAN}
    other = managed_request()
    vector = {"vectorKnowledgeBaseConfiguration": {"embeddingModelArn": TITAN}}
    other["knowledgeBaseConfiguration"] |= vector
    storage = {"type": "S3_VECTORS", "s3VectorsConfiguration": {"indexArn": world.index()}}

    problems = [
        invalid(world.agent.create_knowledge_base, **request)
        for request in (
            managed_request(**own),
            managed_request(embeddingModelArn=TITAN),
            {**managed_request(), "storageConfiguration": storage},
            other,
        )
    ]
    invalid(world.agent.update_knowledge_base, knowledgeBaseId=home, **managed_request(**own))

    expected = (
        "does not offer embeddingModelType CUSTOM",
        "MANAGED takes no model",
        "storageConfiguration is not supported",
        "doesn't match the type MANAGED",
    )
    assert all(part in text for part, text in zip(expected, problems, strict=True)), problems


@holds("managed.deletion")
def test_a_deleted_managed_knowledge_base_reads_deleting_until_it_is_gone(world: World) -> None:
    knowledge_base, _ = pair(world, CUSTOM)

    world.agent.delete_knowledge_base(knowledgeBaseId=knowledge_base)

    assert status_of(world, knowledge_base) == "DELETING"
    listed = world.agent.list_data_sources(knowledgeBaseId=knowledge_base)
    assert listed["dataSourceSummaries"] == []

    of_all = world.agent.list_knowledge_bases
    eventually(lambda: knowledge_base not in str(of_all(maxResults=1000)))


@holds("managed.source-type", "managed.connector-of-vector", "managed.deletion-policy")
def test_a_data_source_is_of_its_knowledge_bases_kind(world: World, home: str) -> None:
    create = world.agent.create_data_source
    of_vectors = data_source_request(home, world.bucket)
    custom = {**of_vectors, "dataSourceConfiguration": {"type": "CUSTOM"}}
    retained = {**source_request(home, CUSTOM), "dataDeletionPolicy": "RETAIN"}

    plain = {invalid(create, **request) for request in (of_vectors, custom)}
    connector = invalid(create, **source_request(world.knowledge_base(), CUSTOM))

    assert plain == {"Unsupported data source type for MANAGED knowledge base type."}
    assert connector == "Unsupported data source type for VECTOR knowledge base type."
    assert "RETAIN is not supported" in invalid(create, **retained)


@holds("managed.connector-*", "managed.connector-type")
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "Connector type is required"),
        ('{"type": "CUSTOM", "version": "1"}', "Connector type is required"),
        ({"type": "CUSTOM"}, "The 'version' field is required"),
        ({"type": "CUSTOM", "version": "1.0"}, "version '1.0'. Supported versions are: 1."),
        ({"type": "FTP", "version": "1"}, "Invalid connector type 'FTP'. Supported types are: S3,"),
        ({"type": "BOX", "version": "1"}, "does not offer connectors of type BOX"),
        ({**CUSTOM, "aclEnabled": True}, "does not offer aclEnabled of a connector"),
        (
            {**S3, "filterConfiguration": {"exclusionPatterns": ["a"]}},
            "not offer exclusionPatterns",
        ),
    ],
)
def test_connector_parameters_are_checked_one_after_the_other(
    world: World, home: str, parameters: object, message: str
) -> None:
    request = source_request(home, parameters)

    assert message in invalid(world.agent.create_data_source, **request)


@holds("managed.source-creation", "managed.source-status", "managed.connector-echo")
def test_managed_data_source_refuses_documents_until_available(world: World, home: str) -> None:
    request = source_request(home, s3(world, "a/", "b/"))
    made = world.agent.create_data_source(**request)["dataSource"]
    names = {"knowledgeBaseId": home, "dataSourceId": made["dataSourceId"]}

    custom = world.agent.create_data_source(**source_request(home, CUSTOM))["dataSource"]

    early = [
        refused(world.agent.start_ingestion_job, **names),
        refused(
            world.agent.ingest_knowledge_base_documents,
            knowledgeBaseId=home,
            dataSourceId=custom["dataSourceId"],
            documents=[inline("a", "text", kind="note")],
        ),
    ]
    eventually(lambda: described(world, home, made["dataSourceId"])["status"] == "AVAILABLE")
    changed = world.agent.update_data_source(**{**request, **names})["dataSource"]

    assert all(each["Message"].endswith("with status CREATING.") for each in early)
    assert changed["status"] == "UPDATING"
    eventually(lambda: described(world, home, made["dataSourceId"])["status"] == "AVAILABLE")
    found = described(world, home, made["dataSourceId"])
    assert found["dataSourceConfiguration"]["type"] == CONNECTOR
    assert echoed_parameters(found) == {
        **s3(world),
        "aclEnabled": False,
        "filterConfiguration": {
            "inclusionPrefixes": ["a/", "b/"],
            "maxFileSizeInMegaBytes": "500",
        },
    }


@holds("managed.chunking", "managed.parsing")
def test_managed_data_source_takes_no_chunking_and_only_smart_parsing(
    world: World, home: str
) -> None:
    def request(**configuration: Any) -> dict[str, Any]:
        asked = source_request(home, CUSTOM)
        return {**asked, "vectorIngestionConfiguration": configuration}

    create = world.agent.create_data_source
    chunking = request(chunkingConfiguration={"chunkingStrategy": "NONE"})
    seeing = request(parsingConfiguration={"parsingStrategy": "BEDROCK_DATA_AUTOMATION"})
    smart = request(parsingConfiguration={"parsingStrategy": "SMART_PARSING"})

    assert "chunkingConfiguration NONE" in invalid(create, **chunking)
    assert "BEDROCK_DATA_AUTOMATION" in invalid(create, **seeing)
    assert create(**smart)["dataSource"]["status"] == "CREATING"


@holds("managed.data-sources")
def test_data_sources_of_managed_knowledge_bases_have_a_quota_of_their_own(
    world_at: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Managed ones can be created without room for others."""
    for name, value in (("KNOWLEDGE_BASES_PER_ACCOUNT", 0), ("DATA_SOURCES_PER_MANAGED", 2)):
        monkeypatch.setattr(rules, name, replace(getattr(rules, name), value=value))
    world = world_at(100, patient=True)
    knowledge_base = managed(world)
    for _ in range(2):
        world.agent.create_data_source(**source_request(knowledge_base, CUSTOM))

    third = refused(world.agent.create_data_source, **source_request(knowledge_base, CUSTOM))

    assert third["Code"] == "ServiceQuotaExceededException"
    assert third["Message"].endswith(": 2")
    assert rules.RULES["managed.data-sources"].limit == 200
