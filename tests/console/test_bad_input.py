"""Fields filled in as nobody should, and bodies that can't be read: told, and nothing is kept."""

import json
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape

import httpx2
import pytest

from stackroom_agents.user_agents.exchange import LARGEST
from stackroom_agents.user_agents.runs import LONGEST_MESSAGE
from stackroom_console.endpoint import MAX_BODY, Endpoint, EndpointKind
from stackroom_console.request_body import FORM, JSON
from tests.console.browser import Browser
from tests.console.things import CHANGES, Things, name_of, stored


@dataclass(frozen=True, kw_only=True)
class Text:
    good: str
    longest: int
    may_be_empty: bool = False


@dataclass(frozen=True, kw_only=True)
class Number:
    good: float
    least: int
    most: int
    is_whole: bool = True
    may_be_empty: bool = False


Field = Text | Number

_ABOUT = Text(good="About", longest=500, may_be_empty=True)
_AGENT: Mapping[str, Field] = {
    "name": Text(good="Mine", longest=100),
    "description": _ABOUT,
    "model": Text(good="amazon.nova-lite-v1:0", longest=2048),
    "system_prompt": Text(good="Be kind.", longest=20_000, may_be_empty=True),
}
_LINK: Mapping[str, Field] = {
    "toolName": Text(good="search_mine", longest=64),
    "toolDescription": Text(good="Mine", longest=500),
    "defaultTopK": Number(good=5, least=1, most=20),
    "defaultMinScore": Number(good=0.5, least=0, most=1, is_whole=False),
}
_FORM: Mapping[str, Field] = {
    "tool_name": _LINK["toolName"],
    "tool_description": _LINK["toolDescription"],
    "top_k": _LINK["defaultTopK"],
    "min_score": _LINK["defaultMinScore"],
}
_MESSAGE: Mapping[str, Field] = {"message": Text(good="Why?", longest=LONGEST_MESSAGE)}
_VERDICT = Text(good="up", longest=len("kept"))
_NOTE = Text(good="Wrong page", longest=500, may_be_empty=True)
_LINKS = "/api/agents/{agent_id}/knowledge-base-tools"
FIELDS: Mapping[tuple[str, str], Mapping[str, Field]] = {
    ("POST", "/catalogs"): {"name": Text(good="Harbours", longest=100), "description": _ABOUT},
    ("POST", "/catalogs/{catalog_id}/edit"): {
        "name": Text(good="Harbours", longest=100),
        "description": _ABOUT,
    },
    ("POST", "/catalogs/{catalog_id}/uploads"): {
        "filename": Text(good="a.txt", longest=1024),
        "size": Number(good=1, least=1, most=50 * 1024 * 1024),
    },
    ("POST", "/catalogs/{catalog_id}/selected"): {},
    ("POST", "/catalogs/{catalog_id}/selected/delete"): {
        "done": Number(good=0, least=0, most=100, may_be_empty=True),
    },
    ("POST", "/ask"): {
        "query": Text(good="Why?", longest=1000),
        "most": Number(good=5, least=1, most=20, may_be_empty=True),
        "threshold": Number(good=0.5, least=0, most=1, is_whole=False, may_be_empty=True),
    },
    ("POST", "/ask/threshold"): {"threshold": _LINK["defaultMinScore"]},
    ("POST", "/theme"): {"theme": Text(good="dark", longest=len("system"))},
    ("POST", "/ask/feedback"): {
        "verdict": _VERDICT,
        "question": Text(good="Why?", longest=1000),
        "file": Text(good="a.txt", longest=1024, may_be_empty=True),
        "page": Number(good=5, least=1, most=1_000_000, may_be_empty=True),
        "note": _NOTE,
    },
    ("POST", "/ask/test-questions/remove"): {},
    ("POST", "/runs/{run_id}/feedback"): {"verdict": _VERDICT, "note": _NOTE},
    ("POST", "/chat"): _MESSAGE,
    ("POST", "/chat/continue"): {"said": Text(good="Yes.", longest=20_000)},
    ("POST", "/agents"): _AGENT,
    ("POST", "/agents/import"): {"agent": Text(good="{}", longest=LARGEST)},
    ("POST", "/agents/{agent_id}"): _AGENT,
    ("POST", "/agents/{agent_id}/chat"): _MESSAGE,
    ("POST", "/agents/{agent_id}/chat/{chat_id}"): _MESSAGE,
    ("POST", "/agents/{agent_id}/chat/{chat_id}/rename"): {
        "title": Text(good="Plans", longest=100),
    },
    ("POST", "/agents/{agent_id}/test"): _MESSAGE,
    ("POST", "/agents/{agent_id}/knowledge-bases"): {},
    ("POST", "/agents/{agent_id}/knowledge-bases/{knowledge_base_id}"): _FORM,
    ("POST", "/agents/{agent_id}/tools/{tool_id}/edit"): _FORM,
    ("POST", "/api/agents"): _AGENT,
    ("PATCH", "/api/agents/{agent_id}"): _AGENT,
    ("POST", _LINKS): _LINK,
    ("PATCH", _LINKS + "/{tool_id}"): _LINK,
    ("POST", "/api/agents/{agent_id}/runs"): _MESSAGE,
}
# They are told all by their addresses.
BODILESS = {
    ("POST", "/sign-out"),
    ("POST", "/sign-out/everywhere"),
    ("POST", "/catalogs/sample"),
    ("POST", "/catalogs/{catalog_id}/delete"),
    ("POST", "/catalogs/{catalog_id}/retry"),
    ("POST", "/catalogs/{catalog_id}/documents/{document_id}/retry"),
    ("POST", "/catalogs/{catalog_id}/documents/{document_id}/ingest-again"),
    ("POST", "/catalogs/{catalog_id}/documents/{document_id}/delete"),
    ("POST", "/agents/{agent_id}/chat/{chat_id}/delete"),
    ("POST", "/agents/{agent_id}/delete"),
    ("POST", "/agents/{agent_id}/test/over"),
    ("POST", "/agents/{agent_id}/tools/{tool_id}/delete"),
    ("POST", "/runs/{run_id}/cancel"),
    ("DELETE", "/api/agents/{agent_id}"),
    ("DELETE", "/api/agents/{agent_id}/tools/{tool_id}"),
    ("POST", "/api/runs/{run_id}/cancel"),
}
# A form's fields are told by the labels that stand beside them, where these say more.
LABELS = {
    "system_prompt": "instructions",
    "tool_name": "tool name",
    "tool_description": "tool description",
    "top_k": "top k results",
    "min_score": "similarity threshold",
    "threshold": "similarity threshold",
    "message": "question",
    "query": "question",
    "most": "number of passages",
    "said": "answer",
    "agent": "the file",
}


def test_no_change_is_forgotten_here() -> None:
    assert {(each.method, each.path) for each in CHANGES} == {*FIELDS, *BODILESS}


def test_invalid_form_field_is_named_and_nothing_is_stored(
    alice: Browser, things: Things, caplog: pytest.LogCaptureFixture
) -> None:
    before, token = stored(), alice.csrf

    untold = []
    for endpoint in CHANGES:
        for name, value in bad(endpoint):
            answer = sent(alice, things, endpoint, {name: value}, token)
            if answer.status_code != 400 or not is_named(endpoint, name, answer):
                seen = (answer.status_code, sentence(answer)[:300])
                untold.append((name_of(endpoint), name, str(value)[:50], *seen))

    assert untold == []
    assert stored() == before
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


def bad(endpoint: Endpoint) -> Iterator[tuple[str, object]]:
    """A field of the endpoint, and what it doesn't take."""
    is_api = endpoint.kind is EndpointKind.API
    for name, field in fields_of(endpoint).items():
        for value in bad_texts(field) if isinstance(field, Text) else bad_numbers(field, is_api):
            yield name, value
        if is_api:
            for value in ([], {}, True, 7 if isinstance(field, Text) else "5"):
                yield name, value


def bad_texts(field: Text) -> Iterator[str]:
    yield "a" * (field.longest + 1)
    if not field.may_be_empty:
        yield from ("", " \t\n")
    for unseen in ("\x07", "\u202e"):
        yield f"{field.good}{unseen}b"


def bad_numbers(field: Number, is_api: bool) -> Iterator[object]:
    yield from (field.least - 1, field.most + 1, 10**400 if is_api else "9" * 5000)
    if field.is_whole:
        yield 1.5
    if not is_api:
        yield from () if field.may_be_empty else ("",)
        yield from ("five", "NaN", "\u0665", "1_0")


def fields_of(endpoint: Endpoint) -> Mapping[str, Field]:
    return FIELDS.get((endpoint.method, endpoint.path), {})


def sent(
    browser: Browser, things: Things, endpoint: Endpoint, given: dict[str, object], token: str
) -> httpx2.Response:
    """Send the value, with all other fields valid."""
    good = {name: field.good for name, field in fields_of(endpoint).items()}
    body = {**good, **things.body(endpoint), **given}
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


def is_named(endpoint: Endpoint, name: str, answer: httpx2.Response) -> bool:
    text = sentence(answer).lower()
    labels = LABELS if endpoint.kind is EndpointKind.PAGE else {"size": "the file"}
    called = labels.get(name, name).lower()
    is_bounded = "allowed" in text or "limit" in text or called == "the file"
    return called in text and is_bounded


def test_line_break_counts_as_one_character_though_browser_sends_two(
    alice: Browser,
) -> None:
    lines = "a\r\n" * (_ABOUT.longest // 2)

    assert alice.post("/catalogs", name="Lines", description=lines).status_code == 303


TYPES = {EndpointKind.PAGE: FORM, EndpointKind.API: JSON}
READABLE = {EndpointKind.PAGE: b"name=A", EndpointKind.API: b"{}"}
UNREADABLE = {
    EndpointKind.PAGE: {
        "no UTF-8": b"name=\xff\xfe",
        "no UTF-8 once read": b"name=%ff%fe",
        "half of a pair": b"name=%ed%a0%80",
        "a field twice": b"name=a&name=b",
        "too many fields": b"&".join(b"f%d=" % each for each in range(129)),
    },
    EndpointKind.API: {
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

    answers = {
        (name_of(endpoint), of_type): posted(
            alice, things, endpoint, READABLE[endpoint.kind], token, of_type=of_type
        )
        for endpoint in CHANGES
        for of_type in ("", "text/plain", "multipart/form-data; boundary=b", FORM, JSON)
        if of_type != TYPES[endpoint.kind]
    }

    assert {each.status_code for each in answers.values()} == {415}
    assert stored() == before


def test_every_change_refuses_too_large_a_body_whether_announced_or_not(
    alice: Browser, things: Things
) -> None:
    before, token = stored(), alice.csrf

    for endpoint in CHANGES:
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
