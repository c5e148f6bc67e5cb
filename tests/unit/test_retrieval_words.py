"""The words of a question in the passages that were found for it."""

import pytest

from stackroom.retrieval.fusion import fused
from stackroom.retrieval.words import matched, words_of

PUMPS = (
    "The pump is greased every 200 hours.",
    "The pump stands in the hall.",
    "The hall is swept at night.",
)


def matching(question: str, *texts: str) -> list[bool]:
    return [score > 0 for score in matched(question, texts).scores]


def test_the_more_words_of_the_question_a_passage_has_the_better_it_matches() -> None:
    matches = matched("How often is the pump greased?", PUMPS)

    both, one, none = matches.scores
    assert both > one > none == 0
    assert matches.order == [0, 1]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("greasing", "it is greased"),
        ("resume", "das Résumé"),
        ("年次休暇は何日ですか", "従業員の年次休暇は三十日です"),
        ("²", "x ²"),
    ],
)
def test_words_match_whatever_their_form_and_script(question: str, text: str) -> None:
    assert matching(question, text, "something else") == [True, False]


@pytest.mark.parametrize(
    "question", ["", "🙂", '" OR "', "NEAR(a b)", "a* NOT b", "__", "\0", "\ud800"]
)
def test_what_has_no_word_or_looks_like_a_query_matches_nothing(question: str) -> None:
    assert matching(question, *PUMPS) == [False, False, False]


def test_a_question_is_about_the_words_that_it_is_not_asked_with() -> None:
    assert words_of("How often is the pump, the PUMP, greased?") == ["often", "pump", "greased"]
    assert words_of("who is it") == ["who", "is", "it"]


@pytest.mark.parametrize(
    ("question", "missing"),
    [("pump stolen", 0.5), ("stolen", 1), ("how is it?", 1 / 3), ("pump 年次休暇", 0), ("", 0)],
)
def test_words_that_stand_nowhere_are_missing_in_scripts_that_have_words(
    question: str, missing: float
) -> None:
    assert matched(question, ["how the pump is greased"]).missing == pytest.approx(missing)


@pytest.mark.parametrize(
    ("question", "is_whole"),
    [
        ("a pump", True),
        ("pump swept", False),  # each in another passage
        ("pump stolen", False),
        ("", False),
    ],
)
def test_a_passage_may_have_every_word_of_the_question(question: str, is_whole: bool) -> None:
    assert matched(question, PUMPS).is_whole is is_whole


def test_what_several_orders_put_first_is_first_and_nothing_is_lost() -> None:
    assert fused([0, 1, 2], [1, 2]) == [1, 2, 0]
    assert fused([0, 1], []) == [0, 1]
    assert fused() == []
