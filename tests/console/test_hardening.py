"""
Headers of every answer, forbidden requests, and errors that reveal nothing of the implementation.
"""

import hashlib
import re
from pathlib import Path
from unittest.mock import Mock
from urllib.parse import quote, urlencode

import pytest

import stackroom_console
from stackroom.aws import session
from stackroom.errors import ServiceRefused, StoreUnavailable
from stackroom_console.console import Console
from stackroom_console.endpoint import EndpointKind
from stackroom_console.routes import ROUTES
from tests.console.browser import Browser
from tests.console.things import dropped, things_of
from tests.functions.pipeline import Pipeline

HERE = Path(stackroom_console.__file__).parent
TEMPLATES = sorted((HERE / "templates").rglob("*.html"))


def test_every_answer_has_the_security_headers(browser: Browser) -> None:
    for path in (
        "/sign-in",
        "/catalogs",
        "/nowhere",
        "/api/nowhere",
        "/static/console.js",
        "/api/agents",
    ):
        told = browser.get(path).headers

        policy = dict(
            each.strip().split(" ", 1) for each in told["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'self'", path
        assert policy["frame-ancestors"] == "'none'", path
        assert policy["form-action"] == "'self'", path
        assert policy["base-uri"] == policy["object-src"] == "'none'", path
        assert "unsafe" not in told["content-security-policy"], path
        assert told["x-content-type-options"] == "nosniff", path
        assert told["x-frame-options"] == "DENY", path
        assert told["referrer-policy"] == "same-origin", path
        assert told["strict-transport-security"].startswith("max-age="), path


def test_files_are_posted_to_the_bucket_alone_and_pages_are_kept_by_nobody(
    console: Console, browser: Browser
) -> None:
    page = browser.get("/sign-in")

    [connect] = re.findall("connect-src ([^;]*)", page.headers["content-security-policy"])
    [script] = re.findall(r'src="(/static/console.js\?v=[0-9a-f]+)"', page.text)
    assert connect == f"'self' {console.uploads}"
    assert console.uploads.startswith("https://stackroom-kb-docs-")
    assert page.headers["cache-control"] == "no-store"
    assert "immutable" in browser.get(script).headers["cache-control"]


def test_under_another_name_there_is_no_console(browser: Browser) -> None:
    for host in ("evil.test", "console.test:81", "console.test.evil.test", ""):
        answer = browser.get("/sign-in", Host=host)

        assert answer.status_code == 421, host
        assert "https://console.test/" in answer.text, host


def test_no_template_has_script_or_style_within_it_or_marks_a_text_safe() -> None:
    within = r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son[a-z]+=|hx-on|js:"
    texts = {path.name: path.read_text("utf-8") for path in TEMPLATES}

    assert texts
    assert [name for name, text in texts.items() if re.search(within, text)] == []
    assert [
        name for name, text in texts.items() if re.search(r"\|\s*safe|autoescape|Markup", text)
    ] == []


def test_unknown_addresses_and_methods_are_answered_with_an_error(alice: Browser) -> None:
    told = {
        ("PUT", "/catalogs"): 405,
        ("DELETE", "/catalogs"): 405,
        ("GET", "/sign-out"): 405,
        ("TRACE", "/catalogs"): 405,
        ("GET", "/static/../app.py"): 404,
        ("GET", "/static/%2e%2e/app.py"): 404,
        ("GET", "/catalogs/" + "a" * 5000): 404,
        ("GET", "/catalogs/%00"): 404,
        ("GET", "/catalogs/REJECTED%23alice"): 404,
        ("GET", "/catalogs?after=%00"): 404,
        ("GET", "/receipts/rcpt-x"): 404,
        ("GET", "/api/runs/" + "x" * 3000): 404,
    }

    answers = {each: alice.client.request(*each, follow_redirects=False) for each in told}

    assert {each: answer.status_code for each, answer in answers.items()} == told
    assert [each for each, answer in answers.items() if "Traceback" in answer.text] == []


def test_an_error_of_ours_says_what_to_do_and_nothing_of_how_we_are_made(
    alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, form = session.client("dynamodb"), {"name": "A", "csrf_token": alice.csrf}
    errors: dict[Exception, int] = {
        StoreUnavailable("Query", "InternalServerError"): 503,
        ServiceRefused("Query", "AccessDeniedException"): 503,
        RuntimeError("secret of ours"): 500,
    }
    for error, status in errors.items():
        for operation in ("query", "transact_write_items"):
            monkeypatch.setattr(client, operation, Mock(side_effect=error))

        page = alice.get("/catalogs")
        change = alice.send("/catalogs", form, **{"HX-Request": "true"})

        for answer in (page, change):
            assert answer.status_code == status
            assert "Try again" in answer.text
            for told in ("secret", "Query", "dynamodb", "Exception", "InternalServer"):
                assert told not in answer.text
        assert "<html" not in change.text


@pytest.mark.slow
def test_text_written_by_users_is_escaped_on_every_page(alice: Browser, pipeline: Pipeline) -> None:
    things = things_of(alice, pipeline, said="<script>alert(1)</script>\"'&")
    dropped(pipeline, "alice", things.catalog_id, "from right to left\u202e.txt")

    pages = {
        each.path: alice.get(things.address(each)).text
        for each in ROUTES
        if not each.changes and each.kind is EndpointKind.PAGE and not each.path.endswith("/export")
    }

    assert [path for path, text in pages.items() if re.search("<script>alert|\u202e", text)] == []
    assert {path for path, text in pages.items() if "&lt;script&gt;alert(1)" in text} >= {
        *("/agents", "/agents/{agent_id}", "/agents/{agent_id}/chat", "/catalogs"),
        *("/catalogs/{catalog_id}", "/receipts/{receipt_id}"),
    }


# Of a query, by the names that pages read.
PARAMETERS = (
    *("after", "catalog", "code", "error", "error_description", "file", "find", "from", "message"),
    *("most", "q", "query", "return_to", "search", "sort", "state", "threshold", "where"),
)


def test_text_of_an_address_is_escaped_on_every_page(alice: Browser) -> None:
    hostile = "<script>alert(1)</script>\"'&"
    query = urlencode(dict.fromkeys(PARAMETERS, hostile))
    pages = {each.path for each in ROUTES if not each.changes and each.kind is EndpointKind.PAGE}

    for path in pages:
        shown = alice.get(f"{re.sub('{[a-z_]+}', quote(hostile, ''), path)}?{query}")

        assert "<script>alert" not in shown.text, path


VENDORED = HERE / "static" / "vendor"


def test_vendored_files_match_their_checksums() -> None:
    lines = (VENDORED / "SHA256SUMS").read_text().splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    there = {
        str(path.relative_to(VENDORED)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDORED.rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }

    assert there == listed


def test_page_answers_503_while_sessions_cannot_be_checked(
    alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = Mock(side_effect=StoreUnavailable("GetItem", "ThrottlingException"))
    monkeypatch.setattr(session.client("dynamodb"), "get_item", down)

    assert alice.get("/catalogs").status_code == 503
