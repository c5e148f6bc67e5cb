"""Where the words of a question stand in a text: marked, and not a character lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.retrieval.marking import marked_pieces


def marked(question: str, text: str) -> list[str]:
    return [each.text for each in marked_pieces(question, text) if each.is_marked]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How is the pump greased?", "Grease the pumps daily.", ["Grease", "pumps"]),
        ("how is it", "How is it?", ["How", "is", "it"]),
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


def test_marks_of_our_own_in_a_text_mark_nothing() -> None:
    pieces = marked_pieces("pump", "\x02a\x03 pump \x03\x02")

    assert "".join(each.text for each in pieces) == " a  pump   "
    assert [each.text for each in pieces if each.is_marked] == ["pump"]


@given(st.text(max_size=60), st.text(max_size=200))
def test_the_pieces_are_the_text(question: str, text: str) -> None:
    whole = "".join(each.text for each in marked_pieces(question, text))

    assert whole == re.sub("[\x00\x02\x03]", " ", text).encode(errors="replace").decode()
