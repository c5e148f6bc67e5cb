"""Tests of the interceptor as Lambda calls it, with keys fetched over HTTP as from Cognito."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest

from functions.identity_interceptor.handler import handler, interception
from stackroom.access.tokens import published_keys
from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from tests.gateway import forgeries
from tests.gateway.forgeries import resigned

pytestmark = pytest.mark.processes  # the keys are fetched from a server

CONTEXT: Any = SimpleNamespace(
    function_name="identity_interceptor",
    memory_limit_in_mb=128,
    invoked_function_arn="arn:aws:lambda:us-east-1:111122223333:function:identity_interceptor",
    aws_request_id="5f1e",
)
AUDIENCE = "https://stackroom-*.gateway.bedrock-agentcore.us-east-1.amazonaws.com/mcp"
OURS = AUDIENCE.replace("*", "a1b2c3d4e5")
CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "t___x"}}


class KeyServer:
    """Serves an issuer's public keys and counts the requests."""

    def __init__(self, data_dir: Path) -> None:
        self.requests = 0
        server = self

        class Keys(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests += 1
                body = json.dumps(server.issuer.jwks()).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Keys)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self.issuer = Issuer.open(data_dir, url=self.url)
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture(scope="module")
def key_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which issuers share the first one's key, because creating a key is slow."""
    return tmp_path_factory.mktemp("issuer")


@pytest.fixture
def keys(key_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyServer]:
    server = KeyServer(key_directory)
    monkeypatch.setenv("IDENTITY_ISSUER", server.url)
    monkeypatch.setenv("IDENTITY_JWKS_URL", f"{server.url}/.well-known/jwks.json")
    monkeypatch.setenv("IDENTITY_CLIENT_IDS", json.dumps([CLIENT_ID]))
    monkeypatch.setenv("IDENTITY_AUDIENCES", json.dumps([AUDIENCE]))
    interception.cache_clear()
    yield server
    interception.cache_clear()
    server.close()


@pytest.fixture
def issuer(keys: KeyServer) -> Issuer:
    return keys.issuer


def intercept(body: Any, headers: dict[str, str] | None = None) -> dict[str, Any]:
    request = {"path": "/mcp", "httpMethod": "POST", "headers": headers or {}, "body": body}
    event = {"interceptorInputVersion": "1.0", "mcp": {"gatewayRequest": request}}
    output = handler(event, CONTEXT)
    assert output["interceptorOutputVersion"] == "1.0"
    return dict(output["mcp"])


def forwarded_headers(headers: dict[str, str]) -> dict[str, str]:
    return dict(intercept(CALL, headers)["transformedGatewayRequest"]["headers"])


def denial(headers: dict[str, str], body: Any = CALL) -> str:
    response = intercept(body, headers)["transformedGatewayResponse"]
    answer, result = response["body"], response["body"]["result"]
    assert (response["statusCode"], answer["jsonrpc"], result["isError"]) == (200, "2.0", True)
    assert answer["id"] == (None if isinstance(body, list) else body["id"])
    assert result["resultType"] == "complete"
    return str(result["content"][0]["text"])


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_tool_call_is_forwarded_with_identity_and_without_token(issuer: Issuer) -> None:
    token = issuer.mint("alice", groups=["staff", "legal"], session="s-1")

    outcome = intercept(CALL, {**bearer(token), "Mcp-Method": "tools/call"})

    assert outcome["transformedGatewayRequest"] == {
        "body": CALL,
        "headers": {
            "Mcp-Method": "tools/call",
            "x-user-sub": "alice",
            "x-user-groups": "staff,legal",
            "x-session-id": "s-1",
        },
    }


def test_identity_headers_of_the_client_are_replaced_in_any_casing(issuer: Issuer) -> None:
    forged = {
        "x-user-sub": "mallory",
        "x-uSER-sUB": "mallory",
        "X-User-Groups": "admins",
        "X-SESSION-ID": "stolen",
    }
    identity = {"x-user-sub": "alice", "x-user-groups": ",", "x-session-id": "-"}

    with_one = forwarded_headers({**bearer(issuer.mint("alice", session="s-1")), **forged})
    without = forwarded_headers({**bearer(resigned(issuer, origin_jti=None)), **forged})

    assert with_one == {**identity, "x-session-id": "s-1"}
    assert without == identity


@pytest.mark.parametrize("method", ["initialize", "notifications/initialized", "tools/list"])
def test_other_methods_are_forwarded_unchanged_without_identity(
    issuer: Issuer, method: str
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": method}

    outcome = intercept(body, bearer(issuer.mint("alice")))

    assert outcome == {"transformedGatewayRequest": {"body": body}}


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def test_message_that_can_not_be_serialised_gets_a_json_rpc_error(issuer: Issuer) -> None:
    odd: list[dict[str, Any]] = [
        {"params": {"arguments": {"query": "\ud800"}}},
        {"id": "\ud800"},
        {"method": "initialize", "params": {"number": float("inf")}},
        {"params": nested(100_000)},
    ]
    for each in odd:
        output = intercept({**CALL, **each}, bearer(issuer.mint("alice")))

        answer = output["transformedGatewayResponse"]
        assert (answer["statusCode"], answer["body"]["id"]) == (400, None)
        assert answer["body"]["error"]["code"] == -32600
        assert json.dumps(output, ensure_ascii=False).encode()  # as the runtime client sends it


def test_batch_is_denied_because_it_may_hide_a_tool_call(issuer: Issuer) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    text = denial(bearer(issuer.mint("alice")), body=[ping, CALL])

    assert "one JSON-RPC message at a time" in text


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [(["query"], "a list"), ('{"query": "x"}', "a text"), (7, "a single value"), ([], "a list")],
)
def test_arguments_other_than_an_object_get_a_tool_error(
    issuer: Issuer, arguments: object, kind: str
) -> None:
    body = {**CALL, "params": {"name": "t___x", "arguments": arguments}}

    text = denial(bearer(issuer.mint("alice")), body)
    unsigned = denial({}, body)

    assert text.startswith(f"Error: the arguments are {kind}; send a JSON object")
    assert unsigned.startswith("Not authorised: ")


def test_null_arguments_are_forwarded_as_none(issuer: Issuer) -> None:
    body = {**CALL, "params": {"name": "t___x", "arguments": None}}

    outcome = intercept(body, bearer(issuer.mint("alice")))

    assert outcome["transformedGatewayRequest"]["body"] == body


WRONG_CLAIMS: list[tuple[dict[str, Any], str]] = [
    ({"exp": 1_700_000_000}, "it has expired"),
    ({"iss": "https://elsewhere.example"}, "it comes from another issuer"),
    ({"client_id": "another-client"}, "it was issued to another client"),
    ({"token_use": "id"}, "it is no access token"),
    ({"sub": CLIENT_ID}, "it names no user"),
    ({"sub": None}, "it lacks the claim 'sub'"),
    ({"sub": "alice/../bob"}, "its subject can't name a folder"),
    ({"sub": 7}, "it is malformed"),
    ({"iat": 32_503_680_000}, "it is not valid yet"),
    ({"origin_jti": "s-1\nx-user-sub: bob"}, "its session can't be carried"),
    ({"cognito:groups": "admins"}, "its groups are no list of names"),
    ({"cognito:groups": ["x" * 5000]}, "the user is in too many groups"),
]


FOR_OTHERS: list[Any] = [
    "",
    [],
    7,
    {OURS: OURS},
    "another-service",
    [OURS, "another-service"],
    AUDIENCE,
    OURS.replace("https", "http"),
    OURS.replace("us-east-1", "eu-west-1"),
    OURS.replace("stackroom", "stackroom-two"),
    OURS.replace("stackroom", "two-stackroom"),
    OURS.replace("a1b2c3d4e5", "a1b2c3d4e"),
    OURS.replace("a1b2c3d4e5", "a1b2c.d4e5"),
    OURS.replace(".com/", ".com.example/"),
    OURS.replace("https://", "https://example.com/https://"),
    OURS.replace(".gateway", "@example.com/.gateway"),
    OURS.replace("amazonaws.com", "amazonawsxcom"),
    f"{OURS}\n",
    f"{OURS}/tools",
    f"{OURS} https://example.com",
    OURS.removesuffix("/mcp"),
]


def test_token_for_this_gateway_or_without_audience_is_accepted(issuer: Issuer) -> None:
    for claims in ({}, {"aud": OURS}, {"aud": f"{OURS}/"}, {"aud": [OURS]}, {"aud": [OURS] * 2}):
        headers = forwarded_headers(bearer(resigned(issuer, **claims)))

        assert headers["x-user-sub"] == "alice", claims


def test_token_for_another_audience_is_denied(issuer: Issuer) -> None:
    for audience in FOR_OTHERS:
        text = denial(bearer(resigned(issuer, aud=audience)))

        assert "it is meant for another audience" in text, audience


def test_signed_token_with_wrong_claims_is_denied_with_the_reason(issuer: Issuer) -> None:
    for changes, problem in WRONG_CLAIMS:
        token = resigned(issuer, **changes)
        text = denial(bearer(token))

        assert problem in text
        assert token not in text


NOT_OURS, NOT_RS256 = "it isn't signed by our issuer", "it isn't signed with RS256"


def test_forged_token_is_denied(issuer: Issuer, tmp_path: Path) -> None:
    for forge, problem in (
        (forgeries.signed_by_another_key, NOT_OURS),
        (forgeries.signed_by_an_unknown_key, NOT_OURS),
        (forgeries.tampered, NOT_OURS),
        (forgeries.unsigned, NOT_RS256),
        (forgeries.signed_with_the_public_key_as_secret, NOT_RS256),
    ):
        assert problem in denial(bearer(forge(issuer, tmp_path / "stranger")))


def test_call_without_exactly_one_bearer_token_is_denied(keys: KeyServer) -> None:
    for headers, problem in (
        ({}, "exactly one Authorization header"),
        ({"Authorization": "Bearer a", "authorization": "Bearer b"}, "exactly one Authorization"),
        ({"Authorization": "Basic YWxpY2U6"}, "no bearer token"),
        ({"Authorization": "Bearer"}, "it is malformed"),
        ({"Authorization": "Bearer a.b.c"}, "it is malformed"),
    ):
        assert problem in denial(headers)


def test_keys_are_fetched_once_and_just_expired_token_is_accepted(
    keys: KeyServer,
) -> None:
    for token in (keys.issuer.mint("alice"), resigned(keys.issuer, exp=int(time.time()) - 2)):
        assert forwarded_headers(bearer(token))["x-user-sub"] == "alice"

    assert keys.requests == 1


def test_unknown_key_ids_cause_no_further_key_requests(keys: KeyServer) -> None:
    published = published_keys(f"{keys.url}/.well-known/jwks.json")

    for number in range(3):
        with pytest.raises(jwt.PyJWKClientError):
            published.get_signing_key(f"unknown-{number}")

    assert keys.requests == 1
    own = jwt.get_unverified_header(keys.issuer.mint("alice"))
    assert published.get_signing_key(own["kid"])


def test_unreachable_keys_deny_the_call_and_advise_a_retry(
    keys: KeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDENTITY_JWKS_URL", "http://127.0.0.1:1/jwks.json")
    interception.cache_clear()

    assert "try again" in denial(bearer(keys.issuer.mint("alice")))
