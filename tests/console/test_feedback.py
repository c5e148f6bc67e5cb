"""Feedback on answers by the forms beside them, visible to its author alone."""

import re
from html import unescape
from typing import Any

import pytest

from stackroom.catalogs.feedback import Feedback, FeedbackOrigin, FeedbackVerdict
from stackroom_agents.user_agents.agent_run import ModelStep, RunState, ShownPassage, ToolStep
from stackroom_console.console import Console
from tests.console.browser import Browser, read
from tests.console.things import AGENT, QUESTION, indexed, new_catalog
from tests.functions.pipeline import Pipeline
from tests.support.records import NOW

HOSTILE = "</textarea><img src=x onerror=alert(1)>{{ 7*7 }}\n\"'&amp; \N{SNOWMAN}"


def kept(console: Console, user: str = "alice") -> list[Feedback]:
    return console.services.feedback.of_user(user)


def fields_of(page: str) -> dict[str, str]:
    """Return the fields that the feedback form sends, except the button and the token."""
    form = page.partition('<form class="feedback"')[2].partition("</form>")[0]
    found = re.findall('type="hidden" name="([^"]*)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in found if name != "csrf_token"}


@pytest.fixture
def empty(alice: Browser) -> str:
    """A catalog without documents, which costs no ingestion."""
    return new_catalog(alice, "Handbook")


def answered_run(
    browser: Browser, console: Console, message: str, **source: Any
) -> tuple[str, str]:
    """The ids of an agent, and of a run of it that has shown one passage and has an answer."""
    created = browser.call("POST", "/api/agents", AGENT)
    agent = str(created.json()["data"]["agent"]["id"])
    asked = browser.call("POST", f"/api/agents/{agent}/runs", {"message": message})
    run = console.services.agent_runs.get("alice", asked.json()["data"]["run"]["id"])
    passage = ShownPassage(rank=1, content="thirty", source=source, similarity=0.8)
    step = ToolStep(
        tool_id="t",
        tool_name="search",
        knowledge_base_name="Plans",
        query="leave",
        is_success=True,
        told="found",
        passages=(passage,),
        at=NOW,
        seconds=0.2,
    )
    said = ModelStep(text="Thirty days.", at=NOW, seconds=1, input_tokens=1, output_tokens=1)
    over = {"steps": (step, said), "state": RunState.SUCCEEDED}
    console.services.agent_run_book.save(run.model_copy(update=over))
    return agent, run.id


def test_verdict_is_kept_with_the_first_shown_passage(
    alice: Browser, console: Console, catalog: str
) -> None:
    page = alice.ask(QUESTION).text
    fields = fields_of(page)

    sent = alice.post("/ask/feedback", verdict="up", note="good\r\nold", **fields)

    assert "Marked as helpful" in read(sent.text)
    [feedback] = kept(console)
    assert feedback.verdict is FeedbackVerdict.UP
    assert feedback.origin is FeedbackOrigin.ASK
    assert (feedback.question, feedback.note) == (QUESTION, "good\nold")
    assert (feedback.catalog_id, feedback.file, feedback.page) == (catalog, "leave.txt", None)
    # What a browser presses for Enter; if it is disabled, nothing is sent.
    # https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#implicit-submission
    form = page.partition('<form class="feedback"')[2].partition("</form>")[0]
    [first] = re.findall("<button ([^>]*)>", form)[:1]
    assert "disabled" in first.split()


def test_a_note_is_added_to_a_verdict_and_both_are_taken_back(
    alice: Browser, console: Console, empty: str
) -> None:
    fields = {"question": QUESTION, "catalog_id": empty}
    _, run = answered_run(alice, console, "What is planned?")

    for path in ("/ask/feedback", f"/runs/{run}/feedback"):
        alice.post(path, **fields, verdict="down")
        alice.post(path, **fields, verdict="same", said="down", note="It is outdated.")
        [feedback] = kept(console)
        undone = alice.post(path, **fields, verdict="undo")

        assert (feedback.verdict, feedback.note) == (FeedbackVerdict.DOWN, "It is outdated.")
        assert kept(console) == []
        assert "Marked as" not in undone.text


def test_a_run_is_judged_by_what_it_was_asked_and_has_shown(
    alice: Browser, console: Console, empty: str
) -> None:
    source = {"filename": "plan.pdf", "page": 12, "catalog_id": empty}
    agent, run = answered_run(alice, console, "What is planned?\nAnd when?", **source)
    chat = alice.get(f"/agents/{agent}/chat/single").text

    told = alice.post(f"/runs/{run}/feedback", verdict="down", question="forged", file="forged")

    assert f'action="/runs/{run}/feedback"' in chat
    assert "Marked as not helpful." in told.text
    [feedback] = kept(console)
    assert (feedback.question, feedback.file, feedback.page) == (
        "What is planned?\nAnd when?",
        "plan.pdf",
        12,
    )
    assert (feedback.origin, feedback.agent_id) == (FeedbackOrigin.CHAT, agent)
    assert (feedback.verdict, feedback.catalog_id) == (FeedbackVerdict.DOWN, empty)


def test_kept_test_questions_are_listed_and_removed_on_their_page(
    alice: Browser, bob: Browser, console: Console, empty: str
) -> None:
    for question, said in ((QUESTION, {"catalog_id": empty}), (HOSTILE, {"file": "<b>.pdf"})):
        alice.post("/ask/feedback", question=question, verdict="kept", page="3", **said)
    hostile, plain = kept(console)
    page = alice.get("/ask/test-questions").text
    remove = "/ask/test-questions/remove"

    bob.post(remove, feedback=plain.id)
    alice.post(remove, feedback=hostile.id)
    alice.post(remove, feedback="unknown")

    assert "<b>.pdf" not in page
    assert "<img src=x" not in page
    assert "&lt;b&gt;.pdf" in page
    [again] = re.findall('href="(/ask[?][^"]*catalog=[^"]*)"', page)
    assert f"{QUESTION}</textarea>" in alice.get(unescape(again)).text
    assert kept(console) == [plain]
    assert QUESTION in alice.get("/ask/test-questions").text
    assert QUESTION not in bob.get("/ask/test-questions").text
    alice.post(f"/catalogs/{empty}/delete")
    assert f"catalog={empty}" not in alice.get("/ask/test-questions").text


def test_feedback_on_another_users_answer_is_refused(
    alice: Browser, bob: Browser, console: Console, empty: str
) -> None:
    _, run = answered_run(alice, console, "What is planned?")
    forged = {"user_id": "alice", "question": QUESTION, "verdict": "up", "origin": "tool"}

    refused = [
        bob.post(f"/runs/{run}/feedback", verdict="up"),
        bob.post("/ask/feedback", question=QUESTION, verdict="up", catalog_id=empty),
    ]
    own = bob.post("/ask/feedback", **forged)
    without = bob.send("/ask/feedback", forged)

    assert [each.status_code for each in refused] == [404, 404]
    assert (own.status_code, without.status_code) == (200, 403)
    assert kept(console) == []
    assert [(each.user_id, each.origin) for each in kept(console, "bob")] == [
        ("bob", FeedbackOrigin.ASK)
    ]


def test_a_test_question_names_the_passage_that_answers_it_or_none(
    alice: Browser, console: Console, pipeline: Pipeline, catalog: str
) -> None:
    indexed(pipeline, "alice", catalog, "old leave.txt", "Annual leave was ten days for all.")
    page = alice.ask(QUESTION).text
    fields = fields_of(page)
    places = re.findall(
        '<option value="([^"]*)">([^<]*)</option>', page.partition('name="place"')[2]
    )
    by_label = {label.rpartition(": ")[2]: unescape(value) for value, label in places}
    assert set(by_label) == {"leave.txt", "old leave.txt", "None of these"}

    for file in ("leave.txt", "old leave.txt", None):
        place = by_label[file or "None of these"]
        alice.post("/ask/feedback", **fields, place=place, verdict="kept")

        [feedback] = kept(console)
        assert (feedback.file, feedback.page) == (file, None)
