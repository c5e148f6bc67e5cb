"""What is put in front of a knowledge base: a filter that always holds, a guardrail."""

import pytest

from stackroom.aws.fixed_filters import parsed
from stackroom.deadlines import Deadline
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.filters import AllOf, AnyOf, Compares, Comparison, Filter, Has, Lists
from stackroom.retrieval.guarded import Guarded
from stackroom.retrieval.narrowed import Narrowed
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
def test_a_fixed_filter_is_demanded_beside_whatever_is_asked(
    knowledge_base: FakeKnowledgeBase, always: Filter, asked: Filter | None, whole: Filter
) -> None:
    Narrowed(knowledge_base, always).retrieve("leave", asked, 5)

    assert knowledge_base.filters == [whole]


def test_a_fixed_filter_lets_nothing_else_be_found(knowledge_base: FakeKnowledgeBase) -> None:
    found = Narrowed(knowledge_base, BERLIN).retrieve("leave", Has("city", "Rome"), 5)

    assert found.passages == ()


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


def test_a_filter_in_bedrocks_words_means_the_same_in_ours() -> None:
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
