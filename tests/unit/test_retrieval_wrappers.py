"""Wrappers of a knowledge base: a fixed filter, a guardrail, a model that reranks."""

from collections.abc import Sequence

import pytest

from stackroom.aws.bedrock.configured_filters import parsed
from stackroom.clock import Deadline
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, Unavailable
from stackroom.model.filters import AllOf, AnyOf, Compares, Comparison, Filter, Has, Lists
from stackroom.model.passages import Retrieved
from stackroom.search.wrappers import Guarded, Narrowed, Reranked
from tests.fakes.knowledge_base import FakeKnowledgeBase

BERLIN, YEAR, STAFF = Has("city", "Berlin"), Has("year", 2026), Lists("team", "staff")


@pytest.fixture
def knowledge_base() -> FakeKnowledgeBase:
    knowledge_base = FakeKnowledgeBase()
    for city in ("Berlin", "Rome"):
        knowledge_base.put(f"leave in {city}", filename=f"{city}.txt", attributes={"city": city})
    return knowledge_base


@pytest.mark.parametrize(
    ("always", "asked", "whole"),
    [
        (BERLIN, None, BERLIN),
        (BERLIN, YEAR, AllOf((BERLIN, YEAR))),
        (AllOf((BERLIN, YEAR)), AllOf((STAFF, YEAR)), AllOf((BERLIN, YEAR, STAFF, YEAR))),
        (AnyOf((BERLIN, YEAR)), STAFF, AllOf((AnyOf((BERLIN, YEAR)), STAFF))),
    ],
)
def test_fixed_filter_is_added_to_every_requested_filter(
    knowledge_base: FakeKnowledgeBase, always: Filter, asked: Filter | None, whole: Filter
) -> None:
    Narrowed(knowledge_base, always).retrieve("leave", asked, 5)

    assert knowledge_base.filters == [whole]


def test_a_question_that_a_guardrail_blocks_is_not_searched(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    guarded = Guarded(knowledge_base, lambda question: "secret" not in question)

    blocked, let_through = (guarded.retrieve(each, None, 5) for each in ("secret", "leave"))

    assert (blocked.passages, blocked.guardrail_action) == ((), "INTERVENED")
    assert (len(let_through.passages), let_through.guardrail_action) == (2, "NONE")
    assert len(knowledge_base.filters) == 1


def test_without_a_guardrails_verdict_nothing_is_searched(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    def busy(question: str) -> bool:
        raise KnowledgeBaseThrottled("ApplyGuardrail")

    with pytest.raises(KnowledgeBaseThrottled):
        Guarded(knowledge_base, busy).retrieve("leave", None, 5)
    with pytest.raises(KnowledgeBaseUnavailable, match="ApplyGuardrail answered DeadlinePassed"):
        Guarded(knowledge_base, lambda _: True).retrieve("q", None, 5, deadline=Deadline.after(0))
    assert knowledge_base.filters == []


def test_bedrock_filter_is_parsed_into_the_equivalent_filter() -> None:
    def of(operator: str, value: object) -> dict[str, object]:
        return {operator: {"key": "k", "value": value}}

    comparisons: dict[str, int | str] = {
        "notEquals": 1,
        "greaterThan": 1,
        "greaterThanOrEquals": 1,
        "lessThan": 1,
        "lessThanOrEquals": 1,
        "startsWith": "a",
        "stringContains": "a",
    }
    for operator, value in comparisons.items():
        assert parsed(of(operator, value)) == Compares("k", Comparison(operator), value)
    assert parsed(of("in", ["a", 1])) == Compares("k", Comparison.IN, ("a", 1))
    assert parsed(of("notIn", ["a"])) == Compares("k", Comparison.NOT_IN, ("a",))
    assert parsed(
        {"andAll": [of("equals", True), {"orAll": [of("listContains", "a"), of("equals", 2)]}]}
    ) == AllOf((Has("k", True), AnyOf((Lists("k", "a"), Has("k", 2)))))


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
def by_length() -> FakeKnowledgeBase:
    knowledge_base = FakeKnowledgeBase()
    for text in ("leave at length", "leave", "leave now"):
        knowledge_base.put(text, score=0.5, filename=f"{len(text)}.txt")
    return knowledge_base


def texts(found: Retrieved) -> list[str]:
    return [passage.text for passage in found.passages]


def test_passages_come_in_the_order_of_the_model(by_length: FakeKnowledgeBase) -> None:
    found = Reranked(by_length, ByLength()).retrieve("leave", ALICE, 5)

    assert texts(found) == ["leave", "leave now", "leave at length"]
    assert [passage.relevance for passage in found.passages] == [1 / 6, 1 / 10, 1 / 16]
    assert (found.is_reranked, found.notice) == (True, None)


def test_a_model_that_fails_costs_the_order_alone(by_length: FakeKnowledgeBase) -> None:
    by_length.notice = "the index is BUILDING"
    busy = ByLength(KnowledgeBaseThrottled("Rerank"))

    found = Reranked(by_length, busy).retrieve("leave", ALICE, 5)

    assert texts(found) == ["leave at length", "leave", "leave now"]
    assert found.is_reranked is False
    assert found.notice is not None
    assert found.notice.startswith("the index is BUILDING; not reranked: ")


def test_reranking_model_is_not_called_without_passages() -> None:
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


def test_behind_the_deadline_no_model_is_asked(by_length: FakeKnowledgeBase) -> None:
    ranker = ByLength()

    found = Reranked(by_length, ranker).retrieve("leave", ALICE, 5, deadline=Deadline.after(0))

    assert (len(found.passages), found.is_reranked, ranker.asked) == (3, False, [])
