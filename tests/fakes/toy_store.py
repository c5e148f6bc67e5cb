"""
A store of a few lines, as anybody would add one: its adapter, and the settings that make it.

The product's stand in stackroom_stores/store_registry.py, or in pool_builder.py and capacity.py.
"""

from typing import Literal

import pytest

from stackroom.app.pool_builder import POOL_STORES, PoolBuilder
from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings
from stackroom.model.filters import Filter
from stackroom.model.records import PoolMember
from stackroom.runs.capacity import CAPACITIES, Capacity
from stackroom_stores.entries import Clients, OwnStoreSettings
from stackroom_stores.store_registry import STORES
from tests.fakes.knowledge_base import FakeKnowledgeBase

# What a server would keep; by the id of the knowledge base.
KEPT: dict[str, FakeKnowledgeBase] = {}


class ToySettings(OwnStoreSettings):
    vector_store_type: Literal["TOY"]

    def searched(self, client: Clients, embeddings: QuestionEmbeddings) -> FakeKnowledgeBase:
        return KEPT[self.knowledge_base_id]

    def check(self, condition: Filter) -> None:
        """It can express them all."""


def _of_pool(member: PoolMember, _builder: PoolBuilder) -> FakeKnowledgeBase:
    return KEPT[member.knowledge_base_id]


def add_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STORES, "TOY", lambda: ToySettings)
    monkeypatch.setitem(POOL_STORES, "TOY", _of_pool)
    monkeypatch.setitem(CAPACITIES, "TOY", Capacity(own_sources=4, jobs=1))
