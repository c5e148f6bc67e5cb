"""Managed knowledge bases for the tests: made, connected, filled and searched."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from simulator.tests.world import ROLE, World, eventually

CONNECTOR = "MANAGED_KNOWLEDGE_BASE_CONNECTOR"
CUSTOM = {"type": "CUSTOM", "version": "1"}


def managed_request(**configuration: Any) -> dict[str, Any]:
    """`configuration` is the managedKnowledgeBaseConfiguration."""
    return {
        "name": f"kb-{uuid4().hex}",
        "roleArn": ROLE,
        "knowledgeBaseConfiguration": {
            "type": "MANAGED",
            "managedKnowledgeBaseConfiguration": configuration,
        },
    }


def s3(world: World, *prefixes: str, **more: Any) -> dict[str, Any]:
    """The connectorParameters for the world's bucket; `more` is of its filterConfiguration."""
    chosen = {"inclusionPrefixes": list(prefixes), **more} if prefixes or more else None
    return {
        "type": "S3",
        "version": "1",
        "connectionConfiguration": {"bucketName": world.bucket},
        **({"filterConfiguration": chosen} if chosen else {}),
    }


def source_request(knowledge_base: str, parameters: object, **more: Any) -> dict[str, Any]:
    """`more` stands beside the connectorParameters."""
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
    """A managed knowledge base that is ACTIVE."""
    created = world.agent.create_knowledge_base(**managed_request(**configuration))
    knowledge_base = str(created["knowledgeBase"]["knowledgeBaseId"])
    eventually(lambda: status_of(world, knowledge_base) == "ACTIVE")
    return knowledge_base


def status_of(world: World, knowledge_base: str) -> str:
    found = world.agent.get_knowledge_base(knowledgeBaseId=knowledge_base)["knowledgeBase"]
    return str(found["status"])


def connected(world: World, knowledge_base: str, parameters: object, **more: Any) -> str:
    """A data source that is AVAILABLE."""
    request = source_request(knowledge_base, parameters, **more)
    source = str(world.agent.create_data_source(**request)["dataSource"]["dataSourceId"])
    eventually(lambda: described(world, knowledge_base, source)["status"] == "AVAILABLE")
    return source


def pair(world: World, parameters: object = None, **more: Any) -> tuple[str, str]:
    """A managed knowledge base and its one data source, of the world's bucket or as told."""
    knowledge_base = managed(world)
    return knowledge_base, connected(world, knowledge_base, parameters or s3(world), **more)


def described(world: World, knowledge_base: str, source: str) -> dict[str, Any]:
    found: dict[str, Any] = world.agent.get_data_source(
        knowledgeBaseId=knowledge_base, dataSourceId=source
    )["dataSource"]
    return found


def parameters_told(source: dict[str, Any]) -> Any:
    """What an answer has as connectorParameters, read."""
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
    """`search` is the managedSearchConfiguration."""
    answer = world.runtime.retrieve(
        knowledgeBaseId=knowledge_base,
        retrievalQuery={"text": text},
        retrievalConfiguration={"managedSearchConfiguration": {"numberOfResults": 100, **search}},
    )
    found: list[dict[str, Any]] = answer["retrievalResults"]
    return found


def places(results: Sequence[dict[str, Any]]) -> list[str]:
    """The `documentId` of each result, in their order."""
    return [result["documentId"] for result in results]
