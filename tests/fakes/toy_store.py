"""
A store of the pool in a few lines, as anybody would add one.

The product's stand in pool_builder.py and capacity.py.
"""

import pytest

from stackroom.app.pool_builder import POOL_STORES, PoolBuilder
from stackroom.model.records import PoolMember
from stackroom.runs.capacity import CAPACITIES, Capacity
from tests.fakes.knowledge_base import FakeKnowledgeBase

# What a server would keep; by the id of the knowledge base.
KEPT: dict[str, FakeKnowledgeBase] = {}


def _of_pool(member: PoolMember, _builder: PoolBuilder) -> FakeKnowledgeBase:
    return KEPT[member.knowledge_base_id]


def add_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POOL_STORES, "TOY", _of_pool)
    monkeypatch.setitem(CAPACITIES, "TOY", Capacity(own_sources=4, jobs=1))
