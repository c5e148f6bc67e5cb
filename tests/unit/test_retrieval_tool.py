"""The search as a Python function, for agents that run in the same process."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from stackroom.access.identity import Caller
from stackroom.documents.passages import Search
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.search.calibrations import CALIBRATIONS, Calibration
from stackroom.search.search import Retrieval
from stackroom.search.search_tool import Response, knowledge_base_retrieve
from stackroom.search.wrappers import Reranked
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.unit.test_retrieval import a_retrieval


def contents(response: Response) -> list[str]:
    results = response["results"]
    assert isinstance(results, list)
    return [result["content"] for result in results]


STRICT = Calibration.of(0.6)


def asked(query: str, retrieval: Retrieval) -> Response:
    return knowledge_base_retrieve({"query": query}, caller=Caller("alice"), retrieval=retrieval)


def test_a_question_that_no_passage_speaks_to_gets_none_and_how_near_the_best_was() -> None:
    far, near = (
        asked("stolen valve", replace(a_retrieval(a_shelf(similarity)), calibration=STRICT))
        for similarity in (0.5, 0.6)
    )
    nothing = asked("pump", replace(a_retrieval(FakeKnowledgeBase()), calibration=STRICT))

    assert (far["success"], far["results"]) == (True, [])
    assert metadata(far)["best_score_below"] == 0.5
    assert contents(near) == ["The pump is greased every 200 hours."]
    assert "best_score_below" not in metadata(near)
    assert (nothing["results"], "best_score_below" in metadata(nothing)) == ([], False)


@pytest.mark.parametrize(
    ("question", "is_shown"),
    [("a pump", True), ("pump greased 200 stolen", True), ("pump greased stolen valve", False)],
)
def test_a_passage_with_most_words_of_a_question_is_shown_however_far_it_is(
    question: str, is_shown: bool
) -> None:
    retrieval = replace(a_retrieval(a_shelf(0.1)), calibration=STRICT)

    expected = ["The pump is greased every 200 hours."] if is_shown else []
    assert contents(asked(question, retrieval)) == expected


def test_a_passage_with_a_rare_word_of_the_question_is_shown_unless_it_is_far() -> None:
    near, far = (
        asked("pump stolen", replace(a_retrieval(a_shelf(similarity)), calibration=STRICT))
        for similarity in (0.34, 0.32)
    )

    assert contents(near) == ["The pump is greased every 200 hours."]
    assert contents(far) == []


def test_without_an_answer_the_nearest_passage_is_named_and_shown_to_who_asks_for_it() -> None:
    near, far = (
        replace(a_retrieval(a_shelf(similarity)), calibration=STRICT) for similarity in (0.34, 0.32)
    )

    told = metadata(asked("stolen valve", near))
    shown = knowledge_base_retrieve(
        {"query": "stolen valve", "min_score": 0}, caller=Caller("alice"), retrieval=far
    )

    assert isinstance(told["nearest"], dict)
    assert told["nearest"]["filename"] == "handbook.txt"
    assert "nearest" not in metadata(asked("stolen valve", far))
    assert contents(shown) == ["The pump is greased every 200 hours."]


def test_a_model_that_has_read_the_passages_is_held_to_no_bar_of_similarities() -> None:
    knowledge_base = a_shelf(0.1)
    reranked = Reranked(knowledge_base, AlwaysHalf())
    retrieval = replace(a_retrieval(knowledge_base), pool={"KB1": reranked}, calibration=STRICT)

    response = asked("pump stolen", retrieval)

    assert contents(response) == ["The pump is greased every 200 hours."]
    assert metadata(response)["search"] == "semantic+rerank"


@pytest.mark.parametrize(
    ("question", "is_held_back"),
    [
        ("Which planets can be seen with the naked eye?", True),
        ("How often must the pump be lubricated?", False),
        ("naked eye planets", False),
        ("Welche Planeten kann man mit bloßem Auge sehen?", False),
    ],
)
@pytest.mark.parametrize("similarity", [0.1, 0.9])
def test_an_unknown_model_s_passages_without_the_question_s_words_are_held_back_at_any_scale(
    question: str, similarity: float, *, is_held_back: bool
) -> None:
    retrieval = replace(
        a_retrieval(a_shelf(similarity)), calibration=CALIBRATIONS["titan-v2-english"]
    )

    told = asked(question, retrieval)
    shown = knowledge_base_retrieve(
        {"query": question, "min_score": 0}, caller=Caller("alice"), retrieval=retrieval
    )

    assert (told["results"] == []) is is_held_back
    assert ("words_below" in metadata(told), "nearest" in metadata(told)) == (is_held_back,) * 2
    assert "best_score_below" not in metadata(told)
    assert contents(shown) == ["The pump is greased every 200 hours."]


class AlwaysHalf:
    """A `Reranker` to which everything is half to the point."""

    def rank(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        return (0.5,) * len(texts)


def a_shelf(similarity: float) -> FakeKnowledgeBase:
    knowledge_base = FakeKnowledgeBase()
    knowledge_base.put("The pump is greased every 200 hours.", similarity=similarity)
    return knowledge_base


def test_an_answer_tells_how_it_was_searched_and_why_not_as_configured() -> None:
    knowledge_base = FakeKnowledgeBase()
    knowledge_base.search, knowledge_base.notice = Search.RANKED, "the index is BUILDING"

    response = asked("annual leave", a_retrieval(knowledge_base))

    assert metadata(response)["search"] == "semantic+text"
    assert metadata(response)["search_notices"] == {"KB1": "the index is BUILDING"}


def metadata(response: Response) -> dict[str, object]:
    told = response["metadata"]
    assert isinstance(told, dict)
    return told


@pytest.mark.parametrize(("known", "told"), [(7, {"retry_after_seconds": 7}), (None, {})])
def test_who_is_sent_away_is_told_when_to_come_again(
    known: int | None, told: dict[str, int]
) -> None:
    throttled = KnowledgeBaseThrottled("Retrieve", retry_after=known)

    response = asked("annual leave?", a_retrieval(FakeKnowledgeBase(failure=throttled)))

    of_call = dict(metadata(response))
    del of_call["failed_knowledge_bases"]
    when = "7 seconds" if known else "a few seconds"
    assert (response["success"], response["errorType"]) == (False, "Throttled")
    assert response["error"] == f"every knowledge base is busy; try again in {when}"
    assert of_call == told
