"""The words of a question: which they are, in which passages, and where they are marked."""

import pytest

from stackroom.search.question_words import QuestionWords, marked_pieces, matched

PUMPS = (
    "The pump is greased every 200 hours.",
    "The pump stands in the hall.",
    "The hall is swept at night.",
)


def words(question: str) -> list[str]:
    return list(QuestionWords.of(question).words)


def matching(question: str, *texts: str) -> list[bool]:
    return [share > 0 for share in matched(question, texts).shares]


def test_passage_matches_better_the_more_question_words_it_has() -> None:
    matches = matched("How often is the pump greased?", PUMPS)

    both, one, none = matches.shares
    assert both > one > none == 0
    assert matches.order == [0, 1]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("greasing", "it is greased"),
        ("resume", "das Résumé"),
        ("年次休暇は何日ですか", "従業員の年次休暇は三十日です"),
        ("²", "x ²"),
        ("ガスは何ですか", "ガスの料金"),
        ("Wer verwaltet die Liste?", "Das Verwalten obliegt dem Amt."),
        ("Welches Konto wird gesperrt?", "Kontoname"),
        ("Quand est-elle envoyée ?", "Envoyez cela."),
    ],
)
def test_words_match_whatever_their_form_and_script(question: str, text: str) -> None:
    assert matching(question, text, "something else") == [True, False]


def test_question_words_exclude_the_words_of_asking() -> None:
    assert words("How often is the pump, the PUMP, greased?") == ["often", "pump", "greased"]
    assert words("who is it") == ["who", "is", "it"]
    assert words("Wie lange ist die Frist?") == ["lange", "frist"]
    assert words("Où est l'archive du site ?") == ["archive", "site"]
    assert words("¿Dónde están mis ficheros?") == ["están", "ficheros"]
    assert words("休暇は何日ですか") == ["休暇", "暇は", "は何", "何日", "日で"]


def test_rare_question_word_weighs_more_than_a_common_one() -> None:
    common, both = matched("pump greased", PUMPS).shares[1::-1]
    greased = matched("greased hall", PUMPS).shares[0]
    missing = matched("greased stolen", PUMPS).shares[0]

    assert 0 < common < 0.5 < greased < both == 1
    assert missing == 0.5  # as if one passage had it
    assert matched("pump swept", PUMPS).shares[2] < 1  # each in another passage
    assert matched("", PUMPS).shares == (0, 0, 0)


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
        ("leave 休暇", "leave は休暇です", ["leave", "休暇"]),
        ("<b>", "a <b>bold</b> b", ["b", "b", "b"]),
        ('"quoted" OR (cream', "quoted or cream", ["quoted", "cream"]),
    ],
)
def test_words_are_marked_in_any_of_their_forms(
    question: str, text: str, expected: list[str]
) -> None:
    assert marked(question, text) == expected


def test_names_are_capitalised_words_and_numbers_but_no_first_word() -> None:
    question = "What did Apple's Q1 report of 2023 say? Was NASA in it?"

    assert QuestionWords.of(question).names == {"apple", "q1", "2023", "nasa"}


def test_capitalised_words_of_a_german_question_are_not_taken_for_names() -> None:
    assert QuestionWords.of("Wie lang ist die Frist für den Antrag 7?").names == {"7"}


def test_underscore_separates_words() -> None:
    assert matching("max tokens", "set max_tokens to 5", "other") == [True, False]
