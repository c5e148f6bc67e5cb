"""The words of a question in the passages that were found for it."""

import pytest

from stackroom.filters import Has
from stackroom.ports.retrieval import Passage, Retrieved, Search
from stackroom.retrieval.fusion import fused
from stackroom.retrieval.words import Matches, RankedByWords, matched, words_of

ANYBODY = Has("user_id", "alice")
PUMPS = (
    "The pump is greased every 200 hours.",
    "The pump stands in the hall.",
    "The hall is swept at night.",
)


class Found:
    """A `KnowledgeBase` that finds these texts, in this order, whatever it is asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def retrieve(self, query: str, filter: object, limit: int) -> Retrieved:  # noqa: A002
        passages = [
            Passage(text=text, score=1 - at / 10, similarity=1 - at / 10)
            for at, text in enumerate(self.texts)
        ]
        return Retrieved(passages=tuple(passages[:limit]), guardrail_action="INTERVENED")


def covered(question: str, *texts: str) -> list[bool]:
    return [match.coverage > 0 for match in matched(question, texts).passages]


def test_the_more_words_of_the_question_a_passage_has_the_better_it_matches() -> None:
    both, one, none = matched("How often is the pump greased?", PUMPS).passages

    assert both.bm25 > one.bm25 > none.bm25 == 0
    assert both.coverage > one.coverage > none.coverage == 0


def test_a_passage_with_every_word_is_covered_whole() -> None:
    assert matched("pump greased", PUMPS).passages[0].coverage == pytest.approx(1)


def test_a_word_that_no_passage_has_keeps_all_of_them_from_being_covered() -> None:
    without, with_it = (
        matched(question, PUMPS).passages[0].coverage
        for question in ("pump greased by whom", "pump greased by robots")
    )

    assert with_it < without


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    pump, greased, *_ = matched("pump greased hall", ["pump", "greased", *PUMPS]).passages

    assert greased.coverage > pump.coverage


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("PUMPS?", "one pump"),
        ("greasing", "it is greased"),
        ("resume", "das Résumé"),
        ("Größe", "die größe"),
        ("年次休暇は何日ですか", "従業員の年次休暇は三十日です"),
        ("насос", "Насос в зале"),
        ("²", "x ²"),
    ],
)
def test_words_match_whatever_their_form_and_script(question: str, text: str) -> None:
    assert covered(question, text, "something else") == [True, False]


@pytest.mark.parametrize(
    "question",
    ["", " ", "?", "🙂", '"', '" OR "', "NEAR(a b)", "a* NOT b", "__", "\0", "\ud800", "x" * 1000],
)
def test_what_has_no_word_or_looks_like_a_query_matches_nothing(question: str) -> None:
    assert covered(question, *PUMPS) == [False, False, False]


def test_half_a_character_in_a_passage_costs_its_word_alone() -> None:
    assert covered("pump", "the pump \ud800 here") == [True]


def test_a_question_is_about_the_words_that_it_is_not_asked_with() -> None:
    assert words_of("How often is the pump, the PUMP, greased?") == ["often", "pump", "greased"]
    assert words_of("who is it") == ["who", "is", "it"]


def test_no_passages_have_no_matches() -> None:
    assert matched("pump", []) == Matches(passages=(), missing=0)


def test_what_has_the_words_is_put_before_what_was_only_thought_nearer() -> None:
    ranked = RankedByWords(Found(PUMPS[2], PUMPS[1], PUMPS[0]))

    found = ranked.retrieve("how often is the pump greased", ANYBODY, 3)

    assert [each.text for each in found.passages] == [PUMPS[0], PUMPS[1], PUMPS[2]]
    assert [bool(each.words) for each in found.passages] == [True, True, False]


def test_what_the_knowledge_base_says_besides_is_kept() -> None:
    found = RankedByWords(Found(*PUMPS)).retrieve("pump", ANYBODY, 2)

    assert (found.guardrail_action, found.search) == ("INTERVENED", Search.RANKED)
    assert len(found.passages) == 2


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("pump greased", 0),
        ("pump stolen", 0.5),
        ("stolen", 1),
        ("how is it?", 1 / 3),
        ("年次休暇", 0),
        ("pump 年次休暇", 0),
        ("", 0),
    ],
)
def test_words_that_stand_nowhere_are_missing_in_scripts_that_have_words(
    question: str, missing: float
) -> None:
    assert matched(question, ["how the pump is greased"]).missing == pytest.approx(missing)


def test_without_a_word_in_common_the_order_stays() -> None:
    found = RankedByWords(Found(*PUMPS)).retrieve("robots", ANYBODY, 3)

    assert [each.text for each in found.passages] == list(PUMPS)


def test_what_several_orders_put_first_is_first_and_nothing_is_lost() -> None:
    assert fused([0, 1, 2], [1, 2]) == [1, 2, 0]
    assert fused([0, 1], []) == [0, 1]
    assert fused() == []
