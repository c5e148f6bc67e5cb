"""The search as a Python function, for agents that run in the same process."""

from dataclasses import replace

import pytest

from stackroom.access.identity import Caller
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model.passages import Search
from stackroom.model.repositories import DocumentNotes
from stackroom.search.ranking import WEAK_NOTICE
from stackroom.search.results import Response, knowledge_base_retrieve
from stackroom.search.search import Retrieval
from tests.fakes.knowledge_base import AllStaying, FakeKnowledgeBase
from tests.support.retrieval import a_retrieval


def contents(response: Response) -> list[str]:
    results = response["results"]
    assert isinstance(results, list)
    return [result["content"] for result in results]


def answer_to(query: str, retrieval: Retrieval) -> Response:
    return knowledge_base_retrieve({"query": query}, caller=Caller("alice"), retrieval=retrieval)


def test_passages_that_do_not_answer_are_marked_weak_with_a_notice() -> None:
    weak, strong = (
        answer_to(question, a_retrieval(pump_manual(0.1)))
        for question in ("stolen valve", "pump greased")
    )
    nothing = answer_to("pump", a_retrieval(FakeKnowledgeBase()))

    assert contents(weak) == contents(strong) == ["The pump is greased every 200 hours."]
    assert metadata(weak)["relevance"] == "weak"
    assert metadata(weak)["relevance_notice"] == WEAK_NOTICE
    assert metadata(strong)["relevance"] == "strong"
    assert "relevance_notice" not in metadata(strong)
    assert "relevance" not in metadata(nothing)


def test_a_threshold_leaves_out_and_no_notice_speaks_of_passages() -> None:
    answer = knowledge_base_retrieve(
        {"query": "stolen valve", "min_score": 0.5},
        caller=Caller("alice"),
        retrieval=a_retrieval(pump_manual(0.1)),
    )

    assert (answer["success"], contents(answer)) == (True, [])
    assert "relevance_notice" not in metadata(answer)


def pump_manual(similarity: float) -> FakeKnowledgeBase:
    knowledge_base = FakeKnowledgeBase()
    knowledge_base.put("The pump is greased every 200 hours.", similarity=similarity)
    return knowledge_base


def test_answer_says_how_it_was_searched_and_why_not_as_configured() -> None:
    knowledge_base = FakeKnowledgeBase()
    knowledge_base.search, knowledge_base.notice = Search.RANKED, "the index is BUILDING"

    response = answer_to("annual leave", a_retrieval(knowledge_base))

    assert metadata(response)["search"] == "semantic+text"
    assert metadata(response)["search_notices"] == {"KB1": "the index is BUILDING"}


def test_passage_tells_the_gaps_of_its_document_and_no_other_does() -> None:
    world = AllStaying()
    world.notes = {"doc-scan.pdf": DocumentNotes(gaps=("1 of 2 pages looks garbled: 2",))}
    knowledge_base = FakeKnowledgeBase()
    knowledge_base.put("annual leave is long", filename="scan.pdf", score=0.9)
    knowledge_base.put("annual leave, and gaps", filename="whole.pdf", score=0.8)

    response = answer_to("annual leave", replace(a_retrieval(knowledge_base), documents=world))

    results = response["results"]
    assert isinstance(results, list)
    told = {each["source"]["filename"]: each["metadata"].get("gaps") for each in results}
    assert told == {"scan.pdf": ["1 of 2 pages looks garbled: 2"], "whole.pdf": None}


def metadata(response: Response) -> dict[str, object]:
    told = response["metadata"]
    assert isinstance(told, dict)
    return told


@pytest.mark.parametrize(("known", "told"), [(7, {"retry_after_seconds": 7}), (None, {})])
def test_throttled_answer_says_when_to_retry(known: int | None, told: dict[str, int]) -> None:
    throttled = KnowledgeBaseThrottled("Retrieve", retry_after=known)

    response = answer_to("annual leave?", a_retrieval(FakeKnowledgeBase(failure=throttled)))

    of_call = dict(metadata(response))
    del of_call["failed_knowledge_bases"]
    when = "7 seconds" if known else "a few seconds"
    assert (response["success"], response["errorType"]) == (False, "Throttled")
    assert response["error"] == f"every knowledge base is busy; try again in {when}"
    assert of_call == told
