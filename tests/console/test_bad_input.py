"""Fields filled in as nobody should, and bodies that can't be read: told, and nothing is kept."""

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape

import httpx2
import pytest

from stackroom_agents.user_agents.runs import LONGEST_MESSAGE
from stackroom_console.endpoint import MAX_BODY, Endpoint, EndpointKind
from stackroom_console.request_body import FORM, JSON
from tests.console.browser import Browser
from tests.console.things import CHANGES, Things, name_of, stored

AGENT = {"name": "Mine", "model": "amazon.nova-lite-v1:0"}
LINK = {"toolName": "search_mine", "toolDescription": "Mine"}
LINKS = "/api/agents/{agent_id}/knowledge-base-tools"
EDIT = "/agents/{agent_id}/tools/{tool_id}/edit"
UPLOADS = "/catalogs/{catalog_id}/uploads"
# The endpoint, a field of it, values that it doesn't take, and what the field is called.
INVALID: list[tuple[str, str, Sequence[object], str]] = [
    ("POST /catalogs", "name", ("", " \t", "a" * 101, "a\x07b", "a\u202eb"), "name"),
    ("POST /catalogs", "description", ("a" * 501,), "description"),
    (f"POST {UPLOADS}", "size", (0, 50 * 1024 * 1024 + 1, 1.5, "5", 10**400), "the file"),
    ("POST /ask", "query", ("", "a" * 1001), "question"),
    ("POST /ask", "most", ("0", "21", "1.5", "five", "\u0665"), "number of passages"),
    ("POST /ask", "threshold", ("1.1", "NaN"), "similarity threshold"),
    ("POST /chat", "message", ("a" * (LONGEST_MESSAGE + 1),), "question"),
    ("POST /agents", "system_prompt", ("a" * 20_001,), "instructions"),
    (f"POST {EDIT}", "top_k", ("", "0", "21"), "top k results"),
    ("POST /api/agents", "name", ("", [], {}, True, 7), "name"),
    (f"POST {LINKS}", "toolName", ("a" * 65,), "toolname"),
    (f"POST {LINKS}", "defaultTopK", (0, 21, 1.5, "5"), "defaulttopk"),
    (f"POST {LINKS}", "defaultMinScore", (-1, 1.1), "defaultminscore"),
]
# What the endpoints need beside the field.
GOOD: Mapping[str, Mapping[str, object]] = {
    "POST /catalogs": {"name": "Harbours"},
    "POST /ask": {"query": "Why?"},
    "POST /agents": AGENT,
    "POST /api/agents": AGENT,
    f"POST {LINKS}": LINK,
}


def test_invalid_field_is_named_and_nothing_is_stored(
    alice: Browser, things: Things, caplog: pytest.LogCaptureFixture
) -> None:
    before, token = stored(), alice.csrf
    endpoints = {name_of(each): each for each in CHANGES}

    untold = []
    for endpoint, field, values, called in INVALID:
        for value in values:
            given = {**GOOD.get(endpoint, {}), field: value}
            answer = sent(alice, things, endpoints[endpoint], given, token)
            text = sentence(answer).lower()
            if answer.status_code != 400 or called not in text:
                untold.append((endpoint, field, str(value)[:50], answer.status_code, text[:300]))

    assert untold == []
    assert stored() == before
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


def sent(
    browser: Browser, things: Things, endpoint: Endpoint, given: dict[str, object], token: str
) -> httpx2.Response:
    body = {**things.body(endpoint), **given}
    path, headers = things.address(endpoint), {"X-CSRF-Token": token, "HX-Request": "true"}
    if endpoint.kind is EndpointKind.PAGE:
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


def test_line_break_counts_as_one_character_though_browser_sends_two(
    alice: Browser,
) -> None:
    lines = "a\r\n" * 250

    assert alice.post("/catalogs", name="Lines", description=lines).status_code == 303


TYPES = {EndpointKind.PAGE: FORM, EndpointKind.API: JSON}
READABLE = {EndpointKind.PAGE: b"name=A", EndpointKind.API: b"{}"}
UNREADABLE = {
    EndpointKind.PAGE: {
        "no UTF-8": b"name=\xff\xfe",
        "a field twice": b"name=a&name=b",
        "too many fields": b"&".join(b"f%d=" % each for each in range(129)),
    },
    EndpointKind.API: {
        "nothing of JSON": b"name=A",
        "a list": b"[]",
        "too deep": b"[" * 60_000,
        "a member twice": b'{"name": "A", "name": "B"}',
        "not a number": b'{"name": NaN}',
        "more digits than are read": b'{"name": ' + b"9" * 5_000 + b"}",
        "half of a pair": b'{"name": "\\ud800"}',
        "no UTF-8": b'{"name": "\xff"}',
        "NUL": b'{"name": "\x00"}',
    },
}


def test_unreadable_request_is_refused_and_changes_nothing(
    alice: Browser, things: Things, caplog: pytest.LogCaptureFixture
) -> None:
    before, token = stored(), alice.csrf
    one_of_each_kind = {each.kind: each for each in CHANGES}

    refused = {
        (name_of(endpoint), why): (endpoint, posted(alice, things, endpoint, content, token))
        for endpoint in one_of_each_kind.values()
        for why, content in UNREADABLE[endpoint.kind].items()
    }

    assert one_of_each_kind.keys() == UNREADABLE.keys()
    assert [
        (what, answer.status_code, answer.text)
        for what, (endpoint, answer) in refused.items()
        if answer.status_code != 400 or not is_told(endpoint, answer)
    ] == []
    assert stored() == before
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


def test_no_change_takes_a_body_of_another_type(alice: Browser, things: Things) -> None:
    before, token = stored(), alice.csrf
    one_of_each_kind = {each.kind: each for each in CHANGES}

    answers = {
        (name_of(endpoint), of_type): posted(
            alice, things, endpoint, READABLE[endpoint.kind], token, of_type=of_type
        )
        for endpoint in one_of_each_kind.values()
        for of_type in ("", "text/plain", "multipart/form-data; boundary=b", FORM, JSON)
        if of_type != TYPES[endpoint.kind]
    }

    assert {each.status_code for each in answers.values()} == {415}
    assert stored() == before


def test_too_large_a_body_is_refused_whether_announced_or_not(
    alice: Browser, things: Things
) -> None:
    before, token = stored(), alice.csrf
    one_of_each_limit = {(each.kind, each.max_body): each for each in CHANGES}

    for endpoint in one_of_each_limit.values():
        for content in (b" " * (endpoint.max_body + 1), iter([b" " * endpoint.max_body, b" "])):
            answer = posted(alice, things, endpoint, content, token)

            assert answer.status_code == 413, name_of(endpoint)
            assert is_told(endpoint, answer), name_of(endpoint)
    assert stored() == before


def test_body_limit_of_64_kib_holds_whatever_content_length_is_announced(
    alice: Browser,
) -> None:
    headers = {"Content-Type": FORM, "X-CSRF-Token": alice.csrf}

    for length in ("²", "9" * 5000, "-1", "one"):
        announced = [*headers.items(), ("Content-Length", length)]
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in announced]
        statuses = [
            alice.client.post("/catalogs", content=b"a" * size, headers=encoded).status_code
            for size in (MAX_BODY, MAX_BODY + 1)
        ]

        assert statuses == [400, 413], length


def posted(
    browser: Browser,
    things: Things,
    endpoint: Endpoint,
    content: bytes | Iterator[bytes],
    token: str,
    *,
    of_type: str | None = None,
) -> httpx2.Response:
    """Post the content, by default with the endpoint's own content type."""
    given = TYPES[endpoint.kind] if of_type is None else of_type
    return browser.client.request(
        endpoint.method,
        things.address(endpoint),
        content=content,
        headers={"X-CSRF-Token": token, **({"Content-Type": given} if given else {})},
        follow_redirects=False,
    )


def is_told(endpoint: Endpoint, answer: httpx2.Response) -> bool:
    """A sentence, and nothing of how we are made."""
    text = answer.json()["error"]["message"] if endpoint.kind is EndpointKind.API else answer.text
    return bool(re.search(r"The (request|form)\b[^.<]*\w\.", text)) and "Traceback" not in text
