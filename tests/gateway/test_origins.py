"""Clients that are pages in a browser: who may call from elsewhere, and what they may read."""

from collections.abc import Iterator

import httpx2
import pytest

from stackroom_local.gateway.origins import checked_origin
from tests.gateway.serving import RunningGateway, a_call, serving

INSPECTOR = "http://localhost:6274"
ELSEWHERE = "https://inspector.example"
CALLED = (
    "/mcp",
    "/issuer/token",
    "/issuer/register",
    "/issuer/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/issuer",
    "/.well-known/oauth-protected-resource/mcp",
)


@pytest.fixture(scope="module")
def open_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """A gateway that pages of two origins may call."""
    directory = tmp_path_factory.mktemp("origins")
    with serving(directory, origins=f"{INSPECTOR} {ELSEWHERE}") as running:
        yield running


def preflight(url: str, origin: str) -> httpx2.Response:
    """What a browser asks before a page's request goes out."""
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version",
    }
    return httpx2.options(url, headers=asked, timeout=120)


@pytest.mark.processes
@pytest.mark.parametrize("path", CALLED)
@pytest.mark.parametrize("origin", [INSPECTOR, ELSEWHERE])
def test_a_page_of_an_allowed_origin_may_call(
    open_gateway: RunningGateway, path: str, origin: str
) -> None:
    response = preflight(open_gateway.base + path, origin)

    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == origin
    assert "authorization" in response.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in response.headers


@pytest.mark.processes
@pytest.mark.parametrize("path", CALLED)
@pytest.mark.parametrize("origin", ["http://localhost:6275", "https://localhost:6274", "null"])
def test_a_page_of_any_other_origin_may_not(
    open_gateway: RunningGateway, path: str, origin: str
) -> None:
    response = preflight(open_gateway.base + path, origin)

    assert response.status_code == 400
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("path", CALLED)
def test_unless_it_is_asked_for_no_page_may_call(gateway: RunningGateway, path: str) -> None:
    response = preflight(gateway.base + path, INSPECTOR)

    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.processes
@pytest.mark.parametrize("path", ["/issuer/authorize", "/issuer/sign-in"])
def test_no_page_may_read_the_sign_in(open_gateway: RunningGateway, path: str) -> None:
    answers = [
        preflight(open_gateway.base + path, INSPECTOR),
        httpx2.get(open_gateway.base + path, headers={"Origin": INSPECTOR}, timeout=120),
    ]

    names = [name for answer in answers for name in answer.headers]
    assert not [name for name in names if name.startswith("access-control")]


@pytest.mark.processes
@pytest.mark.parametrize("origin", [INSPECTOR, ELSEWHERE])
def test_a_page_may_read_how_to_sign_in_and_what_a_tool_answers(
    open_gateway: RunningGateway, origin: str
) -> None:
    headers = [("Origin", origin)]
    token = open_gateway.issuer.mint("alice")

    refused = open_gateway.post(a_call(query="hi"), headers=headers)
    answered = open_gateway.post(a_call(query="hi"), headers=headers, token=token)

    assert (refused.status_code, answered.status_code) == (401, 200)
    for response in (refused, answered):
        assert response.headers["access-control-allow-origin"] == origin
        exposed = response.headers["access-control-expose-headers"].split(", ")
        assert {"WWW-Authenticate", "Mcp-Session-Id"} <= set(exposed)


@pytest.mark.processes
def test_a_call_with_a_foreign_origin_is_refused_though_its_token_is_good(
    open_gateway: RunningGateway,
) -> None:
    headers = [("Origin", "https://attacker.example")]
    token = open_gateway.issuer.mint("alice")

    response = open_gateway.post(a_call(query="hi"), headers=headers, token=token)

    assert response.status_code == 403


@pytest.mark.parametrize(
    "origin", [INSPECTOR, ELSEWHERE, "http://127.0.0.1:6274", "http://[::1]:6274"]
)
def test_an_origin_is_as_a_browser_says_it(origin: str) -> None:
    assert checked_origin(origin) == origin


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "null",
        "",
        "localhost:6274",
        "http://localhost:6274/",
        "http://localhost:6274/path",
        "http://Localhost:6274",
        "HTTP://localhost:6274",
        "http://localhost:99999",
        "http://localhost:port",
        "http://user@localhost:6274",
        "http://localhost:6274?x",
        "http://[::1",
        "http://",
        "ftp://localhost",
        "http://localhost:80",
        "https://inspector.example:443",
    ],
)
def test_what_no_browser_would_say_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no origin|never comes from a browser") as refusal:
        checked_origin(text)

    assert repr(text) in str(refusal.value)
