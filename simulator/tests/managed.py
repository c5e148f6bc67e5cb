"""Helpers that create, connect, fill and search managed knowledge bases."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from simulator.tests.world import ROLE, World, eventually

CONNECTOR = "MANAGED_KNOWLEDGE_BASE_CONNECTOR"
CUSTOM = {"type": "CUSTOM", "version": "1"}


def managed_request(**configuration: Any) -> dict[str, Any]:
    """Return a CreateKnowledgeBase request with a managedKnowledgeBaseConfiguration."""
    return {
        "name": f"kb-{uuid4().hex}",
        "roleArn": ROLE,
        "knowledgeBaseConfiguration": {
            "type": "MANAGED",
            "managedKnowledgeBaseConfiguration": configuration,
        },
    }


def s3(world: World, *prefixes: str, **more: Any) -> dict[str, Any]:
    """Return connectorParameters for the world's bucket; `more` goes into filterConfiguration."""
    chosen = {"inclusionPrefixes": list(prefixes), **more} if prefixes or more else None
    return {
        "type": "S3",
        "version": "1",
        "connectionConfiguration": {"bucketName": world.bucket},
        **({"filterConfiguration": chosen} if chosen else {}),
    }


def source_request(knowledge_base: str, parameters: object, **more: Any) -> dict[str, Any]:
    """Return a CreateDataSource request; `more` goes beside the connectorParameters."""
    return {
        "knowledgeBaseId": knowledge_base,
        "name": f"ds-{uuid4().hex}",
        "dataSourceConfiguration": {
            "type": CONNECTOR,
            "managedKnowledgeBaseConnectorConfiguration": {
                "connectorParameters": parameters,
                **{name: value for name, value in more.items() if value is not None},
            },
        },
    }


def managed(world: World, **configuration: Any) -> str:
    """Create a managed knowledge base and wait until it is ACTIVE."""
    created = world.agent.create_knowledge_base(**managed_request(**configuration))
    knowledge_base = str(created["knowledgeBase"]["knowledgeBaseId"])
    eventually(lambda: status_of(world, knowledge_base) == "ACTIVE")
    return knowledge_base


def status_of(world: World, knowledge_base: str) -> str:
    found = world.agent.get_knowledge_base(knowledgeBaseId=knowledge_base)["knowledgeBase"]
    return str(found["status"])


def connected(world: World, knowledge_base: str, parameters: object, **more: Any) -> str:
    """Create a data source and wait until it is AVAILABLE."""
    request = source_request(knowledge_base, parameters, **more)
    source = str(world.agent.create_data_source(**request)["dataSource"]["dataSourceId"])
    eventually(lambda: described(world, knowledge_base, source)["status"] == "AVAILABLE")
    return source


def pair(world: World, parameters: object = None, **more: Any) -> tuple[str, str]:
    """Create a managed knowledge base with one data source, by default of the world's bucket."""
    knowledge_base = managed(world)
    return knowledge_base, connected(world, knowledge_base, parameters or s3(world), **more)


def described(world: World, knowledge_base: str, source: str) -> dict[str, Any]:
    found: dict[str, Any] = world.agent.get_data_source(
        knowledgeBaseId=knowledge_base, dataSourceId=source
    )["dataSource"]
    return found


def echoed_parameters(source: dict[str, Any]) -> Any:
    """Return the connectorParameters of a response, parsed."""
    configuration = source["dataSourceConfiguration"]["managedKnowledgeBaseConnectorConfiguration"]
    return json.loads(configuration["connectorParameters"])


def ingested(
    world: World, knowledge_base: str, source: str, documents: Sequence[dict[str, Any]]
) -> None:
    """Ingest them directly and wait until all are INDEXED."""
    world.agent.ingest_knowledge_base_documents(
        knowledgeBaseId=knowledge_base, dataSourceId=source, documents=documents
    )

    def settled() -> bool:
        listed = world.agent.list_knowledge_base_documents(
            knowledgeBaseId=knowledge_base, dataSourceId=source
        )["documentDetails"]
        return {each["status"] for each in listed} == {"INDEXED"}

    eventually(settled)


def search(world: World, knowledge_base: str, text: str, **search: Any) -> list[dict[str, Any]]:
    """Return search results; `search` goes into managedSearchConfiguration."""
    answer = world.runtime.retrieve(
        knowledgeBaseId=knowledge_base,
        retrievalQuery={"text": text},
        retrievalConfiguration={"managedSearchConfiguration": {"numberOfResults": 100, **search}},
    )
    found: list[dict[str, Any]] = answer["retrievalResults"]
    return found


def places(results: Sequence[dict[str, Any]]) -> list[str]:
    """Return the `documentId` of each result in order."""
    return [result["documentId"] for result in results]
