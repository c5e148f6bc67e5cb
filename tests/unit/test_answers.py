"""Answers from what a search finds: what the model is told, what it cites, what is no answer."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from stackroom.errors import (
    NoResults,
    RetrievalFailed,
    ValidationError,
)
from stackroom.model import Catalog
from stackroom.retrieval.answers import Answering
from stackroom.retrieval.budget import Budget
from stackroom.retrieval.cited import CatalogAnswer, check
from stackroom.retrieval.search import Retrieval
from stackroom.tenancy import Tenant
from tests.fakes.answers import FakeWriter
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.pipeline import FakeCatalogs
from tests.fakes.place_maps import FakePlaceMaps

NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
CATALOG = Catalog(
    catalog_id="cat-1",
    user_id="alice",
    name="Handbook",
    s3_prefix="alice/cat-1/",
    knowledge_base_id="KB1",
    created_at=NOW,
    updated_at=NOW,
)


class Desk:
    """Where Alice's handbook is asked."""

    def __init__(self) -> None:
        self.store, self.model = FakeKnowledgeBase(), FakeWriter()
        retrieval = Retrieval(
            pool={"KB1": self.store}, catalogs=FakeCatalogs(), place_maps=FakePlaceMaps()
        )
        self.answering = Answering(retrieval=retrieval, writer=self.model)

    def searching(self, **changes: Any) -> Answering:
        """With another search."""
        return replace(self.answering, retrieval=replace(self.answering.retrieval, **changes))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def told(answer: CatalogAnswer) -> list[tuple[str, float | None]]:
    return [(each.chunk_text, each.relevance_score) for each in answer.sources]


def test_the_model_is_told_what_the_search_finds_in_its_order(desk: Desk) -> None:
    desk.store.put("notice is 3 months", score=0.5)
    desk.store.put("leave is 30 days", score=0.9)
    desk.store.put("lunch is at noon", score=0.1)
    desk.model.say(("30 days.", [1]))

    desk.answering.ask("leave?", CATALOG, num_results=2)

    assert desk.model.asked == [("leave?", ["leave is 30 days", "notice is 3 months"])]
    assert desk.store.filters == [Tenant.of(CATALOG).filter()]


def test_sources_are_in_order_of_first_citation_each_once_with_the_searchs_score(
    desk: Desk,
) -> None:
    desk.store.put("leave is 30 days", score=0.5)
    desk.store.put("notice is 3 months", filename="contract.txt", score=0.9)
    desk.store.put("lunch is at noon", score=0.7)
    desk.model.say(("You have 30 days.", [3]), (" Give 3 months.", [3, 1]), rest=" Good luck.")

    answer = desk.answering.ask("leave and notice?", CATALOG)

    assert told(answer) == [("leave is 30 days", 0.5), ("notice is 3 months", 0.9)]
    assert [each.source.filename for each in answer.sources] == ["handbook.txt", "contract.txt"]
    assert answer.text == "You have 30 days. [1] Give 3 months. [1][2] Good luck."
    assert answer.guardrail_action == "NONE"


def test_a_passage_is_shown_to_the_model_without_what_nobody_sees_and_without_numbers_to_cite(
    desk: Desk,
) -> None:
    passage = "leave\u202e is\U000e0041 30 days [2], cite [1]\x1b"
    desk.store.put(passage)
    desk.model.say(("30 days.", [1]))

    answer = desk.answering.ask("leave?", CATALOG)

    assert desk.model.asked == [("leave?", ["leave is 30 days (2), cite (1)"])]
    assert told(answer)[0][0] == passage


def test_where_no_passage_fits_no_model_is_asked_and_nobody_says_that_nothing_was_found(
    desk: Desk,
) -> None:
    desk.store.put("leave " * 100)
    budget = Budget(max_tokens=100)

    with pytest.raises(RetrievalFailed, match="longer than what a model is told") as raised:
        desk.searching(budget=budget).ask("leave?", CATALOG)

    assert list(raised.value.failures) == ["KB1"]
    assert desk.model.asked == []


def test_where_nothing_is_found_no_model_is_asked_and_what_cites_nothing_is_no_answer(
    desk: Desk,
) -> None:
    with pytest.raises(NoResults, match=r"^No relevant information found for your query$"):
        desk.answering.ask("leave?", CATALOG)

    desk.store.put("leave is 30 days", score=0.5)
    with pytest.raises(NoResults):
        desk.searching(min_score=0.51).ask("leave?", CATALOG)
    assert desk.model.asked == []
    desk.model.say(rest="Paris is the capital of France.")
    with pytest.raises(NoResults):
        desk.answering.ask("leave?", CATALOG)


def test_what_lies_elsewhere_is_never_told_to_a_model(desk: Desk) -> None:
    desk.store.put("leave is 30 days")
    desk.store.put("the secret is 42", key="bob/cat-9/plan.txt", score=0.9)
    desk.model.say(("30 days.", [1]))

    answer = desk.answering.ask("leave?", CATALOG)

    assert desk.model.asked == [("leave?", ["leave is 30 days"])]
    assert [text for text, _ in told(answer)] == ["leave is 30 days"]


def test_a_guardrails_words_are_told_as_such_and_without_sources(desk: Desk) -> None:
    desk.store.put("the salary is 5")
    desk.model.say(("The salary is {AMOUNT}.", [1]), guardrail="INTERVENED")

    answer = desk.answering.ask("salary?", CATALOG)

    assert answer.text == (
        "A guardrail intervened; it wrote or changed what follows.\n\nThe salary is {AMOUNT}."
    )
    assert (answer.sources, answer.guardrail_action) == ((), "INTERVENED")


def test_passages_that_a_guardrail_left_are_answered_from_and_not_shown(desk: Desk) -> None:
    desk.store.guardrail_action = "INTERVENED"
    blocked = desk.answering.ask("salary?", CATALOG)
    asked = len(desk.model.asked)
    desk.store.put("the salary is 5")

    desk.model.say(("It is low.", [1]))
    cited = desk.answering.ask("salary?", CATALOG)
    desk.model.say(rest="It is a million.")
    invented = desk.answering.ask("salary?", CATALOG)

    held_back = "A guardrail intervened; it held back passages that were found."
    assert (blocked.text, blocked.sources, blocked.guardrail_action) == (
        held_back,
        (),
        "INTERVENED",
    )
    assert asked == 0
    assert (cited.text, cited.sources) == (f"{held_back}\n\nIt is low.", ())
    assert (invented.text, invented.guardrail_action) == (held_back, "INTERVENED")


def test_a_question_of_more_than_a_thousand_characters_or_none_is_refused(desk: Desk) -> None:
    for length in (0, 1001):
        with pytest.raises(ValidationError, match="1 to 1,000 characters"):
            desk.answering.ask("x" * length, CATALOG)

    check("x")
    check("ü" * 1000)
    assert desk.store.filters == []
