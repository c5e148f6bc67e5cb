"""Managed knowledge bases of Bedrock's as simulated here, which Retrieve searches, too."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from stackroom.aws.knowledge_base import BedrockKnowledgeBase
from stackroom.aws.retrieve_options import RetrieveOptions
from stackroom.ports.retrieval import KnowledgeBase
from tests.contract.stores.bedrock import (
    ONCE,
    RETRIEVE,
    BedrockWorld,
    Simulated,
    client,
    crawl,
    settle,
)
from tests.contract.stores.relay import Relay
from tests.contract.stores.shelves import Shelf
from tests.contract.stores.worlds import OF_EMBEDDING, Ranks, Store, Trouble, World

# Its scores are relative: that of the best result is 1. The service embeds and ranks by itself.
STORES = {
    "MANAGED": Store(
        fixture="managed_world",
        is_variant=True,
        ranks=Ranks.BY_BOTH,
        troubles=frozenset(Trouble) - OF_EMBEDDING,
    )
}
_OPTIONS = RetrieveOptions(is_managed=True, has_cosine_scores=False)


def _ingested(simulated: Simulated, shelf: Shelf) -> str:
    """The id of a knowledge base in which every document is found."""
    agent = client("bedrock-agent", simulated.endpoint)
    knowledge_base = agent.create_knowledge_base(
        name=f"managed-{shelf.name}",
        roleArn="arn:aws:iam::000000000000:role/kb",
        knowledgeBaseConfiguration={"type": "MANAGED", "managedKnowledgeBaseConfiguration": {}},
    )["knowledgeBase"]["knowledgeBaseId"]
    while _status(agent, knowledge_base) != "ACTIVE":
        time.sleep(0.02)
    connector = {
        "type": "S3",
        "version": "1",
        "connectionConfiguration": {"bucketName": simulated.bucket_of(shelf)},
    }
    source = agent.create_data_source(
        knowledgeBaseId=knowledge_base,
        name="all",
        dataSourceConfiguration={
            "type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR",
            "managedKnowledgeBaseConnectorConfiguration": {"connectorParameters": connector},
        },
    )["dataSource"]["dataSourceId"]
    where = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    while agent.get_data_source(**where)["dataSource"]["status"] != "AVAILABLE":
        time.sleep(0.02)
    crawl(agent, knowledge_base, source, shelf)
    runtime = client("bedrock-agent-runtime", simulated.endpoint)
    settle(BedrockKnowledgeBase(runtime, knowledge_base, options=_OPTIONS), shelf)
    return str(knowledge_base)


def _status(agent: Any, knowledge_base: str) -> str:
    found = agent.get_knowledge_base(knowledgeBaseId=knowledge_base)
    return str(found["knowledgeBase"]["status"])


@pytest.fixture(scope="package")
def managed_world(bedrock: Simulated) -> Iterator[World]:
    def relayed(endpoint: str, shelf: Shelf) -> KnowledgeBase:
        knowledge_base = _ingested(bedrock, shelf)
        runtime = client("bedrock-agent-runtime", endpoint, config=ONCE)
        return BedrockKnowledgeBase(runtime, knowledge_base, options=_OPTIONS)

    with Relay(bedrock.endpoint) as relay:
        yield BedrockWorld(relay=relay, made=relayed, searches_at=RETRIEVE)
