"""
A store of a few lines, as anybody would add one: its adapter, and the settings that make it.

The product's stand in the registry by a line each in stores/store_registry.py and capacity.py.
"""

from typing import Literal

import pytest

from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings
from stackroom.model.filters import Filter
from stackroom.model.records import PoolMember
from stackroom.runs.capacity import CAPACITIES, Capacity
from stackroom.stores.entries import Clients, OwnStoreSettings, PoolSearch
from stackroom.stores.store_registry import STORES
from tests.fakes.knowledge_base import FakeKnowledgeBase

# What a server would keep; by the id of the knowledge base.
KEPT: dict[str, FakeKnowledgeBase] = {}


class ToySettings(OwnStoreSettings):
    vector_store_type: Literal["TOY"]

    def searched(self, client: Clients, embeddings: QuestionEmbeddings) -> FakeKnowledgeBase:
        return KEPT[self.knowledge_base_id]

    @classmethod
    def of_pool(cls, member: PoolMember, search: PoolSearch) -> FakeKnowledgeBase:
        return KEPT[member.knowledge_base_id]

    def check(self, condition: Filter) -> None:
        """It can express them all."""


def add_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STORES, "TOY", lambda: ToySettings)
    monkeypatch.setitem(CAPACITIES, "TOY", Capacity(own_sources=4, jobs=1))
