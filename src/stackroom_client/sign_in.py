"""
A person's sign-in to a deployment: authorization code with PKCE, as a public client.

    sign_in = SignIn(issuer, client_id)     # the outputs IssuerUrl and ClientId of a deployment
    sign_in.begin(webbrowser.open)
    Client(gateway_url, token=sign_in.token)
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx

from stackroom_client.errors import NotSignedIn, SignInFailed, Unavailable
from stackroom_client.steps import response_of

# Every deployment's public client allows a redirect to this one (infra/callback_urls.py).
PORT = 8976
_BACK_WITHIN = 300.0
_DONE = b"<!doctype html><title>Stackroom</title><p>You can close this window and go back."
_SECONDS = 20.0
_EARLY = 60.0  # a token that ends this soon is renewed before it is used
# An issuer that rotates refresh tokens may have exchanged one whose answer was lost, and takes it
# for a minute more (infra/sign_in_settings.py). Three attempts are over by then, each in its time.
_ATTEMPTS = 3
_PAUSE = 0.5
_VERIFIER_BYTES = 48  # 64 characters of 43 to 128 [RFC 7636, section 4.1]
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """As they are kept; `expires_at` in seconds since 1970."""

    issuer: str
    client_id: str
    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_at: float


class Kept(Protocol):
    """Where tokens are kept, as a text; None is none."""

    def read(self) -> str | None: ...

    def write(self, text: str | None) -> None: ...


class Memory:
    _text: str | None = None

    def read(self) -> str | None:
        return self._text

    def write(self, text: str | None) -> None:
        self._text = text


@dataclass(frozen=True)
class SignIn:
    """`name` is what messages call the deployment."""

    issuer: str
    client_id: str
    kept: Kept = field(default_factory=Memory)
    name: str = ""
    _renewing: Any = field(default_factory=threading.Lock, repr=False)

    def begin(
        self, show: Callable[[str], object], *, port: int = PORT, resource: str | None = None
    ) -> Tokens:
        """
        Whoever signs in in the browser that `show` takes there. With `resource`, the tokens are for
        the server of that URL alone [RFC 8707]. Raises SignInFailed or Unavailable.
        """
        metadata = self.metadata()
        verifier, state = secrets.token_urlsafe(_VERIFIER_BYTES), secrets.token_urlsafe()
        digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
        bound = {} if resource is None else {"resource": resource}
        with _listening(port) as listener:
            redirect = f"http://localhost:{port}/callback"
            asked = {
                "response_type": "code",
                "client_id": self.client_id,
                "redirect_uri": redirect,
                "scope": "openid",
                "state": state,
                "code_challenge": digest.decode().rstrip("="),
                "code_challenge_method": "S256",
                **bound,
            }
            show(f"{metadata['authorization_endpoint']}?{urlencode(asked)}")
            if not listener.came.wait(_BACK_WITHIN):
                raise _failed(f"no browser came back within {_BACK_WITHIN:.0f} s; try again")
        came = listener.came_with
        if not secrets.compare_digest(came.get("state", "").encode(), state.encode()):
            raise _failed("the browser came back from another sign-in; try again")
        if "code" not in came:
            raise _failed(f"{came.get('error_description') or came.get('error')}; try again")
        code = {"code": came["code"], "redirect_uri": redirect, "code_verifier": verifier}
        answer = self._post(
            metadata["token_endpoint"], grant_type="authorization_code", **code, **bound
        )
        return self._keep(answer, None)

    def token(self) -> str:
        """One that is valid for a minute at least. Raises NotSignedIn, or Unavailable."""
        with self._renewing:  # each refresh token is exchanged for the next one
            kept = self._kept()
            if kept.expires_at - time.time() > _EARLY:
                return kept.access_token
            if kept.refresh_token is None:
                raise NotSignedIn("your sign-in has expired")
            endpoint, token = self.metadata()["token_endpoint"], kept.refresh_token
            try:
                answer = self._renewed(endpoint, token)
            except _Refused as error:
                raise NotSignedIn(f"your sign-in has expired ({error})") from error
            return self._keep(answer, token).access_token

    def _renewed(self, endpoint: str, token: str) -> Any:
        for _ in range(_ATTEMPTS - 1):
            with suppress(Unavailable):
                return self._post(endpoint, grant_type="refresh_token", refresh_token=token)
            time.sleep(_PAUSE)
        return self._post(endpoint, grant_type="refresh_token", refresh_token=token)

    def end(self) -> bool:
        """
        Forgets the tokens, and has them revoked where the issuer can; whether anybody was signed
        in. Raises Unavailable if the issuer did not answer: they are forgotten all the same.
        """
        was = self.kept.read() is not None
        try:
            token = self._kept().refresh_token
        except NotSignedIn:  # of another client or issuer
            token = None
        self.kept.write(None)
        if token is not None and (endpoint := self.metadata().get("revocation_endpoint")):
            self._post(endpoint, token=token)
        return was

    def metadata(self) -> Mapping[str, str]:
        """
        What the issuer tells of itself [OpenID Connect Discovery 1.0, section 4]. Raises
        Unavailable, or SignInFailed if it tells nothing, or another's.
        """
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        found: Mapping[str, str] = self._answer(httpx.Request("GET", url))
        if found.get("issuer") != self.issuer:
            raise _failed(f"{url} speaks for another issuer, {found.get('issuer')!r}")
        for name in _ENDPOINTS:
            parts = urlsplit(str(found.get(name)))
            if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
                raise _failed(f"{url} names {found.get(name)!r}, which is not https")
        return found

    def _kept(self) -> Tokens:
        text = self.kept.read()
        if text is None:
            raise NotSignedIn(f"nobody is signed in to {self.name or self.issuer}")
        try:
            kept = Tokens(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise NotSignedIn("what was kept of your sign-in can't be read") from error
        if (kept.issuer, kept.client_id) != (self.issuer, self.client_id):
            raise NotSignedIn(f"{self.name or self.issuer} was added anew since you signed in")
        return kept

    def _keep(self, answer: Mapping[str, Any], before: str | None) -> Tokens:
        if "access_token" not in answer:
            raise _failed(f"the issuer {self.issuer} gave no access token")
        tokens = Tokens(
            issuer=self.issuer,
            client_id=self.client_id,
            access_token=answer["access_token"],
            # Whoever does not rotate it answers none [RFC 6749, section 6].
            refresh_token=answer.get("refresh_token") or before,
            expires_at=time.time() + float(answer.get("expires_in", 0)),
        )
        self.kept.write(json.dumps(asdict(tokens), indent=2))
        return tokens

    def _post(self, url: str, **form: str) -> Any:
        return self._answer(httpx.Request("POST", url, data={"client_id": self.client_id, **form}))

    def _answer(self, request: httpx.Request) -> Any:
        """Raises Unavailable, or SignInFailed, of which _Refused is the issuer's own word."""
        came: httpx.Response | httpx.TransportError
        try:
            with httpx.Client(timeout=_SECONDS) as http:
                came = http.send(request)
        except httpx.TransportError as error:
            came = error
        answer = response_of(came)
        try:
            if answer.status_code in (400, 401):  # RFC 6749, section 5.2
                told = answer.json()
                raise _Refused(str(told.get("error_description") or told["error"]))
            answer.raise_for_status()
            return answer.json() if answer.content else {}
        except (httpx.HTTPError, ValueError, KeyError, AttributeError) as error:
            told = str(error).splitlines()[0]
            raise _failed(f"the issuer {self.issuer} does not answer as one ({told})") from error


class _Refused(SignInFailed):
    pass


def _failed(why: str) -> SignInFailed:
    return SignInFailed(f"nobody was signed in: {why}")


# The address of this machine to which a browser comes back from signing in, once.


class _Handler(BaseHTTPRequestHandler):
    timeout = 10  # of one connection, which a browser may open and not use
    server: "_Listener"

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        is_ours = address.path == "/callback"
        self.send_response(200 if is_ours else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        if is_ours:
            self.wfile.write(_DONE)
            self.server.came_with = dict(parse_qsl(address.query))
            self.server.came.set()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Nothing: what it would tell holds the code."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.came = threading.Event()
        self.came_with: dict[str, str] = {}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no matter of ours."""


@contextmanager
def _listening(port: int) -> Iterator[_Listener]:
    try:
        listener = _Listener(port)
    except OSError as error:
        raise _failed(
            f"port {port} on 127.0.0.1 can't be listened on ({error.strerror}), and the browser "
            "must come back there; end the program that has it, another login for one, or name "
            "another port, if the deployment's callback URLs have it"
        ) from error
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield listener
    finally:
        listener.shutdown()
        listener.server_close()
