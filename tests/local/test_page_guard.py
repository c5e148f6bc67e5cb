"""Pages of other sites can do nothing at the local servers, in anybody's browser."""

import asyncio

import httpx
import pytest
from starlette.responses import PlainTextResponse

from bedrock_kb_simulator.page_guard import PageGuard
from stackroom_local.ministack.__main__ import ASKED, INNER
from stackroom_local.state import Instance

CONSOLE = "http://127.0.0.1:4569"
SIGNED = "X-Amz-Signature=0a&X-Amz-Credential=AKIA%2Fs3"
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}


def status(method: str, path: str, headers: dict[str, str], *, host: str = "127.0.0.1:4566") -> int:
    guarded = PageGuard(PlainTextResponse("served"), [CONSOLE], inner=INNER, allowed=ASKED)
    asked = httpx.Request(method, f"http://127.0.0.1:4566{path}", headers={**headers, "host": host})

    async def answer() -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guarded)) as client:
            return (await client.send(asked)).status_code

    return asyncio.run(answer())


@pytest.mark.parametrize(
    "host", ["127.0.0.1:4566", "localhost:4566", "localhost", "docs.localhost"]
)
def test_programs_are_served_by_each_name_of_this_machine(host: str) -> None:
    assert status("POST", "/", {}, host=host) == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example:4566", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.7", ""],
)
def test_a_name_that_only_resolves_here_is_refused(host: str) -> None:
    assert status("POST", "/", {}, host=host) == 403


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_no_page_is_served_but_those_of_named_origins(method: str) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:3000", ""):
        assert status(method, "/bucket/a.txt", {"origin": origin}) == 403
    assert status(method, "/bucket/a.txt", {"origin": CONSOLE}) == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_subresource_request_without_an_origin_is_refused(site: str) -> None:
    loaded = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}

    assert status("GET", "/?Action=DeleteQueue", loaded) == 403
    assert status("GET", f"/bucket/a.txt?{SIGNED}", loaded) == 403
    assert status("GET", "/bucket/a.txt", {**loaded, "sec-fetch-site": "none"}) == 200


def test_a_presigned_link_may_be_followed_from_anywhere_and_starts_nothing() -> None:
    assert status("GET", f"/bucket/a.txt?{SIGNED}", LINK) == 200
    assert status("GET", "/bucket/a.txt", LINK) == 403
    assert status("GET", f"/?Action=DeleteQueue&{SIGNED}", LINK) == 403
    assert status("POST", f"/bucket/a.txt?{SIGNED}", LINK) == 403


@pytest.mark.parametrize("path", ["/_ministack/reset", "/_ministack/config", "/_localstack/init"])
def test_requests_to_reset_or_configure_the_server_are_refused(path: str) -> None:
    assert status("POST", path, {}) == 403
    assert status("GET", "/_ministack/health", {}) == 200


@pytest.mark.parametrize("server", ["aws_endpoint", "simulator_endpoint"])
def test_page_guard_applies_to_every_server(instance: Instance, server: str) -> None:
    """The gateway's pages: tests/gateway/test_cors.py; the console's: tests/console."""
    url = f"{getattr(instance, server)}/health"
    foreign = (
        {"origin": "https://evil.example"},
        {"host": "evil.example"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    )

    assert httpx.get(url).status_code != 403, "a program is served"
    for headers in foreign:
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
            assert httpx.request(method, url, headers=headers).status_code == 403, headers
