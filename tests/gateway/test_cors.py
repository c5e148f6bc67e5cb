"""Clients that are pages in a browser: who may call from elsewhere, and what they may read."""

import httpx2
import pytest

from tests.gateway.conftest import ELSEWHERE, INSPECTOR
from tests.gateway.serving import RunningGateway

CALLED = (
    "/mcp",
    "/issuer/token",
    "/issuer/register",
    "/issuer/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/issuer",
    "/.well-known/oauth-protected-resource/mcp",
)


def preflight(url: str, origin: str) -> httpx2.Response:
    """Send the preflight request of a browser."""
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version",
    }
    return httpx2.options(url, headers=asked, timeout=120)


@pytest.mark.processes
def test_a_page_of_an_allowed_origin_may_call_and_of_any_other_may_not(
    lenient_gateway: RunningGateway,
) -> None:
    for path in CALLED:
        for origin in (INSPECTOR, ELSEWHERE):
            headers = preflight(lenient_gateway.base + path, origin).headers
            assert headers["access-control-allow-origin"] == origin
            assert "authorization" in headers["access-control-allow-headers"]
            assert "access-control-allow-credentials" not in headers
        for origin in ("http://localhost:6275", "https://localhost:6274", "null"):
            response = preflight(lenient_gateway.base + path, origin)
            assert response.status_code == 400, origin
            assert "access-control-allow-origin" not in response.headers, origin


@pytest.mark.processes
def test_no_page_may_read_the_sign_in_nor_call_unless_it_is_asked_for(
    gateway: RunningGateway, lenient_gateway: RunningGateway
) -> None:
    answers = [preflight(gateway.base + path, INSPECTOR) for path in CALLED]
    for path in ("/issuer/authorize", "/issuer/sign-in"):
        url = lenient_gateway.base + path
        answers.append(preflight(url, INSPECTOR))
        answers.append(httpx2.get(url, headers={"Origin": INSPECTOR}, timeout=120))

    assert [str(each.url) for each in answers if tells_of_origins(each)] == []


def tells_of_origins(response: httpx2.Response) -> bool:
    return any(name.startswith("access-control") for name in response.headers)
