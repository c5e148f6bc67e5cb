"""
Who may call what: made from the route table, so that a new line of it can't be forgotten.

Nobody without a sign-in, no change without the page's own token, and nothing of another user's.
"""

from typing import Any

import httpx2
import pytest
from starlette.routing import Route

from stackroom.access.access_log import Access
from stackroom_console.app import console_app
from stackroom_console.console import Console
from stackroom_console.endpoint import Audience, Endpoint, EndpointKind
from stackroom_console.routes import ROUTES
from tests.console.browser import SESSION, Browser
from tests.console.provider import Provider
from tests.console.things import CHANGES, Things, dropped, indexed, name_of, new_catalog, stored
from tests.functions.pipeline import Pipeline

GUARDED = [each for each in ROUTES if each.audience is not Audience.ANYONE]
NAMING = [each for each in GUARDED if "{" in each.path]
ONE_OF_EACH_KIND = list({each.kind: each for each in CHANGES}.values())
NOBODYS = Things(
    catalog_id="cat-" + "0" * 24,
    document_id="doc-" + "0" * 24,
    receipt_id="rcpt-20260101T000000000000Z-00000000",
    agent_id="agent-0",
    tool_id="tool-0",
    run_id="run-0",
    chat_id="chat-" + "0" * 27,
)


def call(
    browser: Browser, endpoint: Endpoint, things: Things, token: str | None, **headers: str
) -> httpx2.Response:
    """Call an endpoint as our pages do, with these changes."""
    path, body = things.address(endpoint), things.body(endpoint)
    if token is not None:
        headers["X-CSRF-Token"] = token
    if not endpoint.changes:
        return browser.get(path, **headers)
    if endpoint.kind is EndpointKind.PAGE:
        return browser.send(path, {name: str(value) for name, value in body.items()}, **headers)
    return browser.client.request(
        endpoint.method, path, json=body, headers=headers, follow_redirects=False
    )


def test_every_page_requires_signing_in(browser: Browser) -> None:
    let_in = [
        name_of(each)
        for each in GUARDED
        if not is_refused(each, call(browser, each, NOBODYS, "any"))
    ]
    for cookie in ("alice", "gAAAAABo"):
        browser.client.cookies.set(SESSION, cookie, domain="console.test")
        let_in += [
            f"{name_of(each)} with {cookie}"
            for each in ONE_OF_EACH_KIND
            if not is_refused(each, call(browser, each, NOBODYS, "any"))
        ]

    assert let_in == []


def is_refused(endpoint: Endpoint, answer: httpx2.Response) -> bool:
    if endpoint.kind is EndpointKind.API:
        code = answer.json()["error"]["code"]
        return (answer.status_code, code) == (401, "NOT_SIGNED_IN")
    return answer.status_code == 303 and answer.headers["location"].startswith("/sign-in?")


def test_no_change_without_the_sessions_own_token(
    alice: Browser, bob: Browser, things: Things
) -> None:
    before, mine, bobs = stored(), alice.csrf, bob.csrf
    of_others: list[dict[str, Any]] = [{"token": None}, {"token": bobs}]
    of_other_sites: list[dict[str, Any]] = [
        {"token": "", "Sec-Fetch-Site": "same-origin"},
        {"token": mine, "Sec-Fetch-Site": "cross-site"},
        {"token": mine, "Sec-Fetch-Site": "same-site"},
    ]

    tried = [
        *((each, way) for each in CHANGES for way in of_others),
        *((each, way) for each in ONE_OF_EACH_KIND for way in of_other_sites),
    ]
    let_in = [
        (name_of(each), way)
        for each, way in tried
        if call(alice, each, things, **way).status_code != 403
    ]

    assert let_in == []
    assert stored() == before


def test_another_users_things_answer_404_as_things_that_never_existed(
    bob: Browser, things: Things
) -> None:
    before, token = stored(), bob.csrf

    anothers = {each: call(bob, each, things, token) for each in NAMING}
    nobodys = {each: call(bob, each, NOBODYS, token) for each in NAMING}

    assert {name_of(each): answer.status_code for each, answer in anothers.items()} == {
        name_of(each): 404 for each in NAMING
    }
    assert [shape(answer, things, token) for answer in anothers.values()] == [
        shape(answer, NOBODYS, token) for answer in nobodys.values()
    ]
    assert stored() == before


def shape(answer: httpx2.Response, things: Things, token: str) -> str:
    """But for the ids that whoever asked named."""
    text = answer.text.replace(token, "TOKEN")
    for name, value in vars(things).items():
        text = text.replace(value, name)
    return text


@pytest.mark.parametrize("kind", EndpointKind)
def test_each_of_these_is_a_change_that_its_owner_can_make(
    alice: Browser, things: Things, kind: EndpointKind
) -> None:
    """Else the tests above would hold for calls that nobody could make."""
    changes = [each for each in NAMING if each.changes and each.kind is kind]
    changes.sort(key=removes_how_much)

    answers = {name_of(each): call(alice, each, things, alice.csrf) for each in changes}

    assert [
        (change, answer.text)
        for change, answer in answers.items()
        if answer.status_code in (401, 403, 404)
    ] == []


def removes_how_much(endpoint: Endpoint) -> tuple[bool, int]:
    """Sort key: endpoints that remove a container come last."""
    is_removal = endpoint.method == "DELETE" or endpoint.path.endswith("/delete")
    return is_removal, -len(endpoint.path)


def test_looking_changes_nothing(alice: Browser, things: Things) -> None:
    before = stored()

    answers = {each.path: call(alice, each, things, None) for each in ROUTES if not each.changes}

    assert stored() == before
    operators = {each.path for each in ROUTES if each.audience is Audience.OPERATORS}
    refused = {path for path, each in answers.items() if each.status_code >= 400}
    assert refused == {"/sign-in/callback"} | operators


def test_a_bearer_token_of_our_client_is_taken_by_the_api_and_by_no_page(
    browser: Browser, provider: Provider, console: Console
) -> None:
    def asked(path: str, **claims: object) -> httpx2.Response:
        token = provider.access_token("alice", **claims)
        return browser.get(path, Authorization=f"Bearer {token}")

    assert asked("/api/agents").status_code == 200
    assert asked("/catalogs").status_code == 303
    # The console is no gateway: a token for one is not for it.
    for wrong in ({"exp": 1}, {"client_id": "another"}, {"aud": console.connection.mcp_url}):
        refused = asked("/api/agents", **wrong)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")


def test_every_route_of_the_app_is_in_the_access_table(console: Console) -> None:
    served = {
        (method, route.path)
        for route in console_app(console).routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }

    assert served == {(each.method, each.path) for each in ROUTES}
    assert len(ROUTES) == len(served)


TEXT = "Annual leave is thirty days for everyone."


def test_access_is_logged_with_user_and_documents_but_without_the_words(
    alice: Browser, pipeline: Pipeline, accesses: list[Access]
) -> None:
    catalog = new_catalog(alice)
    document = indexed(pipeline, "alice", catalog, "leave plans.txt", TEXT)

    alice.get(f"/catalogs/{catalog}")  # which is told of no more than
    alice.get("/ask")
    alice.get(f"/catalogs/{catalog}/documents/{document}/file?save")
    alice.get(f"/catalogs/{catalog}/documents/{document}?find=leave")
    alice.ask("How long is annual leave?", catalog=catalog)
    alice.get(f"/catalogs/{catalog}/documents/{document}/file")  # which leads on to
    alice.get(f"/catalogs/{catalog}/documents/{document}/text?from=leave")

    assert [(each.tool, each.document_id) for each in accesses] == [
        ("open_file", document),
        ("show_document", document),
        ("ask", None),
        ("read_text", document),
    ]
    for line in accesses:
        assert line.latency_ms >= 0
        assert (line.outcome, line.user_id, line.catalog_id) == ("success", "alice", catalog)
        assert line.document_ids == (document,)
        assert "leave" not in repr(line)


def test_refused_request_is_logged_with_its_user(
    alice: Browser, bob: Browser, pipeline: Pipeline, accesses: list[Access]
) -> None:
    catalog = new_catalog(alice)
    document = dropped(pipeline, "alice", catalog, "a.txt")

    bob.get(f"/catalogs/{catalog}/documents/{document}/file")
    bob.post("/ask", query="", catalog=catalog)

    opened, asked = accesses
    assert (opened.user_id, opened.outcome) == ("bob", "CATALOG_NOT_FOUND")
    assert (opened.document_id, opened.document_ids) == (document, ())
    assert (asked.user_id, asked.outcome, asked.document_ids) == ("bob", "VALIDATION_ERROR", ())
