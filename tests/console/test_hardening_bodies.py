"""A body that can't be read changes nothing, whatever it was sent for; and says what is allowed."""

import logging
import re
from collections.abc import Iterator

import httpx2
import pytest

from stackroom_console.bodies import FORM, JSON
from stackroom_console.endpoint import MAX_BODY, Endpoint, Kind
from tests.console.browser import Browser
from tests.console.test_access import CHANGES, stored, told
from tests.console.things import Things

TYPES = {Kind.PAGE: FORM, Kind.API: JSON}
READABLE = {Kind.PAGE: b"name=A", Kind.API: b"{}"}
UNREADABLE = {
    Kind.PAGE: {
        "no UTF-8": b"name=\xff\xfe",
        "no UTF-8 once read": b"name=%ff%fe",
        "half of a pair": b"name=%ed%a0%80",
        "a field twice": b"name=a&name=b",
        "too many fields": b"&".join(b"f%d=" % each for each in range(101)),
    },
    Kind.API: {
        "nothing of JSON": b"name=A",
        "broken off": b'{"name": "A"',
        "more behind it": b'{"name": "A"} {}',
        "a list": b"[]",
        "nothing": b"null",
        "too deep": b"[" * 60_000,
        "deep and closed": b'{"name": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        "a member twice": b'{"name": "A", "name": "B"}',
        "not a number": b'{"name": NaN}',
        "beyond all numbers": b'{"name": 1e999}',
        "more digits than are read": b'{"name": ' + b"9" * 5_000 + b"}",
        "half of a pair": b'{"name": "\\ud800"}',
        "a name that is half of a pair": b'{"\\udfff": 1}',
        "no UTF-8": b'{"name": "\xff"}',
        "NUL": b'{"name": "\x00"}',
    },
}


def test_what_can_not_be_read_is_refused_and_changes_nothing(
    alice: Browser, things: Things, caplog: pytest.LogCaptureFixture
) -> None:
    before, token = stored(), alice.csrf
    one_of_each_kind = {each.kind: each for each in CHANGES}

    refused = {
        (told(endpoint), why): (endpoint, sent(alice, things, endpoint, content, token))
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

    answers = {
        (told(endpoint), of_type): sent(
            alice, things, endpoint, READABLE[endpoint.kind], token, of_type=of_type
        )
        for endpoint in CHANGES
        for of_type in ("", "text/plain", "multipart/form-data; boundary=b", FORM, JSON)
        if of_type != TYPES[endpoint.kind]
    }

    assert {each.status_code for each in answers.values()} == {415}
    assert stored() == before


def test_no_change_takes_a_body_that_is_too_large_whether_it_says_so_or_not(
    alice: Browser, things: Things
) -> None:
    before, token = stored(), alice.csrf

    for endpoint in CHANGES:
        for content in (b" " * (endpoint.max_body + 1), iter([b" " * endpoint.max_body, b" "])):
            answer = sent(alice, things, endpoint, content, token)

            assert answer.status_code == 413, told(endpoint)
            assert is_told(endpoint, answer), told(endpoint)
    assert stored() == before


def test_a_body_of_64_kib_is_read_and_no_byte_more_however_its_length_is_announced(
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


def sent(
    browser: Browser,
    things: Things,
    endpoint: Endpoint,
    content: bytes | Iterator[bytes],
    token: str,
    *,
    of_type: str | None = None,
) -> httpx2.Response:
    """As the endpoint's own type, unless another is said."""
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
    text = answer.json()["error"]["message"] if endpoint.kind is Kind.API else answer.text
    return bool(re.search(r"The (request|form)\b[^.<]*\w\.", text)) and "Traceback" not in text
