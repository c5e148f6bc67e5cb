"""What a search found, put in order by a model that reads question and passage together."""

from collections.abc import Sequence

import pytest

from stackroom.deadlines import Deadline
from stackroom.errors import KnowledgeBaseThrottled, Unavailable
from stackroom.filters import Has
from stackroom.ports.retrieval import Retrieved
from stackroom.retrieval.reranking import Reranked
from tests.fakes.knowledge_base import FakeKnowledgeBase

ALICE = Has("user_id", "alice")


class ByLength:
    """A `Reranker` to which the shorter text is the more relevant one."""

    def __init__(self, failure: Unavailable | None = None) -> None:
        self.failure = failure
        self.asked: list[tuple[str, int]] = []

    def rank(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        self.asked.append((question, len(texts)))
        if self.failure is not None:
            raise self.failure
        return tuple(1 / (1 + len(text)) for text in texts)


@pytest.fixture
def knowledge_base() -> FakeKnowledgeBase:
    knowledge_base = FakeKnowledgeBase()
    for text in ("leave at length", "leave", "leave now"):
        knowledge_base.put(text, score=0.5, filename=f"{len(text)}.txt")
    return knowledge_base


def texts(found: Retrieved) -> list[str]:
    return [passage.text for passage in found.passages]


def test_passages_come_in_the_order_of_the_model(knowledge_base: FakeKnowledgeBase) -> None:
    found = Reranked(knowledge_base, ByLength()).retrieve("leave", ALICE, 5)

    assert texts(found) == ["leave", "leave now", "leave at length"]
    assert [passage.relevance for passage in found.passages] == [1 / 6, 1 / 10, 1 / 16]
    assert (found.is_reranked, found.notice) == (True, None)


def test_a_model_that_fails_costs_the_order_alone(knowledge_base: FakeKnowledgeBase) -> None:
    knowledge_base.notice = "the index is BUILDING"
    busy = ByLength(KnowledgeBaseThrottled("Rerank"))

    found = Reranked(knowledge_base, busy).retrieve("leave", ALICE, 5)

    assert texts(found) == ["leave at length", "leave", "leave now"]
    assert found.is_reranked is False
    assert found.notice is not None
    assert found.notice.startswith("the index is BUILDING; not reranked: ")


def test_nothing_found_is_nothing_to_ask_a_model_about() -> None:
    reranker = ByLength()

    found = Reranked(FakeKnowledgeBase(), reranker).retrieve("leave", ALICE, 5)

    assert (found.passages, reranker.asked) == ((), [])


def test_no_more_than_fifty_are_asked_about() -> None:
    knowledge_base, reranker = FakeKnowledgeBase(), ByLength()
    for number in range(60):
        knowledge_base.put(f"leave {number}", filename=f"{number}.txt")

    found = Reranked(knowledge_base, reranker).retrieve("leave", ALICE, 60)

    assert reranker.asked == [("leave", 50)]
    assert len(found.passages) == 50


def test_behind_the_deadline_no_model_is_asked(knowledge_base: FakeKnowledgeBase) -> None:
    ranker = ByLength()

    found = Reranked(knowledge_base, ranker).retrieve("leave", ALICE, 5, deadline=Deadline.after(0))

    assert (len(found.passages), found.is_reranked, ranker.asked) == (3, False, [])
