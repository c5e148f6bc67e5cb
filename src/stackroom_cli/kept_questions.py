"""The `evaluate --kept` command: turn feedback on answers into questions for a person to judge."""

import os
from collections.abc import Sequence
from pathlib import Path

from stackroom.tools.texts import counted
from stackroom_cli.callers import Asker
from stackroom_cli.failures import WrongUsage
from stackroom_cli.json_output import KeptAnswer
from stackroom_cli.output import Output
from stackroom_cli.untrusted_text import in_json, one_line
from stackroom_evaluation.kept import kept_questions
from stackroom_evaluation.question_file import (
    LARGEST_FILE,
    MOST_QUESTIONS,
    EvaluationError,
    KnownQuestion,
    read,
    replace,
)


def keep(asker: Asker, path: Path, *, catalog: str, output: Output) -> None:
    """
    Append questions from the feedback on this catalog, or on none in particular, to the file.

    A question that the file already has, in whatever form, is not written again.
    """
    questions = kept_questions(map(vars, asker.client.list_feedback(asker.catalog_id(catalog))))
    added = append(path, questions)
    unanswered = sum(each.is_open for each in added)
    output.people.print(_summary(path, questions, added, unanswered), markup=False)
    output.answer(
        KeptAnswer(
            path=one_line(str(path)),
            added=len(added),
            unanswered=unanswered,
            known=len(questions) - len(added),
        )
    )


def append(path: Path, questions: Sequence[KnownQuestion]) -> list[KnownQuestion]:
    """
    Append the questions that the file doesn't have yet, and return them; a missing file is created.

    Raises EvaluationError, and writes nothing, if it is not a file of questions.
    """
    path = Path(os.path.realpath(path))  # what is a link stays one
    if path.exists() and not path.is_file():
        raise EvaluationError(f"{path} can't be written: it is not a regular file")
    is_begun = path.is_file() and path.stat().st_size > 0
    known = {each.question for each in read(path).values()} if is_begun else set()
    there = path.read_bytes() if is_begun else b""
    added = [each for each in questions if each.question not in known]
    if not added:
        return []
    line_end = b"\n" if there and not there.endswith(b"\n") else b""
    body = there + line_end + _lines_of(added)
    if len(known) + len(added) > MOST_QUESTIONS or len(body) > LARGEST_FILE:
        raise EvaluationError(
            f"{path} would exceed {MOST_QUESTIONS:,} questions or {LARGEST_FILE:,} bytes"
        )
    replace(path, body)
    return added


def write_new(path: Path, questions: Sequence[KnownQuestion]) -> None:
    """
    Write a new file of questions. Raises WrongUsage if it exists, EvaluationError if writing fails.
    """
    require_new(path)
    replace(path, _lines_of(questions))


def require_new(path: Path) -> None:
    if os.path.lexists(path):
        raise WrongUsage(f"{path} already exists; name a new file, or remove it")


def _lines_of(questions: Sequence[KnownQuestion]) -> bytes:
    return "".join(f"{in_json(each.line)}\n" for each in questions).encode()


def _summary(
    path: Path, found: Sequence[KnownQuestion], added: Sequence[KnownQuestion], unanswered: int
) -> str:
    if not found:
        return (
            "no answers from this catalog have been rated yet, on the console's page Ask, in a"
            " chat, or by an agent's feedback tool"
        )
    if not added:
        return f"{path} already has all rated questions ({len(found)})"
    lines = [f"{counted(len(added), 'question')} added to {path}, none accepted yet."]
    if len(added) > unanswered:
        lines.append(f"{len(added) - unanswered} name the file that came first: check it.")
    if unanswered:
        lines.append(f"{unanswered} lack an answer: add it as the line's note says.")
    return " ".join(
        [*lines, 'Set "accepted" to true where one is good. Then run: stackroom evaluate']
    )
