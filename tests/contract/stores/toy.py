"""A store that was added in a few lines, made by the registry: of the pool, and linked."""

import json
from collections.abc import Iterator

import pytest

from stackroom.app.function_settings import Pool, Settings
from stackroom.app.pool_builder import PoolBuilder
from stackroom.model.passages import KnowledgeBase
from stackroom.model.records import PoolMember
from stackroom_stores.linked_knowledge_bases import linked_retrieval, linked_settings
from tests.contract.stores.document_sets import DocumentSet
from tests.contract.stores.fake import FakeWorld
from tests.contract.stores.worlds import Ranks, Store, Trouble
from tests.fakes import toy_store

STORES = {
    f"toy, {way}": Store(
        fixture=f"toy_{way}_world",
        ranks=Ranks.BY_WORDS,
        troubles=frozenset({Trouble.THROTTLED, Trouble.DOWN, Trouble.FOREIGN}),
        is_process=False,
        is_variant=True,
    )
    for way in ("pooled", "linked")
}


def _no_client(service: str) -> object:
    raise AssertionError(f"a store in memory asks {service} for nothing")


class _PoolSettings(Settings):
    kb_pool: Pool


class _Pooled(FakeWorld):
    def holding(self, document_set: DocumentSet) -> KnowledgeBase:  # type: ignore[override]
        toy_store.KEPT[document_set.name] = super().holding(document_set)
        member = PoolMember(knowledge_base_id=document_set.name, data_source_id="DS1", type="TOY")
        settings = _PoolSettings(kb_pool=(member,))
        return PoolBuilder(settings=settings, client=_no_client).knowledge_base(document_set.name)


class _Linked(FakeWorld):
    def holding(self, document_set: DocumentSet) -> KnowledgeBase:  # type: ignore[override]
        toy_store.KEPT[document_set.name] = super().holding(document_set)
        entry = {
            "knowledgeBaseId": document_set.name,
            "name": "Toy",
            "description": "What is in a document set.",
            "vectorStoreType": "TOY",
            "tenancy": "shared",
        }
        [linked] = linked_retrieval(linked_settings(json.dumps([entry])), _no_client).linked
        return linked.knowledge_base


@pytest.fixture(scope="package")
def toy_pooled_world() -> Iterator[FakeWorld]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        toy_store.add_to(monkeypatch)
        yield _Pooled()


@pytest.fixture(scope="package")
def toy_linked_world() -> Iterator[FakeWorld]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        toy_store.add_to(monkeypatch)
        yield _Linked()
