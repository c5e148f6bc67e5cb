"""Which of the passages found are looked at, and how long they are."""

import pytest

from stackroom.ports.retrieval import Passage
from stackroom.retrieval.passages import distinct, estimated_tokens


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


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("five5", 2), ("Größe", 2)])
def test_four_characters_of_whatever_kind_are_a_token(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens
