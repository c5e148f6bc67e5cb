"""Tests of the measures of `make bench-answers`, on very small sets."""

from collections.abc import Sequence
from functools import partial

import pytest

from benchmarks.answers.measuring import PLAIN, TOOL, Outcome, outcomes
from benchmarks.answers.sets import (
    Asked,
    MeasuredSet,
    documents_found,
    excerpts_found,
    words_found,
)
from benchmarks.answers.tables import differences, figures, losses
from benchmarks.answers.ways import Given
from stackroom_evaluation.judging import Shown, Spot

LONG = (
    "The committee of the second chamber meets on the first Monday of every month at noon sharp, in"
    " the hall behind the library, unless that day is a holiday of the province."
)


def shown(*files: str, text: str = "") -> list[Shown]:
    return [Shown(text=text, file=each) for each in files]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([LONG], 1.0),
        ([LONG[:70].upper(), LONG[70:].replace(" ", "  ")], 1.0),  # all but one of its pieces
        ([LONG[:90]], 0.0),  # half of its pieces
        ([], 0.0),
    ],
    ids=str,
)
def test_excerpt_is_found_by_most_of_its_pieces(texts: list[str], found: float) -> None:
    passages = [Shown(text=each, file="a.md") for each in texts]

    assert excerpts_found([LONG], passages) == found
    assert excerpts_found([LONG, "Something else entirely."], passages) == found / 2


def test_words_are_only_found_in_their_own_file() -> None:
    spots = [Spot("a.md", "thirty days of leave")]

    assert words_found(spots, shown("b.md", "a.md", text="Thirty days of leave.")) == 1.0
    assert words_found(spots, shown("b.md", text="Thirty days of leave.")) == 0.0


def measured(answers: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[Outcome]:
    """Return passages of plain Retrieve and the tool by question; a.md answers them all."""
    asked = [
        Asked(
            question=f"question {number}?",
            judge=partial(documents_found, frozenset({"a.md"})),
            sources=frozenset({"a.md"}),
        )
        for number in range(len(answers))
    ]
    by_text = dict(zip((each.question for each in asked), answers, strict=True))
    left_out: list[frozenset[str]] = []

    def without(files: frozenset[str]) -> partial[Given]:
        left_out.append(files)
        return partial(_given, shown("b.md"), "weak")

    found = list(
        outcomes(
            MeasuredSet(
                name="small",
                catalog="small",
                files={"a.md": b"", "b.md": b""},
                asked=[*asked, Asked(question="nothing?", judge=None)],
            ),
            plain=lambda question: Given(shown=shown(*by_text.get(question, ([], []))[0])),
            tool=lambda question: Given(
                shown=shown(*by_text.get(question, ([], []))[1]), relevance="strong"
            ),
            tool_without=without,
        )
    )
    assert left_out == [frozenset({"a.md"})] * len(answers)
    return found


def _given(passages: list[Shown], relevance: str, _question: str) -> Given:
    return Given(shown=passages, relevance=relevance)


def test_each_question_is_asked_both_ways_and_without_its_sources() -> None:
    found = measured([(["b.md"] * 3 + ["a.md"], ["a.md"]), (["a.md"], [])])

    [heads, plain, tool, *means] = figures({"small": found}, {"small": "small"})
    assert (
        dict(zip(heads, plain, strict=True)).items()
        >= {
            "first 1": "50.0%",
            "first 3": "50.0%",
            "first 5": "100.0%",
            "got nothing": "0 of 2",
            "answerable weak": "",
        }.items()
    )
    assert (
        dict(zip(heads, tool, strict=True)).items()
        >= {
            "first 1": "50.0%",
            "first 10": "50.0%",
            "got nothing": "1 of 2",
            "answerable weak": "50.0%",  # an empty answer does not count as strong
            "weak without sources": "100.0%",
            "unanswerable weak": "100.0%",
        }.items()
    )
    assert [each[1] for each in means] == [PLAIN, TOOL]


def test_loss_of_more_than_one_question_is_named() -> None:
    one = measured([(["a.md"], ["b.md"]), *[(["a.md"], ["a.md"])] * 9])
    six = measured([(["a.md"], ["b.md"])] * 6)

    assert losses({"one": one}) == []
    assert losses({"six": six})[0] == "six, first 1: by 6.0 questions, p 0.031"
    assert differences({"one": one})[1][:2] == ["one", "-1.0, p 1.000"]
