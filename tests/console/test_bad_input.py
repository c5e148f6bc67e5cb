"""Each field filled in as nobody should: told by name, with what is allowed; nothing is kept."""

import json
import logging
from html import unescape

import httpx2
import pytest

from stackroom_console.endpoint import Endpoint, Kind
from tests.console.browser import Browser
from tests.console.fields import BODILESS, FIELDS, bad, good
from tests.console.test_access import CHANGES, stored, told
from tests.console.things import Things, things_of
from tests.functions.pipeline import Pipeline

FILLED = [each for each in CHANGES if (each.method, each.path) in FIELDS]


@pytest.fixture
def things(alice: Browser, pipeline: Pipeline) -> Things:
    return things_of(alice, pipeline)


def test_no_change_is_forgotten_here() -> None:
    assert {(each.method, each.path) for each in CHANGES} == {*FIELDS, *BODILESS}


def test_a_field_that_is_filled_in_wrongly_is_named_and_nothing_is_kept(
    alice: Browser, things: Things, caplog: pytest.LogCaptureFixture
) -> None:
    before, token = stored(), alice.csrf

    untold = []
    for endpoint in FILLED:
        for name, value in bad(endpoint):
            answer = sent(alice, things, endpoint, {name: value}, token)
            if answer.status_code != 400 or not is_named(endpoint, name, answer):
                seen = (answer.status_code, sentence(answer)[:300])
                untold.append((told(endpoint), name, str(value)[:50], *seen))

    assert untold == []
    assert stored() == before
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


def sent(
    browser: Browser, things: Things, endpoint: Endpoint, given: dict[str, object], token: str
) -> httpx2.Response:
    """With the rest as it should be."""
    body = {**good(endpoint), **things.body(endpoint), **given}
    path, headers = things.address(endpoint), {"X-CSRF-Token": token, "HX-Request": "true"}
    if endpoint.kind is Kind.PAGE:
        form = {name: str(value) for name, value in body.items()}
        return browser.send(path, form, **headers)
    content = json.dumps(body).encode()
    headers["Content-Type"] = "application/json"
    return browser.client.request(endpoint.method, path, content=content, headers=headers)


def sentence(answer: httpx2.Response) -> str:
    if answer.headers["content-type"] == "application/json":
        error = answer.json().get("error", {})
        return " ".join((error.get("message", ""), error.get("advice", "")))
    return unescape(answer.text)


def is_named(endpoint: Endpoint, name: str, answer: httpx2.Response) -> bool:
    text = sentence(answer)
    called = FIELDS[endpoint.method, endpoint.path][name].called or name
    is_bounded = "Allowed" in text or "limit" in text or called == "the file"
    return called.lower() in text.lower() and is_bounded
