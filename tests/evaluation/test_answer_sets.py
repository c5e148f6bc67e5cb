"""Tests of the measures of `make bench-answers`, on very small sets."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from benchmarks.answers.measuring import PLAIN, TOOL, Outcome, outcomes
from benchmarks.answers.sets import (
    Asked,
    MeasuredSet,
    documents_found,
    excerpts_found,
    sets_of,
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


def test_required_documents_are_found_among_others_with_the_same_text() -> None:
    passage = Shown(text="", file="a.md", others=("b.md",))

    assert documents_found(frozenset({"a.md", "b.md", "c.md", "d.md"}), [passage]) == 0.5


def test_words_are_only_found_in_their_own_file() -> None:
    spots = [Spot("a.md", "thirty days of leave")]

    assert words_found(spots, shown("b.md", "a.md", text="Thirty days of leave.")) == 1.0
    assert words_found(spots, shown("b.md", text="Thirty days of leave.")) == 0.0


def test_published_sets_are_read_from_their_repositories_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("chunks", "banking", "languages", "filings/documents"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "chunks/wiki.md").write_text(LONG)
    references = json.dumps([{"content": LONG}]).replace('"', '""')
    (tmp_path / "chunks/questions.csv").write_text(
        f'question,references,corpus_id\nWhen?,"{references}",wiki\nWho?,"[]",gone\n'
    )
    for name in ("2022 Q3 AAPL", "2023 Q1 AAPL", "2023 Q1 MSFT"):
        (tmp_path / f"filings/documents/{name}.pdf").write_bytes(b"")
    (tmp_path / "filings/questions.csv").write_text(
        'Question,Source Docs\nHow much?,"*AAPL*"\nAnd?,"*2023 Q1 MSFT*, *NVDA*"\n', "utf-8-sig"
    )
    (tmp_path / "banking/documents.jsonl").write_text(
        '{"id": "d1", "title": "Fees", "content": "None."}\n'
    )
    (tmp_path / "banking/tasks.jsonl").write_text(
        json.dumps({"instructions": "x" * 2_000, "required_documents": ["d1", "d2"]})
    )
    asked = [{"question": f"question {each}?"} for each in range(8)]
    article = {"title": "Oxygen", "paragraphs": [{"context": "Text.", "qas": asked}]}
    (tmp_path / "languages/xquad.de.json").write_text(json.dumps({"data": [article]}))

    # The project's own sets come last, and would be fetched.
    sets = dict(zip(("chunks", "filings", "banking", "languages"), sets_of(tmp_path), strict=False))

    [chunk], [filing], [task] = (sets[each].asked for each in ("chunks", "filings", "banking"))
    assert chunk.judge is not None
    assert chunk.judge([Shown(text=LONG, file="wiki.md")]) == 1.0
    assert (chunk.question, set(chunk.sources)) == ("When?", {"wiki.md"})
    assert (filing.question, set(filing.sources)) == (
        "How much?",
        {"2022 Q3 AAPL.pdf", "2023 Q1 AAPL.pdf"},
    )
    assert (len(task.question), set(task.sources)) == (1_000, {"d1.md"})
    assert sets["banking"].files == {"d1.md": b"# Fees\n\nNone."}
    assert (sets["languages"].name, sets["languages"].group) == ("languages-de", "languages")
    assert sets["languages"].files == {"Oxygen-0.txt": b"Text."}
    assert [each.question for each in sets["languages"].asked] == ["question 3?", "question 7?"]
    assert capsys.readouterr().out == ""


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
