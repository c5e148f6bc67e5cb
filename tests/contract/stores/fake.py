"""The fake of our tests: it promises what the stores do, so tests may rely on it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from tests.contract.stores.document_sets import DocumentSet
from tests.contract.stores.worlds import Ranks, Store, Trouble
from tests.fakes.knowledge_base import FakeKnowledgeBase

# It answers nothing over a wire that could be spoilt, and embeds nothing.
STORES = {
    "fake": Store(
        fixture="fake_world",
        ranks=Ranks.BY_WORDS,
        troubles=frozenset({Trouble.THROTTLED, Trouble.DOWN, Trouble.FOREIGN}),
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

    @contextmanager
    def in_trouble(self, trouble: Trouble) -> Iterator[None]:
        failures = {
            Trouble.THROTTLED: KnowledgeBaseThrottled("Retrieve"),
            Trouble.DOWN: KnowledgeBaseUnavailable("Retrieve", "ServiceUnavailableException"),
        }
        for each in self._kept.values():
            each.failure, each.ignores_filters = failures.get(trouble), trouble is Trouble.FOREIGN
        yield
        for each in self._kept.values():
            each.failure, each.ignores_filters = None, False


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
