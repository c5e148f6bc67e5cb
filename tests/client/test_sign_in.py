"""A person's sign-in: tokens are kept, renewed, and never sent to anybody but their issuer."""

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest

from stackroom_client import SignIn
from stackroom_client.errors import NotSignedIn, SignInFailed, Unavailable
from stackroom_client.sign_in import Memory
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
    """Answers at its addresses, and remembers what it was sent."""

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


def kept(**changes: Any) -> Memory:
    whole = {"issuer": ISSUER, "client_id": "c", "access_token": "a0", "refresh_token": "r0"}
    memory = Memory()
    memory.write(json.dumps({**whole, "expires_at": time.time() + 3600, **changes}))
    return memory


def test_a_token_is_renewed_before_it_ends_and_the_refresh_token_is_kept(issuer: Issuer) -> None:
    fresh = SignIn(ISSUER, "c", kept=kept())
    ending = SignIn(ISSUER, "c", kept=kept(expires_at=time.time() + 59))
    issuer.tokens = issuer.giving(expires_in=3600)  # Cognito rotates none unless it is told to

    assert (fresh.token(), ending.token(), ending.token()) == ("a0", "a1", "a1")

    wanted = {"client_id": "c", "grant_type": "refresh_token", "refresh_token": "r0"}
    assert issuer.posted == [wanted]
    assert json.loads(str(ending.kept.read()))["refresh_token"] == "r0"


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        (Memory(), "nobody is signed in to prod"),
        (kept(client_id="another"), "prod was added anew"),
        (kept(issuer="https://another.example"), "prod was added anew"),
        (kept(expires_at=0, refresh_token=None), "your sign-in has expired"),
        (kept(expires_at=0), "your sign-in has expired .*it was used"),
        (kept(nonsense=1), "can't be read"),
    ],
    ids=["nobody", "client", "issuer", "ended", "refused", "unreadable"],
)
def test_ended_sign_in_raises_its_reason(issuer: Issuer, memory: Memory, told: str) -> None:
    answer = {"error": "invalid_grant", "error_description": "it was used"}
    issuer.tokens = httpx.Response(400, json=answer)

    with pytest.raises(NotSignedIn, match=told):
        SignIn(ISSUER, "c", kept=memory, name="prod").token()


@pytest.mark.parametrize("trouble", [httpx.ConnectError, httpx.ReadTimeout, 503, 429])
def test_an_issuer_that_is_away_for_a_while_signs_nobody_out(
    issuer: Issuer, trouble: type[httpx.TransportError] | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: Issuer, request: httpx.Request) -> httpx.Response:
        if isinstance(trouble, int):
            return httpx.Response(trouble)
        raise trouble("no route", request=request)

    ending = SignIn(ISSUER, "c", kept=kept(expires_at=0))
    monkeypatch.setattr("stackroom_client.sign_in._PAUSE", 0)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Issuer, "__call__", away)
        with pytest.raises(Unavailable, match=r"issuer\.example"):
            ending.token()

    assert ending.token() == "a1"


def test_rotated_refresh_token_whose_answer_was_lost_is_renewed_at_once(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, lost = Issuer.__call__, [httpx.ReadTimeout("lost"), httpx.ReadError("lost")]

    def losing(self: Issuer, request: httpx.Request) -> httpx.Response:
        answer = answered(self, request)
        if request.method == "POST" and lost:
            error = lost.pop()
            error.request = request
            raise error
        return answer

    monkeypatch.setattr(Issuer, "__call__", losing)
    monkeypatch.setattr("stackroom_client.sign_in._PAUSE", 0)
    ending = SignIn(ISSUER, "c", kept=kept(expires_at=0))

    assert ending.token() == "a1"

    assert [each["refresh_token"] for each in issuer.posted] == ["r0", "r0", "r0"]
    assert json.loads(str(ending.kept.read()))["refresh_token"] == "r1"


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
def test_an_issuer_that_speaks_for_another_or_in_the_clear_gets_no_token(
    issuer: Issuer, wrong: dict[str, Any]
) -> None:
    issuer.metadata |= wrong

    with pytest.raises(SignInFailed):
        SignIn(ISSUER, "c", kept=kept(expires_at=0)).token()
    assert issuer.posted == []


def test_sign_out_revokes_and_forgets_tokens_even_without_an_answer(issuer: Issuer) -> None:
    there, gone = SignIn(ISSUER, "c", kept=kept()), SignIn(ISSUER, "c", kept=kept())

    assert (there.end(), there.end(), issuer.posted[0]["token"]) == (True, False, "r0")
    issuer.metadata = {}
    with pytest.raises(SignInFailed):
        gone.end()

    assert gone.kept.read() is None


def coming_back(change: Change, found: list[dict[str, str]]) -> Callable[[str], None]:
    """A browser that is sent back with what the issuer answers."""

    def show(address: str) -> None:
        asked = {name: each[0] for name, each in parse_qs(urlsplit(address).query).items()}
        found.append(asked)
        port = urlsplit(asked["redirect_uri"]).port
        with httpx.Client(transport=httpx.HTTPTransport()) as http:
            base = f"http://127.0.0.1:{port}"
            assert http.get(f"{base}/favicon.ico").status_code == 404
            query = change({"code": "the code", "state": asked["state"]})
            assert http.get(f"{base}/callback", params=query).status_code == 200

    return show


@pytest.mark.processes
def test_a_sign_in_proves_that_it_is_the_one_that_was_begun(issuer: Issuer) -> None:
    seen: list[dict[str, str]] = []
    sign_in, port = SignIn(ISSUER, "c"), free_ports(1)

    sign_in.begin(coming_back(lambda query: query, seen), port=port)

    [posted] = issuer.posted
    assert (seen[0]["code_challenge_method"], posted["code"]) == ("S256", "the code")
    assert len(posted["code_verifier"]) == 64
    assert posted["code_verifier"] not in json.dumps(seen)
    assert sign_in.token() == "a1"
    assert "a1" not in repr(sign_in).replace(hex(id(sign_in.kept)), "")  # which may say it, too


@pytest.mark.processes
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda query: {**query, "state": "another"}, "from another sign-in"),
        (lambda query: {"code": query["code"]}, "from another sign-in"),
        (lambda query: {"error": "access_denied", "state": query["state"]}, "access_denied"),
    ],
    ids=["forged", "bare", "denied"],
)
def test_a_browser_that_comes_with_something_else_signs_nobody_in(
    issuer: Issuer, change: Change, told: str
) -> None:
    with pytest.raises(SignInFailed, match=told):
        SignIn(ISSUER, "c").begin(coming_back(change, []), port=free_ports(1))
    assert issuer.posted == []


def test_an_issuer_that_gives_no_token_signs_nobody_in(issuer: Issuer) -> None:
    issuer.tokens = httpx.Response(200, json={})

    with pytest.raises(SignInFailed, match="gave no access token"):
        SignIn(ISSUER, "c", kept=kept(expires_at=0)).token()
