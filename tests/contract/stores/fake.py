"""The fake of our tests: it promises what the stores do, so tests may rely on it."""

from contextlib import AbstractContextManager

import pytest

from tests.contract.stores.document_sets import DocumentSet
from tests.contract.stores.worlds import Ranks, Store, Trouble
from tests.fakes.knowledge_base import FakeKnowledgeBase

# It answers nothing over a wire, where an answer could be spoilt.
STORES = {
    "fake": Store(
        fixture="fake_world",
        ranks=Ranks.BY_WORDS,
        troubles=frozenset(),
        is_process=False,
    )
}


class FakeWorld:
    def __init__(self) -> None:
        self._kept: dict[str, FakeKnowledgeBase] = {}

    @property
    def calls(self) -> int:
        return sum(len(each.filters) for each in self._kept.values())

    def holding(self, document_set: DocumentSet) -> FakeKnowledgeBase:
        if document_set.name not in self._kept:
            self._kept[document_set.name] = _filled(document_set)
        return self._kept[document_set.name]

    def in_trouble(self, trouble: Trouble) -> AbstractContextManager[None]:
        raise NotImplementedError(trouble)  # it has none


def _filled(document_set: DocumentSet) -> FakeKnowledgeBase:
    knowledge_base = FakeKnowledgeBase()
    for each in document_set.documents:
        knowledge_base.put(
            each.text,
            user_id=each.user,
            catalog_id=each.catalog,
            filename=each.filename,
            attributes=each.own,
        )
    return knowledge_base


@pytest.fixture(scope="package")
def fake_world() -> FakeWorld:
    return FakeWorld()
