"""A body that can't be read changes nothing, whatever it was sent for; and says what is allowed."""

import logging
import re

import httpx2
import pytest

from stackroom_console.endpoint import Endpoint, Kind
from tests.console.browser import Browser
from tests.console.malformed import Malformed, malformed
from tests.console.test_access import CHANGES, stored, told
from tests.console.things import Things, things_of
from tests.functions.pipeline import Pipeline


@pytest.fixture
def things(alice: Browser, pipeline: Pipeline) -> Things:
    return things_of(alice, pipeline)


def test_what_can_not_be_read_is_refused_and_changes_nothing(
    alice: Browser, things: Things, caplog: pytest.LogCaptureFixture
) -> None:
    before, token = stored(), alice.csrf

    answers = {
        (endpoint, each): sent(alice, things, endpoint, each, token)
        for endpoint in CHANGES
        for each in malformed(endpoint)
    }

    assert len(answers) >= 10 * len(CHANGES)
    assert [
        (told(endpoint), each.told, answer.status_code, answer.text)
        for (endpoint, each), answer in answers.items()
        if answer.status_code != each.status or not is_told(endpoint, answer)
    ] == []
    assert stored() == before
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


def test_what_is_too_large_is_refused_when_nobody_says_how_large_it_is(
    alice: Browser, things: Things
) -> None:
    before, headers = stored(), {"X-CSRF-Token": alice.csrf}

    answers = [
        alice.client.request(
            endpoint.method,
            things.address(endpoint),
            content=iter([b" " * endpoint.max_body, b" "]),
            headers=headers,
        )
        for endpoint in CHANGES
    ]

    assert not any("content-length" in each.request.headers for each in answers)
    assert {each.status_code for each in answers} == {413}
    assert stored() == before


def sent(
    browser: Browser, things: Things, endpoint: Endpoint, each: Malformed, token: str
) -> httpx2.Response:
    return browser.client.request(
        endpoint.method,
        things.address(endpoint),
        content=each.content,
        headers={**each.headers, "X-CSRF-Token": token},
        follow_redirects=False,
    )


def is_told(endpoint: Endpoint, answer: httpx2.Response) -> bool:
    """A sentence, and nothing of how we are made."""
    text = answer.json()["error"]["message"] if endpoint.kind is Kind.API else answer.text
    return bool(re.search(r"The (request|form)\b[^.<]*\w\.", text)) and "Traceback" not in text
