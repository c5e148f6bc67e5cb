"""Sign-in: tokens are stored, renewed, and sent only to their issuer."""

import json
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest

from stackroom_client import SignIn
from stackroom_client.errors import NotSignedIn, SignInFailed, Unavailable
from stackroom_client.sign_in import MemoryStore
from stackroom_local.processes import free_ports

ISSUER = "https://issuer.example/pool"
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": "https://issuer.example/authorize",
    "token_endpoint": "https://issuer.example/token",
    "jwks_uri": "https://issuer.example/jwks",
    "revocation_endpoint": "https://issuer.example/revoke",
}
Change = Callable[[dict[str, Any]], dict[str, Any]]


class Issuer:
    """An issuer that records what it is sent."""

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = dict(METADATA)
        self.tokens: httpx.Response = self.giving(expires_in=3600, refresh_token="r1")
        self.posted: list[dict[str, str]] = []

    @staticmethod
    def giving(**fields: Any) -> httpx.Response:
        return httpx.Response(200, json={"access_token": "a1", **fields})

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=self.metadata)
        self.posted.append(dict(parse_qsl(request.content.decode())))
        return httpx.Response(200) if request.url.path == "/revoke" else self.tokens


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> Issuer:
    found = Issuer()
    client = partial(httpx.Client, transport=httpx.MockTransport(found))
    monkeypatch.setattr("stackroom_client.sign_in.httpx.Client", client)
    return found


def stored(**changes: Any) -> MemoryStore:
    whole = {"issuer": ISSUER, "client_id": "c", "access_token": "a0", "refresh_token": "r0"}
    memory = MemoryStore()
    memory.write(json.dumps({**whole, "expires_at": time.time() + 3600, **changes}))
    return memory


def test_token_is_renewed_early_and_an_unrotated_refresh_token_kept(issuer: Issuer) -> None:
    fresh = SignIn(ISSUER, "c", store=stored())
    ending = SignIn(ISSUER, "c", store=stored(expires_at=time.time() + 59))
    issuer.tokens = issuer.giving(expires_in=3600)  # Cognito doesn't rotate by default

    assert (fresh.token(), ending.token(), ending.token()) == ("a0", "a1", "a1")

    expected = {"client_id": "c", "grant_type": "refresh_token", "refresh_token": "r0"}
    assert issuer.posted == [expected]
    assert json.loads(str(ending.store.read()))["refresh_token"] == "r0"


@pytest.mark.parametrize(
    ("memory", "reason"),
    [
        (MemoryStore(), "nobody is signed in to prod"),
        (stored(client_id="another"), "prod was added again"),
        (stored(issuer="https://another.example"), "prod was added again"),
        (stored(expires_at=0, refresh_token=None), "your sign-in has expired"),
        (stored(expires_at=0), "your sign-in has expired .*it was used"),
        (stored(nonsense=1), "can't be read"),
    ],
    ids=["nobody", "client", "issuer", "ended", "refused", "unreadable"],
)
def test_ended_sign_in_raises_its_reason(issuer: Issuer, memory: MemoryStore, reason: str) -> None:
    answer = {"error": "invalid_grant", "error_description": "it was used"}
    issuer.tokens = httpx.Response(400, json=answer)

    with pytest.raises(NotSignedIn, match=reason):
        SignIn(ISSUER, "c", store=memory, name="prod").token()


@pytest.mark.parametrize("trouble", [httpx.ConnectError, httpx.ReadTimeout, 503, 429])
def test_unavailable_issuer_does_not_end_the_sign_in(
    issuer: Issuer, trouble: type[httpx.TransportError] | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: Issuer, request: httpx.Request) -> httpx.Response:
        if isinstance(trouble, int):
            return httpx.Response(trouble)
        raise trouble("no route", request=request)

    ending = SignIn(ISSUER, "c", store=stored(expires_at=0))
    monkeypatch.setattr("stackroom_client.sign_in._PAUSE", 0)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Issuer, "__call__", away)
        with pytest.raises(Unavailable, match=r"issuer\.example"):
            ending.token()

    assert ending.token() == "a1"


def test_renewal_is_repeated_if_the_issuer_is_away_for_a_moment(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, away = Issuer.__call__, [httpx.Response(503)]

    def flaky(self: Issuer, request: httpx.Request) -> httpx.Response:
        return away.pop() if request.method == "POST" and away else usual(self, request)

    monkeypatch.setattr("stackroom_client.sign_in._PAUSE", 0)
    monkeypatch.setattr(Issuer, "__call__", flaky)

    assert SignIn(ISSUER, "c", store=stored(expires_at=0)).token() == "a1"
    assert len(issuer.posted) == 1


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (httpx.Response(200, json={"token_type": "Bearer"}), "returned no access token"),
        (httpx.Response(200, text="<html>"), "responded unexpectedly"),
        (httpx.Response(404, text="gone"), "responded unexpectedly .*404"),
        (httpx.Response(400, json=["no"]), "responded unexpectedly"),
    ],
)
def test_unusable_answer_of_the_issuer_fails_the_sign_in(
    issuer: Issuer, answer: httpx.Response, problem: str
) -> None:
    issuer.tokens = answer

    with pytest.raises(SignInFailed, match=problem):
        SignIn(ISSUER, "c", store=stored(expires_at=0)).token()


@pytest.mark.parametrize(
    "wrong",
    [
        {"issuer": "https://another.example"},
        {"token_endpoint": "http://issuer.example/token"},
        {"authorization_endpoint": "file:///etc/passwd"},
        {"jwks_uri": None},
    ],
    ids=str,
)
def test_issuer_with_wrong_metadata_gets_no_token(issuer: Issuer, wrong: dict[str, Any]) -> None:
    issuer.metadata |= wrong

    with pytest.raises(SignInFailed):
        SignIn(ISSUER, "c", store=stored(expires_at=0)).token()
    assert issuer.posted == []


def test_sign_out_revokes_and_forgets_tokens_even_without_an_answer(issuer: Issuer) -> None:
    signed_in, failing = SignIn(ISSUER, "c", store=stored()), SignIn(ISSUER, "c", store=stored())

    assert (signed_in.end(), signed_in.end(), issuer.posted[0]["token"]) == (True, False, "r0")
    issuer.metadata = {}
    with pytest.raises(SignInFailed):
        failing.end()

    assert failing.store.read() is None


def coming_back(change: Change, found: list[dict[str, str]]) -> Callable[[str], None]:
    """Return a browser that is redirected with what the issuer returns."""

    def show(address: str) -> None:
        query_fields = {name: each[0] for name, each in parse_qs(urlsplit(address).query).items()}
        found.append(query_fields)
        port = urlsplit(query_fields["redirect_uri"]).port
        with httpx.Client(transport=httpx.HTTPTransport()) as http:
            base = f"http://127.0.0.1:{port}"
            assert http.get(f"{base}/favicon.ico").status_code == 404
            query = change({"code": "the code", "state": query_fields["state"]})
            assert http.get(f"{base}/callback", params=query).status_code == 200

    return show


@pytest.mark.processes
def test_sign_in_sends_the_verifier_of_its_challenge(issuer: Issuer) -> None:
    seen: list[dict[str, str]] = []
    sign_in, port = SignIn(ISSUER, "c"), free_ports(1)

    sign_in.begin(coming_back(lambda query: query, seen), port=port)

    [posted] = issuer.posted
    assert (seen[0]["code_challenge_method"], posted["code"]) == ("S256", "the code")
    assert len(posted["code_verifier"]) == 64
    assert posted["code_verifier"] not in json.dumps(seen)
    assert sign_in.token() == "a1"
    assert "a1" not in repr(sign_in).replace(hex(id(sign_in.store)), "")  # which may contain it


@pytest.mark.processes
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda query: {**query, "state": "another"}, "from another sign-in"),
        (lambda query: {"code": query["code"]}, "from another sign-in"),
        (lambda query: {"error": "access_denied", "state": query["state"]}, "access_denied"),
    ],
    ids=["forged", "bare", "denied"],
)
def test_forged_or_denied_redirect_fails_the_sign_in(
    issuer: Issuer, change: Change, reason: str
) -> None:
    with pytest.raises(SignInFailed, match=reason):
        SignIn(ISSUER, "c").begin(coming_back(change, []), port=free_ports(1))
    assert issuer.posted == []


@pytest.mark.processes
def test_browser_that_does_not_return_or_a_port_in_use_fails_the_sign_in(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stackroom_client.sign_in._BROWSER_SECONDS", 0.01)
    port = free_ports(1)

    with pytest.raises(SignInFailed, match="the browser did not return within"):
        SignIn(ISSUER, "c").begin(lambda _: None, port=port)
    with socket.create_server(("127.0.0.1", port)), pytest.raises(SignInFailed, match="in use"):
        SignIn(ISSUER, "c").begin(lambda _: None, port=port)
