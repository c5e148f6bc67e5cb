"""A request is answered while somebody still waits for it, whatever hangs behind the console."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

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

    def catalogs_of(self, *_: object, **__: object) -> Any:
        self.is_over.wait()

    def of_user(self, *_: object, **__: object) -> Any:
        self.is_over.wait()

    def create(self, *_: object, **__: object) -> Any:
        self.is_over.wait()


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


def test_a_page_that_hangs_is_told_in_a_sentence(alice: Browser, console: Console) -> None:
    with hanging() as store:
        console.services.listing = store  # type: ignore[assignment] # as much of it as is asked
        answer = hasty(console, alice, seconds=1).get("/catalogs")

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert "answer in the time that there is for it" in answer.text
    assert "Try again in a few seconds." in answer.text


def test_of_a_change_that_hangs_nobody_is_told_that_nothing_was_done(
    alice: Browser, console: Console
) -> None:
    csrf = alice.csrf

    with hanging() as store:
        console.services.creation = store  # type: ignore[assignment] # as much of it as is asked
        form = {"name": "Slow", "csrf_token": csrf}
        answer = hasty(console, alice, seconds=1).send("/catalogs", form)

    assert answer.status_code == 503
    assert "what you asked for may be done by now" in answer.text
    assert "look before you do it again" in answer.text


def test_a_program_is_told_so_too(
    alice: Browser, console: Console, caplog: pytest.LogCaptureFixture
) -> None:
    with hanging() as store:
        console.services.agents = store  # type: ignore[assignment] # as much of it as is asked
        answer = hasty(console, alice, seconds=1).get("/api/agents")

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "TOOK_TOO_LONG"
    [told] = [each for each in caplog.records if each.message == "a request took too long"]
    assert vars(told)["path"] == "/api/agents"
