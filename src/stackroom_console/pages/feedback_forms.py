"""Feedback on answers, from the page Ask and from chats, and the page that lists it."""

from collections.abc import Mapping
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl

from starlette.responses import Response

from stackroom.catalogs.feedback import (
    LAST_PAGE,
    LONGEST_QUESTION,
    Feedback,
    FeedbackOrigin,
    FeedbackVerdict,
)
from stackroom_agents.user_agents.agent_run import AgentRun, ToolStep
from stackroom_console.asked_question import Question, SearchChoice
from stackroom_console.ids import run_id
from stackroom_console.messages import N_, gettext
from stackroom_console.pages import ask_page
from stackroom_console.rendering import redirect, render
from stackroom_console.request import Request, parse, whole_number
from stackroom_console.shown_answer import place_of

_LABELS = {
    "question": N_("Question"),
    "verdict": N_("Verdict"),
    "file": N_("File"),
    "note": N_("Note"),
}
# In place of a verdict: take it back, or keep it with what else was said.
_UNDO, _SAME = "undo", "same"
_OF_ANSWER = ("question", "catalog_id", "file", "note")


def page(request: Request) -> Response:
    """
    Return the page of test questions, each with the address that asks it again, unless its catalog
    is gone.
    """
    mine = ask_page.catalogs_of(request).values()
    catalogs = {None, *(each.catalog_id for each in mine if each.deleting_since is None)}
    questions = [
        (each, _asked_again(each) if each.catalog_id in catalogs else None)
        for each in request.services.feedback.of_user(request.user_id)
    ]
    return render(request, "test_questions.html", questions=questions)


def remove(request: Request) -> Response:
    request.services.feedback.forget(request.user_id, request.form.get("feedback", ""))
    return redirect(request, "/ask/test-questions")


def on_answer(request: Request) -> Response:
    """Keep feedback on an answer of Ask, whose form says where the answer stands."""
    form = dict(request.form)
    if "place" in form:
        chosen = dict(parse_qsl(form["place"]))
        form |= {name: chosen.get(name, "") for name in ("file", "page")}
        form["catalog_id"] = form.get("catalog_id") or chosen.get("catalog_id", "")
    sent = {name: form.get(name, "") for name in _OF_ANSWER}
    written = form.get("page", "").strip()
    page = whole_number(gettext("Page"), written, least=1, most=LAST_PAGE) if written else 0
    feedback = {name: each for name, each in {**sent, "page": page}.items() if each}
    verdict = _kept(request, FeedbackOrigin.ASK, feedback)
    return render(request, "parts/kept.html", verdict=verdict)


def on_run(request: Request) -> Response:
    """The run itself says what was asked, and what was shown first."""
    run = request.services.agent_runs.get(request.user_id, run_id(request))
    note, first = request.form.get("note", ""), _shown_first(request, run)
    given = {"question": _cut(run.message), "agent_id": run.agent_id, "note": note, **first}
    verdict = _kept(request, FeedbackOrigin.CHAT, given)
    return render(request, "parts/kept.html", verdict=verdict)


def _asked_again(feedback: Feedback) -> str | None:
    chosen = SearchChoice(catalog_ids=tuple(filter(None, [feedback.catalog_id])))
    return Question(query=feedback.question, choice=chosen).address


def _kept(
    request: Request, origin: FeedbackOrigin, given: Mapping[str, Any]
) -> FeedbackVerdict | None:
    """
    Save or withdraw the form's feedback, and return its verdict, or None if it was withdrawn. Its
    user is the signed-in one, whatever the form says. Raises ValidationError or CatalogNotFound.
    """
    verdict = request.form.get("verdict", "")
    if verdict == _SAME:
        verdict = request.form.get("said", "")
    is_undone = verdict == _UNDO
    wanted = FeedbackVerdict.UP if is_undone else verdict
    fields = {**given, "verdict": wanted, "origin": origin, "user_id": request.user_id}
    feedback = parse(Feedback, fields, called=_LABELS)
    if is_undone:  # its id is the same, whatever was said
        request.services.feedback.forget(request.user_id, feedback.id)
        return None
    return request.services.feedback.keep(feedback).verdict


def _cut(message: str) -> str:
    """A message may be longer than any question; whoever judges it puts it in other words."""
    return message if len(message) <= LONGEST_QUESTION else f"{message[: LONGEST_QUESTION - 1]}…"


def _shown_first(request: Request, run: AgentRun) -> dict[str, str]:
    found = (each.passages for each in run.steps if isinstance(each, ToolStep))
    first = next(chain.from_iterable(found), None)
    if first is None:
        return {}
    return place_of(first.source, ask_page.catalogs_of(request))
