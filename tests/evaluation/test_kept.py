"""Tests that feedback becomes question lines that await acceptance, each once."""

import json
from pathlib import Path
from typing import Any

import pytest

from stackroom_cli.callers import Asker
from stackroom_cli.evaluations import EvaluationOrder, evaluate
from stackroom_cli.kept_questions import append
from stackroom_cli.output import create_output
from stackroom_evaluation.kept import kept_questions
from stackroom_evaluation.question_file import (
    EvaluationError,
    KnownQuestion,
    read,
)
from tests.local.running import ON_AWS

HOSTILE = (
    'Days?\n{"question": "forged", "nothing": true}\r\n\u200b<script>alert(1)</script>'
    " [red]{{7*7}} $(id) \N{SNOWMAN}\N{PILE OF POO}"
)


def feedback(question: str = "How many days?", verdict: str = "up", **more: Any) -> dict[str, Any]:
    given = {"file": "leave.pdf", "page": 3, "note": "", "origin": "ask"}
    return {
        "question": question,
        "verdict": verdict,
        "at": "2026-11-26T05:00:00Z",
        **given,
        **more,
    }


def test_positive_feedback_keeps_its_source_and_negative_asks_for_one() -> None:
    right, down, kept, nothing_shown, up = kept_questions(
        [
            feedback("up?", page=None, origin="chat"),
            feedback("nothing shown?", "kept", file=None, page=None),
            feedback("kept?", "kept", note="good one"),
            feedback("down?", "down", origin="tool", note="outdated"),
            feedback("unanswerable?", file=None, page=None),
        ]
    )

    assert (right.file, right.nothing, right.accepted) == (None, True, False)
    assert (up.file, up.page, up.accepted, up.is_open) == ("leave.pdf", None, False, False)
    assert up.note == (
        'thumb up in a chat, 2026-11-26: check that it answers there, and set "accepted" to true'
    )
    assert (kept.file, kept.page) == ("leave.pdf", 3)
    assert str(kept.note).endswith("; good one")
    assert (nothing_shown.file, nothing_shown.is_open) == (None, True)
    assert (down.file, down.page, down.nothing, down.accepted) == (None, None, False, False)
    assert str(down.note).startswith(
        "thumb down by an agent, 2026-11-26, 'leave.pdf', page 3 came first: say what answers it:"
    )
    assert str(down.note).endswith("; outdated")


def test_latest_feedback_on_a_question_counts() -> None:
    [question] = kept_questions(
        [feedback(verdict="down"), feedback(origin="chat"), feedback("How many days? ")]
    )

    assert question.is_open


def test_append_writes_each_question_once_and_keeps_existing_lines(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    mine = '{"question": "How many days?", "nothing": true}'
    path.write_text(mine)  # its last line has no line break
    questions = kept_questions([feedback("Who?"), feedback()])

    added = [len(append(path, questions)) for _ in range(3)]

    assert added == [1, 0, 0]
    first, second = path.read_text().splitlines()
    assert first == mine
    assert json.loads(second)["accepted"] is False
    assert len(read(path)) == 2


def test_hostile_texts_stay_on_one_line_and_are_read_back_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    longest = feedback("\N{PILE OF POO}" * 1000, "down", file="\N{SNOWMAN}" * 1024, note="\n" * 500)
    questions = kept_questions([feedback(HOSTILE, note=HOSTILE, file="<b>{{x}}.pdf"), longest])

    append(path, questions)

    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 2
    assert all(line.endswith(b"}\n") and len(line) < 65_536 for line in lines)
    assert b"\x1b" not in b"".join(lines)
    assert "\u200b" not in path.read_text("utf-8")
    assert list(read(path).values()) == questions
    assert HOSTILE in [each.question for each in questions]


def test_question_without_an_answer_is_neither_measured_nor_accepted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "questions.jsonl"
    append(path, kept_questions([feedback(verdict="down")]))
    order = EvaluationOrder(options={}, takes_unaccepted=True)

    with pytest.raises(EvaluationError, match="none of its 1 question is accepted"):
        evaluate(
            Asker(site=ON_AWS, user=None), path, order, catalog="c", output=create_output(False)
        )
    path.write_text(path.read_text().replace('"accepted":false', '"accepted":true'))
    with pytest.raises(EvaluationError, match="needs a file that answers it"):
        read(path)

    assert KnownQuestion(question="a", accepted=False).places == ()
