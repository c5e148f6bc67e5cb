"""A request is answered while somebody still waits for it, whatever hangs behind the console."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest
from starlette.testclient import TestClient

from stackroom.ports.answers import Written
from stackroom.retrieval.answers import Answering
from stackroom_console.app import console_app
from stackroom_console.console import Console
from stackroom_console.http_api import FOR_A_PAGE
from tests.console.browser import URL, Browser
from tests.console.things import indexed, new_catalog
from tests.functions.pipeline import Pipeline

QUESTION = "How long is annual leave?"


@dataclass(frozen=True)
class Hanging:
    """Answers nothing before the test is over."""

    is_over: threading.Event = field(default_factory=threading.Event)

    def write(self, question: str, passages: Sequence[str]) -> Written:
        self.is_over.wait()
        return Written(text="Thirty days, said too late.")

    def catalogs_of(self, *_: object, **__: object) -> None:
        self.is_over.wait()

    of_user = create = catalogs_of


@contextmanager
def hanging() -> Iterator[Hanging]:
    made = Hanging()
    try:
        yield made
    finally:
        made.is_over.set()


def hasty(console: Console, browser: Browser, *, seconds: float) -> Browser:
    """The same person's browser, at a console that answers within so many seconds."""
    app = console_app(replace(console, seconds=seconds))
    client = TestClient(app, base_url=URL, cookies=browser.client.cookies)
    return Browser(client=client, provider=browser.provider)


def test_a_model_that_hangs_costs_nobody_the_passages(
    alice: Browser, console: Console, pipeline: Pipeline
) -> None:
    catalog = new_catalog(alice)
    indexed(pipeline, "alice", catalog, "leave.txt", "Annual leave is thirty days for everyone.")
    services = console.services

    with hanging() as model:
        written = Answering(retrieval=services.retrieval, writer=model).written
        services.questions = replace(services.questions, written=written)
        answer = hasty(console, alice, seconds=FOR_A_PAGE + 3).post("/ask", query=QUESTION)

    assert answer.status_code == 200
    assert "No answer was written in the time that there is for it" in answer.text
    assert "leave.txt" in answer.text
    assert "too late" not in answer.text


def test_whoever_asks_what_hangs_is_told_in_a_sentence_and_by_the_log(
    alice: Browser, console: Console, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a change, too, that may be done by now."""
    form = {"name": "Slow", "csrf_token": alice.csrf}
    services, hurried = console.services, hasty(console, alice, seconds=0.2)

    with hanging() as store:
        # As much of each as is asked.
        services.listing = services.creation = services.agents = store  # type: ignore[assignment]
        page, program = hurried.get("/catalogs"), hurried.get("/api/agents")
        change = hurried.send("/catalogs", form)

    assert {each.status_code for each in (page, program, change)} == {503}
    assert page.headers["retry-after"] == "5"
    assert "answer in the time that there is for it" in page.text
    assert program.json()["error"]["code"] == "TOOK_TOO_LONG"
    assert "what you asked for may be done by now" in change.text
    late = [each for each in caplog.records if each.message == "a request took too long"]
    assert [vars(each)["path"] for each in late] == ["/catalogs", "/api/agents", "/catalogs"]
