"""
Ratings of answers as lines of a question file, for a person to accept.

Saved and positively rated questions get the file and page that were shown first, to be checked. A
negatively rated question has no answer, and one for which nothing was shown is marked so: the
line's note explains it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from stackroom_evaluation.question_file import KnownQuestion

_FROM = {"ask": "on the Ask page", "chat": "in a chat", "tool": "by an agent"}
_VERDICTS = {"kept": "kept", "up": "thumb up", "down": "thumb down"}
_LETTERS = 200  # of a file name in a note
_CHECK = 'check that it answers there, and set "accepted" to true'
_CHECK_NOTHING = 'nothing was shown; if nothing answers it, set "accepted" to true'
_FILL_IN = (
    'say what answers it: "file", and "page" or "words", or "nothing": true; then set "accepted"'
    " to true"
)


def kept_questions(feedback: Iterable[Mapping[str, Any]]) -> list[KnownQuestion]:
    """
    Return the questions of the tool's feedback, oldest first.

    Feedback is sorted newest first; only the newest on each question counts.
    """
    newest: dict[str, KnownQuestion] = {}
    for each in feedback:
        question = _question(each)
        newest.setdefault(question.question, question)
    return list(reversed(newest.values()))


def _question(feedback: Mapping[str, Any]) -> KnownQuestion:
    file, page = feedback["file"], feedback["page"]
    verdict, origin = _VERDICTS[feedback["verdict"]], _FROM[feedback["origin"]]
    source = f"{verdict} {origin}, {str(feedback['at'])[:10]}"
    note = f"; {feedback['note']}" if feedback["note"] else ""
    if file is not None and feedback["verdict"] != "down":
        return KnownQuestion(
            question=feedback["question"],
            file=file,
            page=page,
            accepted=False,
            note=f"{source}: {_CHECK}{note}",
        )
    if file is None and feedback["verdict"] == "up":
        note = f"{source}: {_CHECK_NOTHING}{note}"
        return KnownQuestion(question=feedback["question"], nothing=True, accepted=False, note=note)
    where = "" if page is None else f", page {page}"
    # repr() adds escapes for some letters.
    shown = "" if file is None else f", {repr(file)[:_LETTERS]}{where} came first"
    return KnownQuestion(
        question=feedback["question"], accepted=False, note=f"{source}{shown}: {_FILL_IN}{note}"
    )
