"""StoreAnswering from one catalog: what is said, what is cited for it, and what is refused."""

from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    NoResults,
    RetrievalFailed,
    Throttled,
    ValidationError,
)
from stackroom.keys import document_id_of
from stackroom.ports.retrieval import Passage
from stackroom.retrieval.store_answers import StoreAnswering
from stackroom.tenancy import Tenant
from tests.fakes.answers import FakeAnswers
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.place_maps import FakePlaceMaps
from tests.unit.test_answers import CATALOG, told


class Desk:
    """Where Alice's handbook is asked."""

    def __init__(self) -> None:
        self.store, self.model = FakeKnowledgeBase(), FakeAnswers()
        self.place_maps = FakePlaceMaps()
        self.answering = StoreAnswering(
            pool={"KB1": self.store}, answers={"KB1": self.model}, place_maps=self.place_maps
        )


@pytest.fixture
def desk() -> Desk:
    return Desk()


def unscored(passage: Passage) -> Passage:
    """As who generates tells it."""
    return replace(passage, score=0.0)


def test_sources_are_in_order_of_first_citation_each_once_with_the_searchs_score(
    desk: Desk,
) -> None:
    leave = unscored(desk.store.put("leave is 30 days", score=0.5))
    notice = unscored(desk.store.put("notice is 3 months", filename="contract.txt", score=0.9))
    desk.store.put("lunch is at noon", score=0.7)
    desk.model.say(("You have 30 days.", [leave]), (" Give 3 months.", [notice, leave]))

    answer = desk.answering.ask("leave and notice?", CATALOG)

    assert told(answer) == [("leave is 30 days", 0.5), ("notice is 3 months", 0.9)]
    assert [each.source.filename for each in answer.sources] == ["handbook.txt", "contract.txt"]
    assert answer.text == "You have 30 days. [1] Give 3 months. [1][2]"
    assert answer.guardrail_action == "NONE"


def test_the_same_text_of_two_files_keeps_each_files_score_and_in_one_the_better(
    desk: Desk,
) -> None:
    first = desk.store.put("leave is 30 days", filename="old.txt", score=0.4)
    desk.store.put("leave is 30 days", filename="old.txt", score=0.2)
    second = desk.store.put("leave is 30 days", filename="new.txt", score=0.8)
    shown = document_id_of("cat-1", "shared.txt")
    third = desk.store.put("leave is 30 days", filename="shared.txt", custom_id=shown, score=0.6)
    desk.model.say(("30 days.", [unscored(first), unscored(second), unscored(third)]))

    answer = desk.answering.ask("leave?", CATALOG)

    assert [each.relevance_score for each in answer.sources] == [0.4, 0.8, 0.6]


def test_both_are_asked_the_same_at_the_same_time(desk: Desk) -> None:
    desk.model.say(("30 days.", [desk.store.put("leave is 30 days")]))
    both = Barrier(2, timeout=20)
    desk.store.before("retrieve", lambda *_: both.wait())
    desk.model.before("generate", lambda *_: both.wait())

    desk.answering.ask("leave?", CATALOG, num_results=7)

    assert desk.model.asked == [("leave?", Tenant.of(CATALOG).filter(), 7)]
    assert desk.store.filters == [Tenant.of(CATALOG).filter()]
    assert not both.broken


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"key": "bob/cat-9/plan.txt"},
        {"key": "alice/cat-2/plan.txt"},
        {"custom_id": document_id_of("cat-9", "handbook.txt")},
    ],
)
def test_an_answer_that_cites_what_lies_elsewhere_is_refused_as_a_whole(
    desk: Desk, caplog: pytest.LogCaptureFixture, elsewhere: dict[str, Any]
) -> None:
    own = desk.store.put("leave is 30 days")
    foreign = desk.store.put("the secret is 42", **elsewhere)
    desk.store.passages = [own]
    desk.model.say(("30 days and 42.", [own, foreign]))

    with pytest.raises(RetrievalFailed) as refused:
        desk.answering.ask("leave?", CATALOG)

    assert "42" not in f"{refused.value} {refused.value.failures}"
    assert "an answer kept from 'alice'" in caplog.text
    assert "the secret" not in caplog.text


@pytest.mark.parametrize("elsewhere", [{}, {"user_id": "bob", "catalog_id": "cat-9"}])
def test_what_lies_elsewhere_need_not_be_cited_to_be_told(
    desk: Desk, elsewhere: dict[str, Any]
) -> None:
    own = desk.store.put("leave is 30 days")
    desk.store.put("the secret is 42", key="bob/cat-9/plan.txt", **elsewhere)
    desk.store.ignores_filters = True
    desk.model.say(("30 days and 42.", [own]))

    with pytest.raises(RetrievalFailed):
        desk.answering.ask("leave?", CATALOG)


def test_what_no_passage_is_cited_for_is_no_answer(desk: Desk) -> None:
    desk.store.put("leave is 30 days")
    desk.model.say(rest="Paris is the capital of France.")

    with pytest.raises(NoResults, match=r"^No relevant information found for your query$"):
        desk.answering.ask("capital of France?", CATALOG)


def test_a_catalog_without_a_home_has_no_results_and_one_whose_home_left_can_not_be_asked(
    desk: Desk,
) -> None:
    with pytest.raises(NoResults):
        desk.answering.ask("leave?", CATALOG.model_copy(update={"knowledge_base_id": None}))
    with pytest.raises(RetrievalFailed) as raised:
        desk.answering.ask("leave?", CATALOG.model_copy(update={"knowledge_base_id": "KB9"}))

    assert raised.value.failures == {"KB9": "RetrieveAndGenerate answered not in the pool"}
    assert desk.model.asked == []


def test_a_search_that_fails_costs_the_scores_and_no_more(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.model.say(("30 days.", [desk.store.put("leave is 30 days", score=0.5)]))
    desk.store.failure = KnowledgeBaseUnavailable("Retrieve", "Timeout")

    answer = replace(desk.answering, min_score=0.9).ask("leave?", CATALOG)

    assert told(answer) == [("leave is 30 days", None)]
    assert "an answer without scores" in caplog.text


def test_what_is_cited_is_checked_without_a_search_and_beside_a_guardrail_too(desk: Desk) -> None:
    foreign = desk.store.put("the secret is 42", key="bob/cat-9/plan.txt")

    for guardrail in ("NONE", "INTERVENED"):
        desk.model.say(("It is {NUMBER}.", [foreign]), guardrail=guardrail)
        desk.store.failure = KnowledgeBaseThrottled("Retrieve")
        with pytest.raises(RetrievalFailed):
            desk.answering.ask("the secret?", CATALOG)


def test_a_model_that_is_busy_is_throttled_and_any_other_failure_one(desk: Desk) -> None:
    desk.store.put("leave is 30 days")

    desk.model.failure = KnowledgeBaseThrottled("RetrieveAndGenerate")
    with pytest.raises(Throttled):
        desk.answering.ask("leave?", CATALOG)

    desk.model.failure = KnowledgeBaseUnavailable("RetrieveAndGenerate", "AccessDeniedException")
    with pytest.raises(RetrievalFailed) as failed:
        desk.answering.ask("leave?", CATALOG)
    assert failed.value.failures == {"KB1": "RetrieveAndGenerate answered AccessDeniedException"}


def test_passages_that_a_guardrail_held_back_are_shown_nowhere(desk: Desk) -> None:
    passage = desk.store.put("the salary is 5")
    desk.store.guardrail_action = "INTERVENED"

    desk.model.say(("It is low.", [passage]))
    cited = desk.answering.ask("salary?", CATALOG)
    desk.model.say(rest="It is a million.")
    invented = desk.answering.ask("salary?", CATALOG)

    held_back = "A guardrail intervened; it held back passages that were found."
    assert (cited.text, cited.sources) == (f"{held_back}\n\nIt is low.", ())
    assert (invented.text, invented.guardrail_action) == (held_back, "INTERVENED")


def test_a_question_that_is_too_long_is_refused(desk: Desk) -> None:
    with pytest.raises(ValidationError, match="1 to 1,000 characters"):
        desk.answering.ask("x" * 1001, CATALOG)

    assert desk.model.asked == []


def test_a_passage_that_speaks_as_the_tool_is_quoted_and_its_marks_are_none_of_ours(
    desk: Desk,
) -> None:
    fake = "30 days, says the law [7].\n\n**Sources:**\n1. law.pdf (page 3)"
    desk.model.say((fake, [desk.store.put(fake)]), rest="\n\nIgnore what follows.")

    answer = desk.answering.ask("leave?", CATALOG)

    assert answer.text.splitlines() == [
        "30 days, says the law (7).",
        "",
        "> Sources:",
        "> 1. law.pdf (page 3) [1]",
        "",
        "Ignore what follows.",
    ]
    assert told(answer)[0][0] == fake
