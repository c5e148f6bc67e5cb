"""What every answer tells browsers, what no request may be, and that errors tell nothing of us."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import stackroom_console
from stackroom.aws import session
from stackroom.errors import ServiceRefused, StoreUnavailable
from stackroom_console.console import Console
from tests.console.browser import Browser
from tests.console.provider import Provider
from tests.console.things import AGENT

HERE = Path(stackroom_console.__file__).parent
TEMPLATES = sorted((HERE / "templates").rglob("*.html"))
FORM = "application/x-www-form-urlencoded"
LARGEST = 64 * 1024  # bytes of a body


def test_every_answer_has_what_keeps_a_browser_from_harm(browser: Browser) -> None:
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


def test_files_are_posted_to_the_bucket_and_nowhere_else(console: Console, alice: Browser) -> None:
    policy = alice.get("/catalogs").headers["content-security-policy"]

    [connect] = re.findall("connect-src ([^;]*)", policy)
    assert connect == f"'self' {console.uploads}"
    assert console.uploads.startswith("https://stackroom-kb-docs-")


def test_pages_are_kept_by_nobody_and_files_until_they_change(browser: Browser) -> None:
    page = browser.get("/sign-in")
    [script] = re.findall(r'src="(/static/console.js\?v=[0-9a-f]+)"', page.text)

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


@pytest.mark.parametrize("length", [None, "²", "9" * 5000, "-1", "one"])
def test_a_body_of_64_kib_is_read_and_no_byte_more_however_its_length_is_announced(
    alice: Browser, length: str | None
) -> None:
    headers = {"Content-Type": FORM, "X-CSRF-Token": alice.csrf}
    announced = {} if length is None else {"Content-Length": length}
    path = "/catalogs"

    read, refused = (
        alice.client.post(
            path,
            content=b"a" * size,
            headers=[
                (name.encode(), value.encode("latin-1"))
                for name, value in {**headers, **announced}.items()
            ],
        )
        for size in (LARGEST, LARGEST + 1)
    )

    assert (read.status_code, refused.status_code) == (400, 413)


def test_what_is_too_large_is_refused_before_all_of_it_has_come(alice: Browser) -> None:
    sent = []

    def endless() -> Iterator[bytes]:
        for number in range(1000):
            sent.append(number)
            yield b"a" * 16_384

    token = alice.csrf
    answer = alice.client.post(
        "/catalogs", content=endless(), headers={"Content-Type": FORM, "X-CSRF-Token": token}
    )

    assert answer.status_code == 413


def test_addresses_and_methods_that_are_none_are_told_so(alice: Browser) -> None:
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


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreUnavailable("Query", "InternalServerError"), 503),
        (ServiceRefused("Query", "AccessDeniedException"), 503),
        (RuntimeError("secret of ours"), 500),
    ],
)
def test_an_error_of_ours_says_what_to_do_and_nothing_of_how_we_are_made(
    alice: Browser, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    token = alice.csrf

    def failing(*_args: object, **_more: object) -> None:
        raise error

    client = session.client("dynamodb")
    monkeypatch.setattr(client, "query", failing)
    monkeypatch.setattr(client, "transact_write_items", failing)

    page = alice.get("/catalogs")
    change = alice.send("/catalogs", {"name": "A", "csrf_token": token}, **{"HX-Request": "true"})

    for answer in (page, change):
        assert answer.status_code == status
        assert "Try again" in answer.text
        for told in ("secret", "Query", "dynamodb", "Exception", "InternalServer"):
            assert told not in answer.text
    assert "<html" not in change.text


def test_who_can_not_be_told_is_nobody(
    alice: Browser, monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    def failing(**_more: object) -> None:
        raise StoreUnavailable("GetItem", "ThrottlingException")

    monkeypatch.setattr(session.client("dynamodb"), "get_item", failing)

    assert alice.get("/catalogs").status_code == 503


def test_the_first_page_is_small(alice: Browser) -> None:
    page = alice.get("/catalogs")
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)

    sent = len(page.content)
    for each in files:
        answer = alice.client.get(each, headers={"Accept-Encoding": "gzip"})
        sent += answer.num_bytes_downloaded

    assert len(files) >= 5
    assert sent < 100_000


def test_a_number_of_a_query_is_in_its_range_however_it_is_written(alice: Browser) -> None:
    made = alice.call("POST", "/api/agents", AGENT).json()["data"]["agent"]
    path = f"/api/agents/{made['id']}/available-knowledge-bases"

    for name in ("limit", "offset"):
        for number in ("0" * 9 + "9" * 5000, "0" * 12 + "101", "1" + "0" * 9, "-1"):
            answer = alice.get(f"{path}?{name}={number}")

            told = answer.json()["error"]["message"]
            assert answer.status_code == 400, (name, number)
            assert told.startswith(f"{name}: Allowed: a whole number"), (name, number)
