"""What of the passages found goes into an agent's context."""

import pytest

from stackroom.ports.retrieval import Passage
from stackroom.retrieval.passages import distinct, estimated_tokens, within_budget


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


def test_whole_passages_come_first_and_the_last_is_cut_at_a_sentence() -> None:
    found = ["One whole.", "Two is longer. It does not fit.", "Three."]

    selection = within_budget(found, max_tokens=9)

    assert selection.texts == ("One whole.", "Two is longer. …")
    assert selection.omitted == 1


def test_a_passage_of_which_no_sentence_fits_is_omitted() -> None:
    found = ["One whole.", "Two is one long sentence without an early end."]

    selection = within_budget(found, max_tokens=6)

    assert selection.texts == ("One whole.",)
    assert selection.omitted == 1


def test_the_first_passage_is_cut_at_a_word_rather_than_left_out() -> None:
    found = ["an endless sentence without any full stop in it"]

    selection = within_budget(found, max_tokens=6)

    assert selection.texts == ("an endless sentence …",)


def test_a_budget_too_small_for_a_word_yields_nothing_and_says_how_much() -> None:
    selection = within_budget(["Hippopotamus.", "Ox."], max_tokens=1)

    assert selection.texts == ()
    assert (selection.omitted, selection.tokens) == (2, 0)


@pytest.mark.parametrize("budget", range(1, 60))
def test_the_budget_holds_whatever_it_is(budget: int) -> None:
    found = ["Erster Satz. Größe zählt!", "二つ目の文。三つ目の文。", "Last one? Yes. " * 5]

    selection = within_budget(found, max_tokens=budget)

    assert sum(map(estimated_tokens, selection.texts)) == selection.tokens <= budget
    assert len(selection.texts) + selection.omitted == len(found)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("four", 1), ("five5", 2), ("日本語", 3), ("Größe", 3)]
)
def test_tokens_are_estimated_by_the_kind_of_character(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens
