"""What every answer tells browsers, what no request may be, and that errors tell nothing of us."""

import re
from collections.abc import Iterator, Mapping
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


@pytest.mark.parametrize(
    "path",
    ["/sign-in", "/catalogs", "/nowhere", "/api/nowhere", "/static/console.js", "/api/agents"],
)
def test_every_answer_has_what_keeps_a_browser_from_harm(browser: Browser, path: str) -> None:
    answer = browser.get(path)

    policy = dict(
        each.strip().split(" ", 1) for each in answer.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert policy["base-uri"] == policy["object-src"] == "'none'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["strict-transport-security"].startswith("max-age=")


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


@pytest.mark.parametrize("host", ["evil.test", "console.test:81", "console.test.evil.test", ""])
def test_under_another_name_there_is_no_console(browser: Browser, host: str) -> None:
    answer = browser.get("/sign-in", Host=host)

    assert answer.status_code == 421
    assert "https://console.test/" in answer.text


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_script_or_style_within_it_or_marks_a_text_safe(template: Path) -> None:
    text = template.read_text("utf-8")

    assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son[a-z]+=|hx-on|js:", text)
    assert not re.search(r"\|\s*safe|autoescape|Markup", text)


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"a" * (LARGEST + 1), {"Content-Type": FORM}, 413),
        (b"name=a", {"Content-Type": "text/plain"}, 415),
        (b"name=a", {}, 415),
        (b"name=\xff", {"Content-Type": FORM}, 400),
        (b"name=%ff", {"Content-Type": FORM}, 400),
        (b"name=a&name=b", {"Content-Type": FORM}, 400),
        (b"&".join(b"f%d=" % each for each in range(101)), {"Content-Type": FORM}, 400),
        (b"{}", {"Content-Type": "application/json"}, 415),
    ],
)
def test_a_form_is_a_small_one_in_its_one_encoding(
    alice: Browser, content: bytes, headers: Mapping[str, str], status: int
) -> None:
    answer = alice.client.post(
        "/catalogs", content=content, headers={**headers, "X-CSRF-Token": alice.csrf}
    )

    assert answer.status_code == status


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


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'"a"', 400),
        (b'{"a": NaN}', 400),
        (b'{"a": 1e999}', 400),
        (b'{"a": 1, "a": 2}', 400),
        (b'{"a": "\\ud800"}', 400),
        (b"[" * 60_000, 400),
        (b"\xff", 400),
        (b" " * LARGEST, 400),
        (b" " * (LARGEST + 1), 413),
    ],
)
def test_json_is_an_object_that_json_can_say(alice: Browser, content: bytes, status: int) -> None:
    answer = alice.client.post(
        "/catalogs/cat-" + "0" * 24 + "/uploads",
        content=content,
        headers={"Content-Type": "application/json", "X-CSRF-Token": alice.csrf},
    )

    assert answer.status_code == status
    assert answer.json()["success"] is False


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "/catalogs", 405),
        ("DELETE", "/catalogs", 405),
        ("GET", "/sign-out", 405),
        ("TRACE", "/catalogs", 405),
        ("GET", "/static/../app.py", 404),
        ("GET", "/static/%2e%2e/app.py", 404),
        ("GET", "/catalogs/" + "a" * 5000, 404),
        ("GET", "/catalogs/%00", 404),
        ("GET", "/catalogs/REJECTED%23alice", 404),
        ("GET", "/catalogs?after=%00", 404),
        ("GET", "/receipts/rcpt-x", 404),
    ],
)
def test_addresses_and_methods_that_are_none_are_told_so(
    alice: Browser, method: str, path: str, status: int
) -> None:
    answer = alice.client.request(method, path, follow_redirects=False)

    assert answer.status_code == status
    assert "Traceback" not in answer.text


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


@pytest.mark.parametrize("name", ["limit", "offset"])
@pytest.mark.parametrize("number", ["0" * 9 + "9" * 5000, "0" * 12 + "101", "1" + "0" * 9, "-1"])
def test_a_number_of_a_query_is_in_its_range_however_it_is_written(
    alice: Browser, name: str, number: str
) -> None:
    made = alice.call("POST", "/api/agents", AGENT).json()["data"]["agent"]
    path = f"/api/agents/{made['id']}/available-knowledge-bases"

    answer = alice.get(f"{path}?{name}={number}")

    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(f"{name}: Allowed: a whole number")


@pytest.mark.parametrize("length", ["²", "9" * 5000, "-1", "one"])
def test_however_a_length_is_announced_no_more_is_read_than_may_come(
    alice: Browser, length: str
) -> None:
    headers = {"Content-Type": FORM, "X-CSRF-Token": alice.csrf, "Content-Length": length}

    answer = alice.client.post(
        "/catalogs",
        content=b"a" * (LARGEST + 1),
        headers=[(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    )

    assert answer.status_code == 413
