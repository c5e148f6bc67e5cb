"""evaluate --kept: what was said of answers, into a file of questions for a person to judge."""

import os
from collections.abc import Sequence
from pathlib import Path

from stackroom.tools.texts import counted
from stackroom_evaluation.kept import kept_questions
from stackroom_evaluation.question_file import (
    MOST_QUESTIONS,
    EvaluationError,
    KnownQuestion,
    read,
)
from stackroom_local.cli.callers import Asker
from stackroom_local.cli.json_output import KeptAnswer
from stackroom_local.cli.output import Output
from stackroom_local.cli.untrusted_text import in_json


def keep(asker: Asker, path: Path, *, catalog: str, told: Output) -> None:
    """
    Of that catalog, or of none in particular, behind what stands in the file. A question that
    stands there already is not written again, however it stands there.
    """
    said = asker.tools.call("list_feedback", catalog_id=asker.catalog_id(catalog))["feedback"]
    questions = kept_questions(said)
    added = append(path, questions)
    unanswered = sum(each.is_open for each in added)
    told.people.print(_told(path, questions, added, unanswered), markup=False)
    told.answer(
        KeptAnswer(
            path=str(path),
            added=len(added),
            unanswered=unanswered,
            known=len(questions) - len(added),
        )
    )


def append(path: Path, questions: Sequence[KnownQuestion]) -> list[KnownQuestion]:
    """
    Those that the file doesn't ask yet; a new file if there is none.

    Raises EvaluationError if it can't be read as a file of questions: nothing is written then.
    """
    is_begun = path.is_file() and path.stat().st_size > 0
    known = {each.question for each in read(path).values()} if is_begun else set()
    added = [each for each in questions if each.question not in known]
    if len(known) + len(added) > MOST_QUESTIONS:
        raise EvaluationError(f"{path} would have more than {MOST_QUESTIONS:,} questions")
    if not added:
        return []
    try:
        with path.open("a+b") as file:
            if is_begun:
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":
                    file.write(b"\n")
            file.writelines(f"{in_json(each.line)}\n".encode() for each in added)
    except OSError as error:
        told = f"{path} can't be written: {error.strerror or error}"
        raise EvaluationError(told) from error
    return added


def _told(
    path: Path, found: Sequence[KnownQuestion], added: Sequence[KnownQuestion], unanswered: int
) -> str:
    if not found:
        return (
            "nobody has said anything of this catalog's answers yet, in the console's page Ask or a"
            " chat, or by an agent's tool feedback"
        )
    if not added:
        return f"all of it stands in {path} already: {counted(len(found), 'question')}"
    lines = [f"{counted(len(added), 'question')} added to {path}, none of them accepted."]
    if len(added) > unanswered:
        lines.append(f"{len(added) - unanswered} with the file that came first: look into it.")
    if unanswered:
        lines.append(f"{unanswered} without an answer: say what answers, as the line's note tells.")
    return " ".join([*lines, 'Set "accepted" to true where one is good; then: stackroom evaluate'])
