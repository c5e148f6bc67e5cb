"""How strongly passages speak to a question, and in which order those of several stores come."""

from typing import Any

import pytest

from stackroom.ports.retrieval import Passage, Search
from stackroom.retrieval.asking import Reply
from stackroom.retrieval.evidence import Calibration, Evidence, weighed

MEANING = Calibration(meaning=1)
WORDS = Calibration(meaning=0)


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


def weigh(*replies: Reply, calibration: Calibration = MEANING) -> Evidence:
    return weighed("pump greased", replies, calibration)


def texts(evidence: Evidence) -> list[str]:
    return [each.text for each in evidence.passages]


def test_a_score_is_made_of_meaning_and_words() -> None:
    found = reply(passage("the pump is greased", 0.4), passage("a hall", 0.6))

    scores = [
        [
            round(each.score, 3)
            for each in weigh(found, calibration=Calibration(meaning=share)).passages
        ]
        for share in (1, 0.5, 0)
    ]

    assert scores == [[0.4, 0.6], [0.7, 0.3], [1.0, 0.0]]


def test_the_best_score_need_not_be_that_of_the_first_passage() -> None:
    evidence = weigh(reply(passage("first", 0.4), passage("second", 0.6)))

    assert (texts(evidence), evidence.best) == (["first", "second"], 0.6)


def test_what_was_found_by_its_words_alone_is_less_similar_than_all_others() -> None:
    evidence = weigh(reply(passage("pump"), passage("b", 0.5), passage("c", 0.3)))

    assert [each.score for each in evidence.passages] == [0.3, 0.5, 0.3]


@pytest.mark.parametrize(("similarity", "score"), [(-0.2, 0), (1.000001, 1)])
def test_a_score_is_never_out_of_bounds(similarity: float, score: float) -> None:
    assert weigh(reply(passage("a", similarity))).best == score


def test_a_store_that_tells_no_similarity_keeps_its_own_scores() -> None:
    evidence = weigh(
        reply(passage("pump", score=0.9), passage("hall", score=0.8)), calibration=WORDS
    )

    assert [each.score for each in evidence.passages] == [0.9, 0.8]


def test_one_store_keeps_its_order() -> None:
    evidence = weigh(reply(passage("hall", 0.1), passage("pump greased", 0.9)), reply())

    assert texts(evidence) == ["hall", "pump greased"]


def test_several_are_ordered_by_meaning_and_words_over_what_all_of_them_found() -> None:
    near = reply(passage("pump greased", 0.9), passage("pump", 0.8))
    far = reply(passage("night", 0.2), passage("hall", 0.1))

    assert texts(weigh(far, near)) == ["pump greased", "pump", "night", "hall"]


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

    assert evidence == Evidence(passages=(), best=None)


def test_ways_that_differ_are_held_to_the_lower_bar() -> None:
    calibration = Calibration(least={Search.HYBRID: 0.4, Search.RANKED: 0.3})

    least = [
        calibration.least_of(searches)
        for searches in ([Search.HYBRID], [Search.HYBRID, Search.RANKED], [Search.TEXT], [])
    ]

    assert least == [0.4, 0.3, 0, 0]
