"""Managed knowledge bases of Bedrock's as simulated here, which Retrieve searches, too."""

from collections.abc import Iterator

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
    settle,
)
from tests.contract.stores.relay import Relay
from tests.contract.stores.shelves import Shelf
from tests.contract.stores.worlds import OF_EMBEDDING, Ranks, Store, Trouble, World
from tests.simulator.managed import pair

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
    world = simulated.world_of(shelf)
    knowledge_base, source = pair(world)
    world.sync(knowledge_base, source)
    runtime = client("bedrock-agent-runtime", simulated.endpoint)
    settle(BedrockKnowledgeBase(runtime, knowledge_base, options=_OPTIONS), shelf)
    return knowledge_base


@pytest.fixture(scope="package")
def managed_world(bedrock: Simulated) -> Iterator[World]:
    def relayed(endpoint: str, shelf: Shelf) -> KnowledgeBase:
        knowledge_base = _ingested(bedrock, shelf)
        runtime = client("bedrock-agent-runtime", endpoint, config=ONCE)
        return BedrockKnowledgeBase(runtime, knowledge_base, options=_OPTIONS)

    with Relay(bedrock.endpoint) as relay:
        yield BedrockWorld(relay=relay, made=relayed, searches_at=RETRIEVE)
