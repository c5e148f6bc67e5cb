"""Tests of the console as an HTTP API calls it; tests/console covers its pages."""

import asyncio
import gzip
import json
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterator, Sequence
from functools import partial
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.exceptions import ClientError

from functions.console import handler as function
from stackroom.access.access_log import EVENT
from stackroom.aws import session
from stackroom_console import wiring
from stackroom_console.openid_provider import CALLBACK, OpenIdProvider
from stackroom_console.rendering import STATIC
from stackroom_console.sealed_cookies import seal_key
from tests.console.provider import CLIENT, ISSUER, Provider
from tests.functions.pipeline import Pipeline
from tests.functions.printed import listening
from tests.functions.tools import MODEL
from tests.support.lambda_context import Context

HOST = "abc123.execute-api.us-east-1.amazonaws.com"
SECRET = "a" * 64


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def console(
    pipeline: Pipeline, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Start the console with infra/console.py's variables, and an issuer in this process."""
    secret = session.client("secretsmanager").create_secret(Name="key", SecretString=SECRET)
    for name, value in {
        "ANSWER_MODEL_ARN": MODEL,
        "AGENT_RUNS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/agent-runs",
        "CONSOLE_URL": f"https://{HOST}",
        "CONSOLE_CLIENT_ID": CLIENT,
        "DASHBOARD_NAME": "stackroom",
        "CONSOLE_KEY_ARN": secret["ARN"],
        "IDENTITY_ISSUER": ISSUER,
        "IDENTITY_JWKS_URL": f"{ISSUER}/jwks.json",
        "MCP_URL": "https://gateway.test/mcp",
        "IDENTITY_CLIENT_IDS": json.dumps([CLIENT, "agents"]),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(
        wiring, "OpenIdProvider", partial(OpenIdProvider, transport=provider.transport)
    )
    monkeypatch.setattr(wiring, "published_keys", lambda _url: provider)
    function.asgi_handler.cache_clear()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # Mangum uses the thread's loop; nobody would close one of its own
    yield
    asyncio.set_event_loop(None)
    loop.close()
    function.asgi_handler.cache_clear()


def call(
    method: str, path: str, *, query: str = "", cookies: Sequence[str] = (), **headers: str
) -> dict[str, Any]:
    """
    Call the function as an HTTP API does, in payload format 2.0.
    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
    """
    event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "cookies": list(cookies),
        "headers": {"host": HOST, "x-forwarded-proto": "https", "x-forwarded-port": "443"}
        | {name.replace("_", "-"): value for name, value in headers.items()},
        "requestContext": {
            "apiId": "abc123",
            "domainName": HOST,
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "a browser",
            },
            "requestId": "JKJaXmPLvHcESHA=",
            "stage": "$default",
        },
        "isBase64Encoded": False,
    }
    return function.handler(event, Context())  # type: ignore[arg-type] # the members that are used


def test_sign_in_creates_a_session_and_file_access_is_logged(
    console: None,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    begun = call("GET", "/sign-in/begin")
    issuers = begun["headers"]["location"]
    back = urlsplit(provider.sign_in(issuers, "alice"))
    ended = call("GET", back.path, query=back.query, cookies=_kept(begun))
    page = call("GET", "/catalogs", cookies=_kept(ended))
    printed = listening([function.logger], monkeypatch, capsys)
    document = "doc-" + "0" * 24
    call("GET", f"/catalogs/cat-{'0' * 24}/documents/{document}/file", cookies=_kept(ended))

    assert (begun["statusCode"], ended["statusCode"]) == (303, 303)
    assert issuers.startswith(f"{ISSUER}/authorize?")
    query = parse_qs(urlsplit(issuers).query)
    assert (query["client_id"], query["code_challenge_method"]) == ([CLIENT], ["S256"])
    assert query["redirect_uri"] == [f"https://{HOST}{CALLBACK}"]
    assert page["statusCode"] == 200
    assert "alice" in page["body"]
    line = printed.line(EVENT)
    assert (line["user_id"], line["tool"]) == ("alice", "open_file")
    assert (line["document_id"], line["outcome"]) == (document, "CATALOG_NOT_FOUND")
    assert line["document_ids"] == ""  # one text, for Logs Insights
    [morsel] = SimpleCookie(begun["cookies"][0]).values()
    assert morsel.key.startswith("__Host-")
    assert morsel["secure"]
    assert morsel["httponly"]
    assert morsel["samesite"].lower() == "lax"


def test_compressed_file_arrives_complete(console: None) -> None:
    style = max(STATIC.rglob("*.css"), key=lambda each: each.stat().st_size)

    answer = call("GET", f"/static/{style.relative_to(STATIC)}", accept_encoding="gzip")

    assert answer["headers"]["content-encoding"] == "gzip"
    assert answer["isBase64Encoded"]
    assert gzip.decompress(b64decode(answer["body"])) == style.read_bytes()


def test_two_starts_derive_the_same_key_from_the_secret() -> None:
    key = seal_key(SECRET)

    assert key == seal_key(SECRET) != seal_key("b" * 64)
    assert len(urlsafe_b64decode(key)) == 32
    assert SECRET.encode() not in key


def test_console_serves_nothing_without_its_key(
    console: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONSOLE_KEY_ARN", "arn:aws:secretsmanager:us-east-1:123456789012:secret:no")

    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        call("GET", "/sign-in")


def _kept(answer: dict[str, Any]) -> list[str]:
    """Return the cookies of a response as a browser sends them back."""
    return [each.partition(";")[0] for each in answer["cookies"] if "Max-Age=0" not in each]
