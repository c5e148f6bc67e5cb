"""How strongly passages speak to a question, and in which order those of several stores come."""

from dataclasses import replace
from typing import Any

import pytest

from stackroom.ports.retrieval import Passage, Search
from stackroom.retrieval.asking import Reply
from stackroom.retrieval.weighing import Weighed, weighed


def passage(text: str, similarity: float | None = None, **given: Any) -> Passage:
    return Passage(text=text, **{"score": 0.0, "similarity": similarity, **given})


def reply(*passages: Passage) -> Reply:
    return Reply(
        target="KB1",
        passages=passages,
        withheld=(),
        guardrail_action="NONE",
        search=Search.HYBRID,
        is_reranked=False,
        notice=None,
    )


def weigh(*replies: Reply, limit: int = 100) -> Weighed:
    return weighed("pump greased", replies, limit=limit)


def texts(evidence: Weighed) -> list[str]:
    return [each.text for each in evidence.passages]


def scores(evidence: Weighed) -> list[float]:
    return sorted(round(each.score, 3) for each in evidence.passages)


def test_where_nothing_stands_out_a_score_is_less_by_the_words_that_stand_nowhere() -> None:
    alike = (passage("the pump", 0.6), passage("a hall", 0.9))

    assert scores(weigh(reply(*alike), limit=2)) == [0.1, 0.4]


@pytest.mark.parametrize(
    ("passages", "limit"),
    [
        pytest.param((("the pump", 0.6), ("a hall", 0.9)), 3, id="all that there is was found"),
        pytest.param((("the pump", 0.5), ("a hall", 0.9)), 2, id="one stands out"),
        pytest.param((("the pump", 0.6), ("greased", 0.9)), 2, id="every word stands somewhere"),
    ],
)
def test_elsewhere_a_score_is_the_similarity(
    passages: tuple[tuple[str, float], ...], limit: int
) -> None:
    found = reply(*(passage(*each) for each in passages))

    assert scores(weigh(found, limit=limit)) == sorted(each for _, each in passages)


@pytest.mark.parametrize(("similarity", "score"), [(-0.2, 0), (1.000001, 1)])
def test_a_score_is_never_out_of_bounds(similarity: float, score: float) -> None:
    assert weigh(reply(passage("pump greased", similarity))).best == score


def test_a_store_that_tells_no_similarity_keeps_its_own_scores_and_order() -> None:
    evidence = weigh(reply(passage("hall", score=0.9), passage("pump greased", score=0.8)))

    assert [(each.text, each.score) for each in evidence.passages] == [
        ("hall", 0.9),
        ("pump greased", 0.8),
    ]


def test_passages_come_by_the_ranks_of_meaning_and_of_words() -> None:
    found = reply(passage("night", 0.9), passage("hall", 0.8), passage("pump greased", 0.7))

    assert texts(weigh(found)) == ["pump greased", "night", "hall"]


def test_what_was_found_by_meaning_is_ranked_by_words_and_says_so() -> None:
    by_meaning = replace(reply(passage("pump", 0.5)), search=Search.SEMANTIC)
    by_both = reply(passage("pump", 0.5))
    scored = replace(reply(passage("pump", score=0.5)), search=Search.SEMANTIC)

    searches = [weigh(*each).searches for each in ([by_meaning, by_both], [scored], [])]

    assert searches == [(Search.RANKED, Search.HYBRID), (Search.SEMANTIC,), ()]


def test_what_a_model_has_read_scores_what_it_says_and_comes_in_that_order() -> None:
    first = reply(passage("a", 0.9, relevance=0.2), passage("b", 0.8, relevance=0.1))
    second = reply(passage("pump greased", 0.1, relevance=0.7))

    evidence = weigh(first, second)

    assert [(each.text, each.score) for each in evidence.passages] == [
        ("pump greased", 0.7),
        ("a", 0.2),
        ("b", 0.1),
    ]


def test_passages_without_text_are_no_evidence() -> None:
    evidence = weigh(reply(passage("", 0.9)))

    assert (evidence.passages, evidence.best) == ((), None)
