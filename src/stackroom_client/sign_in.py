"""
Sign-in of a user to a deployment: authorization code with PKCE, as a public client.

    sign_in = SignIn(issuer, client_id)  # the outputs IssuerUrl and ClientId of a deployment
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
_BROWSER_SECONDS = 300.0
_DONE = b"<!doctype html><title>Stackroom</title><p>You can close this window and go back."
_TIMEOUT = 20.0
_EARLY = 60.0  # a token that expires within this time is renewed before its use
# An issuer that rotates refresh tokens may have exchanged one whose response was lost. It accepts
# it
# for another minute (infra/sign_in_settings.py), within which three attempts fit.
_ATTEMPTS = 3
_PAUSE = 0.5
_VERIFIER_BYTES = 48  # 64 characters; allowed are 43 to 128 [RFC 7636, section 4.1]
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The stored tokens; `expires_at` is in seconds since 1970."""

    issuer: str
    client_id: str
    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_at: float


class TokenStore(Protocol):
    """A store for tokens as text; None means no tokens."""

    def read(self) -> str | None: ...

    def write(self, text: str | None) -> None: ...


class MemoryStore:
    _text: str | None = None

    def read(self) -> str | None:
        return self._text

    def write(self, text: str | None) -> None:
        self._text = text


@dataclass(frozen=True)
class SignIn:
    """The sign-in of a user; `name` is the deployment's name in messages."""

    issuer: str
    client_id: str
    store: TokenStore = field(default_factory=MemoryStore)
    name: str = ""
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    def begin(
        self, show: Callable[[str], object], *, port: int = PORT, resource: str | None = None
    ) -> Tokens:
        """
        Sign in the user of the browser in which `show` opens an address.

        With `resource`, the tokens are only for the server at that URL [RFC 8707]. Raises
        SignInFailed or Unavailable.
        """
        metadata = self.metadata()
        verifier, state = secrets.token_urlsafe(_VERIFIER_BYTES), secrets.token_urlsafe()
        digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
        audience = {} if resource is None else {"resource": resource}
        with _listening(port) as listener:
            redirect = f"http://localhost:{port}/callback"
            query = {
                "response_type": "code",
                "client_id": self.client_id,
                "redirect_uri": redirect,
                "scope": "openid",
                "state": state,
                "code_challenge": digest.decode().rstrip("="),
                "code_challenge_method": "S256",
                **audience,
            }
            show(f"{metadata['authorization_endpoint']}?{urlencode(query)}")
            if not listener.returned.wait(_BROWSER_SECONDS):
                raise _failed(
                    f"the browser did not return within {_BROWSER_SECONDS:.0f} seconds; try again"
                )
        response = listener.query
        if not secrets.compare_digest(response.get("state", "").encode(), state.encode()):
            raise _failed("the browser returned from another sign-in; try again")
        if "code" not in response:
            raise _failed(
                f"{response.get('error_description') or response.get('error')}; try again"
            )
        code = {"code": response["code"], "redirect_uri": redirect, "code_verifier": verifier}
        answer = self._post(
            metadata["token_endpoint"], grant_type="authorization_code", **code, **audience
        )
        return self._save(answer, None)

    def token(self) -> str:
        """Return a token that is valid for a minute at least. Raises NotSignedIn or Unavailable."""
        with self._lock:  # each refresh token is exchanged for the next one
            tokens = self._load()
            if tokens.expires_at - time.time() > _EARLY:
                return tokens.access_token
            if tokens.refresh_token is None:
                raise NotSignedIn("your sign-in has expired")
            endpoint, token = self.metadata()["token_endpoint"], tokens.refresh_token
            try:
                answer = self._renew(endpoint, token)
            except _Refused as error:
                raise NotSignedIn(f"your sign-in has expired ({error})") from error
            return self._save(answer, token).access_token

    def _renew(self, endpoint: str, token: str) -> Any:
        for _ in range(_ATTEMPTS - 1):
            with suppress(Unavailable):
                return self._post(endpoint, grant_type="refresh_token", refresh_token=token)
            time.sleep(_PAUSE)
        return self._post(endpoint, grant_type="refresh_token", refresh_token=token)

    def end(self) -> bool:
        """
        Delete the tokens, and revoke them if the issuer supports it; return True if there were any.

        Raises Unavailable if the issuer did not respond: the tokens are deleted nevertheless.
        """
        was_signed_in = self.store.read() is not None
        try:
            token = self._load().refresh_token
        except NotSignedIn:  # of another client or issuer
            token = None
        self.store.write(None)
        if token is not None and (endpoint := self.metadata().get("revocation_endpoint")):
            self._post(endpoint, token=token)
        return was_signed_in

    def metadata(self) -> Mapping[str, str]:
        """
        Return the issuer's metadata [OpenID Connect Discovery 1.0, section 4].

        Raises Unavailable, or SignInFailed if the metadata is missing or another issuer's.
        """
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        found: Mapping[str, str] = self._answer(httpx.Request("GET", url))
        if found.get("issuer") != self.issuer:
            raise _failed(f"{url} describes another issuer, {found.get('issuer')!r}")
        for name in _ENDPOINTS:
            parts = urlsplit(str(found.get(name)))
            if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
                raise _failed(f"{url} names {found.get(name)!r}, which is not an https URL")
        return found

    def _load(self) -> Tokens:
        text = self.store.read()
        if text is None:
            raise NotSignedIn(f"nobody is signed in to {self.name or self.issuer}")
        try:
            tokens = Tokens(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise NotSignedIn("your stored sign-in can't be read") from error
        if (tokens.issuer, tokens.client_id) != (self.issuer, self.client_id):
            raise NotSignedIn(f"{self.name or self.issuer} was added again since you signed in")
        return tokens

    def _save(self, answer: Mapping[str, Any], previous: str | None) -> Tokens:
        if "access_token" not in answer:
            raise _failed(f"the issuer {self.issuer} returned no access token")
        tokens = Tokens(
            issuer=self.issuer,
            client_id=self.client_id,
            access_token=answer["access_token"],
            # An issuer that doesn't rotate it returns none [RFC 6749, section 6].
            refresh_token=answer.get("refresh_token") or previous,
            expires_at=time.time() + float(answer.get("expires_in", 0)),
        )
        self.store.write(json.dumps(asdict(tokens), indent=2))
        return tokens

    def _post(self, url: str, **form: str) -> Any:
        return self._answer(httpx.Request("POST", url, data={"client_id": self.client_id, **form}))

    def _answer(self, request: httpx.Request) -> Any:
        """
        Return the response's JSON. Raises Unavailable, SignInFailed, or _Refused for OAuth errors.
        """
        result: httpx.Response | httpx.TransportError
        try:
            with httpx.Client(timeout=_TIMEOUT) as http:
                result = http.send(request)
        except httpx.TransportError as error:
            result = error
        answer = response_of(result)
        try:
            if answer.status_code in (400, 401):  # RFC 6749, section 5.2
                refusal = answer.json()
                raise _Refused(str(refusal.get("error_description") or refusal["error"]))
            answer.raise_for_status()
            return answer.json() if answer.content else {}
        except (httpx.HTTPError, ValueError, KeyError, AttributeError) as error:
            problem = str(error).splitlines()[0]
            raise _failed(f"the issuer {self.issuer} responded unexpectedly ({problem})") from error


class _Refused(SignInFailed):
    pass


def _failed(reason: str) -> SignInFailed:
    return SignInFailed(f"sign-in failed: {reason}")


# The local address to which the browser is redirected after the sign-in, once.


class _Handler(BaseHTTPRequestHandler):
    timeout = 10  # for one connection, which a browser may open without using it
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
            self.server.query = dict(parse_qsl(address.query))
            self.server.returned.set()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Log nothing: the request contains the code."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.returned = threading.Event()
        self.query: dict[str, str] = {}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of connections that a browser closed."""


@contextmanager
def _listening(port: int) -> Iterator[_Listener]:
    try:
        listener = _Listener(port)
    except OSError as error:
        raise _failed(
            f"the browser must return to port {port} on 127.0.0.1, which is in use "
            f"({error.strerror}); end the program that uses it, such as another login, or choose "
            "another port that the deployment's callback URLs contain"
        ) from error
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield listener
    finally:
        listener.shutdown()
        listener.server_close()
