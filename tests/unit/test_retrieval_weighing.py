"""How strongly passages speak to a question: words, scores, order, and what is too little."""

from dataclasses import replace
from typing import Any

import pytest

from stackroom.documents.passages import Passage, Search
from stackroom.search.calibrations import CALIBRATIONS, Calibration
from stackroom.search.excerpts import distinct
from stackroom.search.fan_out import Reply
from stackroom.search.question_words import marked_pieces, matched, words_of
from stackroom.search.ranking import Weighed, fused, weighed

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
        ("Wer verwaltet die Liste?", "Das Verwalten obliegt dem Amt."),
        ("Welches Konto wird gesperrt?", "Kontoname"),
        ("Quand est-elle envoyée ?", "Envoyez cela."),
        ("¿Cómo se instalan?", "Instalación"),
    ],
)
def test_words_match_whatever_their_form_and_script(question: str, text: str) -> None:
    assert matching(question, text, "something else") == [True, False]


def test_a_question_is_about_the_words_that_it_is_not_asked_with() -> None:
    assert words_of("How often is the pump, the PUMP, greased?") == ["often", "pump", "greased"]
    assert words_of("who is it") == ["who", "is", "it"]
    assert words_of("Wie lange ist die Frist?") == ["lange", "frist"]
    assert words_of("Où est l'archive du site ?") == ["archive", "site"]
    assert words_of("¿Dónde están mis ficheros?") == ["están", "ficheros"]
    assert words_of("休暇は何日ですか") == ["休暇", "暇は", "は何", "何日", "日で"]


def test_a_rare_word_is_more_of_the_question_than_one_that_many_passages_have() -> None:
    common, both = matched("pump greased", PUMPS).shares[1::-1]
    greased = matched("greased hall", PUMPS).shares[0]
    missing = matched("greased stolen", PUMPS).shares[0]

    assert 0 < common < 0.5 < greased < both == 1
    assert missing == 0.5  # as if one passage had it
    assert matched("pump swept", PUMPS).shares[2] < 1  # each in another passage
    assert matched("", PUMPS).shares == (0, 0, 0)


def test_what_several_orders_put_first_is_first_and_nothing_is_lost() -> None:
    assert fused([0, 1, 2], [1, 2]) == [1, 2, 0]
    assert fused([0, 1], []) == [0, 1]
    assert fused() == []


def marked(question: str, text: str) -> list[str]:
    return [each.text for each in marked_pieces(question, text) if each.is_marked]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How is the pump greased?", "Grease the pumps daily.", ["Grease", "pumps"]),
        ("how is it", "How is it?", []),
        ("The pump's oil?", "It's the pump's.", ["pump"]),
        ("between", "Between two of them.", ["Between"]),
        ("Which other pump is used between shifts?", "Another pump, used between.", ["pump"]),
        ("pump", "No such word here, pumpkin.", []),
        ("Wie sichert man Kennwörter?", "Kennwort. Sicherung.", ["Kennwort", "Sicherung"]),
        ("leave 休暇", "leave は休暇です", ["leave", "休暇"]),
        ("<b>", "a <b>bold</b> b", ["b", "b", "b"]),
        ('"quoted" OR (cream', "quoted or cream", ["quoted", "cream"]),
    ],
)
def test_words_are_marked_in_any_of_their_forms(
    question: str, text: str, expected: list[str]
) -> None:
    assert marked(question, text) == expected


def test_marks_of_our_own_in_a_text_mark_nothing() -> None:
    pieces = marked_pieces("pump", "\x02a\x03 pump \x03\x02")

    assert "".join(each.text for each in pieces) == " a  pump   "
    assert [each.text for each in pieces if each.is_marked] == ["pump"]


def test_the_first_copy_of_a_text_is_kept_and_the_same_text_of_another_file_too() -> None:
    found = [
        Passage(text="same", score=0.3, uri="s3://d/a"),
        Passage(text="same", score=0.2, uri="s3://d/a"),
        Passage(text="same", score=0.1, uri="s3://d/b"),
    ]

    kept = distinct(found, min_score=0)

    assert [(passage.uri, passage.score) for passage in kept] == [
        ("s3://d/a", 0.3),
        ("s3://d/b", 0.1),
    ]


def test_what_scores_less_than_was_asked_for_is_left_out() -> None:
    found = [Passage(text=f"{score}", score=score, uri="s3://d/a") for score in (0.3, 0.5, 0.49)]

    assert [passage.score for passage in distinct(found, min_score=0.49)] == [0.5, 0.49]


CALIBRATION = Calibration(least={Search.HYBRID: 0.4, Search.RANKED: 0.3})


@pytest.mark.parametrize(
    ("best", "searches", "is_answered"),
    [
        (0.4, [Search.HYBRID], True),
        (0.39, [Search.HYBRID], False),
        (0.39, [Search.HYBRID, Search.RANKED], True),
        (0.29, [Search.HYBRID, Search.RANKED], False),
        (0.0, [Search.TEXT], True),
        (None, [Search.HYBRID], True),
    ],
)
def test_a_question_is_held_to_the_lowest_bar_of_the_ways_it_was_searched(
    best: float | None, searches: list[Search], is_answered: bool
) -> None:
    assert CALIBRATION.is_answered(best, searches) is is_answered


def test_a_bar_that_whoever_deploys_sets_holds_for_every_way() -> None:
    calibration = Calibration.of(0.6)

    for search in Search:
        assert calibration.is_answered(0.6, [search])
        assert not calibration.is_answered(0.59, [search])


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_a_store_that_only_scores_is_on_a_scale_of_its_own(name: str) -> None:
    assert CALIBRATIONS[name].is_answered(0.01, [Search.SEMANTIC])


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
