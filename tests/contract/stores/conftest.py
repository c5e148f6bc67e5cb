"""The world of each store, as the tests here ask for it; __init__.py says how to add one."""

import pytest

from stackroom.model.passages import KnowledgeBase
from tests.contract.stores.bedrock import (
    bedrock,
    hybrid_world,
    managed_world,
    retrieve_world,
    text_world,
)
from tests.contract.stores.document_sets import BARE, CROWD, DOCS
from tests.contract.stores.fake import fake_world
from tests.contract.stores.opensearch import opensearch_hybrid_world, opensearch_world
from tests.contract.stores.pgvector import filled, pgvector_hybrid_world, pgvector_world
from tests.contract.stores.table import STORES, every
from tests.contract.stores.worlds import Store, World

__all__ = [
    "bedrock",
    "fake_world",
    "filled",
    "hybrid_world",
    "managed_world",
    "opensearch_hybrid_world",
    "opensearch_world",
    "pgvector_hybrid_world",
    "pgvector_world",
    "retrieve_world",
    "text_world",
]


@pytest.fixture(params=every())
def store(request: pytest.FixtureRequest) -> Store:
    """One of each engine, or those that a test names by `each(...)`."""
    return STORES[request.param]


@pytest.fixture
def world(request: pytest.FixtureRequest, store: Store) -> World:
    made: World = request.getfixturevalue(store.fixture)
    return made


@pytest.fixture
def docs(world: World) -> KnowledgeBase:
    """It holds a few documents of three users."""
    return world.holding(DOCS)


@pytest.fixture
def crowd(world: World) -> KnowledgeBase:
    """It holds 120 documents, and one behind them."""
    return world.holding(CROWD)


@pytest.fixture
def bare(world: World) -> KnowledgeBase:
    """It holds nothing."""
    return world.holding(BARE)
