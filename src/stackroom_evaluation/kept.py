"""
What was said of answers, as lines of a question file that wait for a person.

What was kept or found good has the file and page that were shown first, to be checked. A thumb
down has no answer, nor has a question for which nothing was shown: the line's note says so.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from stackroom_evaluation.question_file import KnownQuestion

_FROM = {"ask": "on the Ask page", "chat": "in a chat", "tool": "by an agent"}
_SAID = {"kept": "kept", "up": "thumb up", "down": "thumb down"}
_LETTERS = 200  # of a file's name in a note
_CHECK = 'check that it answers there, and set "accepted" to true'
_CHECK_NOTHING = 'nothing was shown; if nothing answers it, set "accepted" to true'
_FILL_IN = (
    'say what answers it: "file", and "page" or "words", or "nothing": true; then set "accepted"'
    " to true"
)


def kept_questions(said: Iterable[Mapping[str, Any]]) -> list[KnownQuestion]:
    """
    Of the tool's answer, which has the newest first: of what was said of one question more than
    once, the last word. The oldest come first.
    """
    newest: dict[str, KnownQuestion] = {}
    for each in said:
        question = _question(each)
        newest.setdefault(question.question, question)
    return list(reversed(newest.values()))


def _question(said: Mapping[str, Any]) -> KnownQuestion:
    file, page = said["file"], said["page"]
    told = f"{_SAID[said['verdict']]} {_FROM[said['origin']]}, {str(said['at'])[:10]}"
    note = f"; {said['note']}" if said["note"] else ""
    if file is not None and said["verdict"] != "down":
        return KnownQuestion(
            question=said["question"],
            file=file,
            page=page,
            accepted=False,
            note=f"{told}: {_CHECK}{note}",
        )
    if file is None and said["verdict"] == "up":
        note = f"{told}: {_CHECK_NOTHING}{note}"
        return KnownQuestion(question=said["question"], nothing=True, accepted=False, note=note)
    where = "" if page is None else f", page {page}"
    # With the escapes that its letters may need.
    shown = "" if file is None else f", {repr(file)[:_LETTERS]}{where} came first"
    return KnownQuestion(
        question=said["question"], accepted=False, note=f"{told}{shown}: {_FILL_IN}{note}"
    )
