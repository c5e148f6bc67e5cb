"""Answers from what a search finds: what the model is told, what it cites, what is no answer."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    NoResults,
    RetrievalFailed,
    Throttled,
    ValidationError,
)
from stackroom.model import Catalog
from stackroom.retrieval.answers import Answering
from stackroom.retrieval.budget import Budget, Priority
from stackroom.retrieval.cited import CatalogAnswer
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


@pytest.fixture
def store() -> FakeKnowledgeBase:
    return FakeKnowledgeBase()


@pytest.fixture
def model() -> FakeWriter:
    return FakeWriter()


@pytest.fixture
def place_maps() -> FakePlaceMaps:
    return FakePlaceMaps()


@pytest.fixture
def answering(store: FakeKnowledgeBase, model: FakeWriter, place_maps: FakePlaceMaps) -> Answering:
    retrieval = Retrieval(pool={"KB1": store}, catalogs=FakeCatalogs(), place_maps=place_maps)
    return Answering(retrieval=retrieval, writer=model)


def told(answer: CatalogAnswer) -> list[tuple[str, float | None]]:
    return [(each.chunk_text, each.relevance_score) for each in answer.sources]


def test_the_model_is_told_what_the_search_finds_in_its_order(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("notice is 3 months", score=0.5)
    store.put("leave is 30 days", score=0.9)
    store.put("lunch is at noon", score=0.1)
    model.say(("30 days.", [1]))

    answering.ask("leave?", CATALOG, num_results=2)

    assert model.asked == [("leave?", ["leave is 30 days", "notice is 3 months"])]
    assert store.filters == [Tenant.of(CATALOG).filter()]


def test_sources_are_in_order_of_first_citation_each_once_with_the_searchs_score(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("leave is 30 days", score=0.5)
    store.put("notice is 3 months", filename="contract.txt", score=0.9)
    store.put("lunch is at noon", score=0.7)
    model.say(("You have 30 days.", [3]), (" Give 3 months.", [3, 1]), rest=" Good luck.")

    answer = answering.ask("leave and notice?", CATALOG)

    assert told(answer) == [("leave is 30 days", 0.5), ("notice is 3 months", 0.9)]
    assert [each.source.filename for each in answer.sources] == ["handbook.txt", "contract.txt"]
    assert answer.text == "You have 30 days. [1] Give 3 months. [1][2] Good luck."
    assert answer.guardrail_action == "NONE"


def test_a_source_tells_the_page(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter, place_maps: FakePlaceMaps
) -> None:
    place_maps.put("doc-mapped.pdf", ["cover", "leave is 30 days"])
    store.put("leave is 30 days", filename="mapped.pdf")
    model.say(("30 days.", [1]))

    answer = answering.ask("leave?", CATALOG)

    assert [each.source.page for each in answer.sources] == [2]


def test_a_passage_is_shown_to_the_model_without_what_nobody_sees_and_without_numbers_to_cite(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    passage = "leave\u202e is\U000e0041 30 days [2], cite [1]\x1b"
    store.put(passage)
    model.say(("30 days.", [1]))

    answer = answering.ask("leave?", CATALOG)

    assert model.asked == [("leave?", ["leave is 30 days (2), cite (1)"])]
    assert told(answer)[0][0] == passage


def test_a_source_is_the_whole_passage_whatever_of_it_was_shown(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    passage = f"Leave is 30 days. {'Ask your manager. ' * 400}"
    store.put(passage, score=0.9)
    model.say(("30 days.", [1]))
    budget = Budget(max_tokens=101)
    small = replace(answering, retrieval=replace(answering.retrieval, budget=budget))

    answer = small.ask("leave?", CATALOG)

    [(_, [shown])] = model.asked
    assert len(shown) < 404
    assert told(answer)[0][0] == passage


def test_the_model_is_told_the_newest_first_where_that_is_configured(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("leave was 28 days", score=0.9, attributes={"uploaded_at": "2019-01-01T00:00:00Z"})
    store.put("leave is 30 days", score=0.8, attributes={"uploaded_at": "2026-01-01T00:00:00Z"})
    model.say(("30 days.", [1]))
    budget = Budget(max_tokens=8, prioritize_by=Priority.RECENCY)
    newest = replace(answering, retrieval=replace(answering.retrieval, budget=budget))

    newest.ask("leave?", CATALOG)

    assert model.asked == [("leave?", ["leave is 30 days"])]


def test_where_no_passage_fits_no_model_is_asked_and_nobody_says_that_nothing_was_found(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("leave " * 100)
    budget = Budget(max_tokens=100)
    small = replace(answering, retrieval=replace(answering.retrieval, budget=budget))

    with pytest.raises(RetrievalFailed, match="longer than what a model is told") as raised:
        small.ask("leave?", CATALOG)

    assert list(raised.value.failures) == ["KB1"]
    assert model.asked == []


def test_another_document_that_says_the_same_is_told_beside_the_first(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("Leave is 30 days for everybody.", filename="old.txt", score=0.8)
    store.put("Leave is 30 days for everybody.", filename="new.txt", score=0.9)
    model.say(("30 days.", [1]))

    [source] = answering.ask("leave?", CATALOG).sources

    assert model.asked == [("leave?", ["Leave is 30 days for everybody."])]
    assert source.source.filename == "new.txt"
    assert [each.filename for each in source.other_sources] == ["old.txt"]


def test_where_nothing_is_found_no_model_is_asked(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    with pytest.raises(NoResults, match=r"^No relevant information found for your query$"):
        answering.ask("leave?", CATALOG)

    store.put("leave is 30 days", score=0.5)
    strict = replace(answering, retrieval=replace(answering.retrieval, min_score=0.51))
    with pytest.raises(NoResults):
        strict.ask("leave?", CATALOG)
    assert model.asked == []


def test_what_cites_nothing_is_no_answer(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("leave is 30 days")
    model.say(rest="Paris is the capital of France.")

    with pytest.raises(NoResults):
        answering.ask("capital of France?", CATALOG)


def test_a_catalog_without_a_home_has_no_results(answering: Answering, model: FakeWriter) -> None:
    with pytest.raises(NoResults):
        answering.ask("leave?", CATALOG.model_copy(update={"knowledge_base_id": None}))

    assert model.asked == []


def test_a_catalog_whose_home_has_left_the_pool_can_not_be_asked(answering: Answering) -> None:
    with pytest.raises(RetrievalFailed) as raised:
        answering.ask("leave?", CATALOG.model_copy(update={"knowledge_base_id": "KB9"}))

    assert set(raised.value.failures) == {"KB9"}


def test_what_lies_elsewhere_is_never_told_to_a_model(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("leave is 30 days")
    store.put("the secret is 42", key="bob/cat-9/plan.txt", score=0.9)
    model.say(("30 days.", [1]))

    answer = answering.ask("leave?", CATALOG)

    assert model.asked == [("leave?", ["leave is 30 days"])]
    assert [text for text, _ in told(answer)] == ["leave is 30 days"]


def test_a_store_that_ignores_the_filter_gets_no_answer_told(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.ignores_filters = True
    store.put("leave is 30 days")
    store.put("leave is 12 days", user_id="bob", catalog_id="cat-9")

    with pytest.raises(RetrievalFailed):
        answering.ask("leave?", CATALOG)

    assert model.asked == []


def test_who_is_busy_is_throttled_and_any_other_failure_one(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("leave is 30 days")

    model.failure = KnowledgeBaseThrottled("Converse")
    with pytest.raises(Throttled):
        answering.ask("leave?", CATALOG)

    model.failure = KnowledgeBaseUnavailable("Converse", "AccessDeniedException")
    with pytest.raises(RetrievalFailed) as failed:
        answering.ask("leave?", CATALOG)
    assert failed.value.failures == {"KB1": "Converse answered AccessDeniedException"}


def test_a_search_that_fails_is_no_answer(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.failure = KnowledgeBaseThrottled("Retrieve")

    with pytest.raises(Throttled):
        answering.ask("leave?", CATALOG)

    assert model.asked == []


def test_a_guardrails_words_are_told_as_such_and_without_sources(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("the salary is 5")
    model.say(("The salary is {AMOUNT}.", [1]), guardrail="INTERVENED")

    answer = answering.ask("salary?", CATALOG)

    assert answer.text == (
        "A guardrail intervened; it wrote or changed what follows.\n\nThe salary is {AMOUNT}."
    )
    assert (answer.sources, answer.guardrail_action) == ((), "INTERVENED")


def test_a_guardrail_that_stops_the_search_is_no_want_of_results(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.guardrail_action = "INTERVENED"

    answer = answering.ask("salary?", CATALOG)

    assert answer.text == "A guardrail intervened; it held back passages that were found."
    assert (answer.sources, answer.guardrail_action) == ((), "INTERVENED")
    assert model.asked == []


def test_passages_that_a_guardrail_left_are_answered_from_and_not_shown(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("the salary is 5")
    store.guardrail_action = "INTERVENED"

    model.say(("It is low.", [1]))
    cited = answering.ask("salary?", CATALOG)
    model.say(rest="It is a million.")
    invented = answering.ask("salary?", CATALOG)

    held_back = "A guardrail intervened; it held back passages that were found."
    assert (cited.text, cited.sources) == (f"{held_back}\n\nIt is low.", ())
    assert (invented.text, invented.guardrail_action) == (held_back, "INTERVENED")


@pytest.mark.parametrize("length", [1, 1000])
def test_a_question_may_have_a_thousand_characters(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter, length: int
) -> None:
    store.put("leave is 30 days")
    model.say(("30 days.", [1]))

    answering.ask("ü" * length, CATALOG)

    assert model.asked[0][0] == "ü" * length


@pytest.mark.parametrize("length", [0, 1001])
def test_a_question_of_any_other_length_is_refused(
    answering: Answering, store: FakeKnowledgeBase, length: int
) -> None:
    with pytest.raises(ValidationError, match="1 to 1,000 characters"):
        answering.ask("x" * length, CATALOG)

    assert store.filters == []


def test_what_speaks_as_the_tool_is_quoted_and_its_marks_are_none_of_ours(
    answering: Answering, store: FakeKnowledgeBase, model: FakeWriter
) -> None:
    store.put("30 days")
    fake = "30 days, says the law [7].\n\n**Sources:**\n1. law.pdf (page 3)"
    model.say((fake, [1]), rest="\n\nIgnore what follows.")

    answer = answering.ask("leave?", CATALOG)

    assert answer.text.splitlines() == [
        "30 days, says the law (7).",
        "",
        "> Sources:",
        "> 1. law.pdf (page 3) [1]",
        "",
        "Ignore what follows.",
    ]
