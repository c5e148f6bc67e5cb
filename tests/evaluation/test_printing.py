"""Tests of the output of `stackroom evaluate`: figures, misses, differences and least score."""

import re
from datetime import datetime
from io import StringIO

from stackroom_cli import evaluation_output
from stackroom_cli.output import TerminalConsole
from stackroom_evaluation.comparing import compare, compare_with_plain
from stackroom_evaluation.evaluation import Evaluation
from stackroom_evaluation.least_score import BestScores
from stackroom_evaluation.question_file import KnownQuestion
from tests.evaluation.answering import evaluated, passage

LEAVE = KnownQuestion(question="leave?", file="[red]a.md", page=2, words="thirty days")
FAR = KnownQuestion(question="far?", nothing=True)
OLDEST = "0001-01-01T00:00:00+14:00"  # no valid time in UTC
HOSTILE = "\x1b[2J\x9b31m\u202e[bold]gone[/bold]\r\x07"


def printed(*evaluated_: Evaluation) -> str:
    out = TerminalConsole(
        file=StringIO(), width=200, soft_wrap=True, force_terminal=True, highlight=False
    )
    evaluation_output.print_evaluation(
        out, evaluated_[0], 1, beside=compare_with_plain(evaluated_[0])
    )
    if evaluated_[1:]:
        evaluation_output.print_compared(out, compare(evaluated_[1], evaluated_[0]), evaluated_[1])
    evaluation_output.print_bar(out, BestScores(right=[0.5, 0.6], unanswerable=[0.1, 0.2]))
    assert isinstance(out.file, StringIO)
    return out.file.getvalue()


def test_each_miss_is_printed_with_the_passages_shown_instead() -> None:
    text = printed(
        evaluated({LEAVE: [passage("Other.", "b.md", score=0.4567, page=7)], FAR: []}, top_k=3),
        evaluated({LEAVE: [passage("It is thirty days.", "[red]a.md")], FAR: []}),
    )

    assert (
        "answered in [red]a.md, page 2: “thirty days”; found instead:\n"
        "  1. b.md, page 7, score 0.46: Other.\n" in text
    )
    assert (
        "1 question with an answer, 1 without, in 'books' of here, top_k=3\nleft out: 1 not" in text
    )
    assert re.search(r"right passage first +0.0%  0 of 1\n", text)
    assert (
        "right passage first: 100.0% -> 0.0%"
        " (95 % interval -100.0 to -100.0 points, p 1.000)" in text
    )
    assert "noise with 1 question" in text
    assert 'on AWS:  make deploy ARGS="-c retrieve_least_score=0.35"' in text
    assert "at each start stackroom up --least-score 0.35" in " ".join(text.split())


def test_control_characters_of_others_are_escaped() -> None:
    # A file of questions is checked; runs and documents of others are not.
    forged = KnownQuestion.model_construct(
        **{**dict(FAR), "question": HOSTILE, "nothing": True, "also": ()}
    )

    run = evaluated({forged: [passage(HOSTILE, f"b{HOSTILE}.md")]})
    other = run.model_copy(update={"site": HOSTILE, "began": datetime.fromisoformat(OLDEST)})

    text = printed(run, other)

    assert "the run of 0001-01-01, in 'books' of " in text
    assert not {"\x9b", "\u202e", "\r", "\x07"} & set(text)
    assert "\x1b[2J" not in text
    assert text.count(r"\x1b[2J\x9b31m\u202e[bold]gone[/bold]") == 4
