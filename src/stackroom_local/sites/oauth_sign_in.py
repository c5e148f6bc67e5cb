"""
A person's sign-in to a deployment: authorization code with PKCE, as a public client.

What the issuer offers is told by its metadata [OpenID Connect Discovery 1.0, section 4]. The
protocol is Authlib's; here is what is kept, and when it is renewed.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stackroom_local.sites.known_deployments import KnownDeployments, read, remove, write
from stackroom_local.sites.site import AwsSite
from stackroom_local.sites.site_errors import NotKept, SignInFailed, SignInNeeded, SiteError

# The address of this machine to which a browser comes back from signing in, once.

# Every deployment's public client allows a redirect to this one (infra/callback_urls.py).
PORT = 8976
_BACK_WITHIN = 300.0
_DONE = b"<!doctype html><title>Stackroom</title><p>You can close this window and go back."


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.redirect = f"http://localhost:{port}/callback"
        self.came = threading.Event()
        self.came_with = ""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no matter of ours."""


class _Handler(BaseHTTPRequestHandler):
    timeout = 10  # of one connection, which a browser may open and not use

    def do_GET(self) -> None:
        is_ours = urlsplit(self.path).path == "/callback"
        self.send_response(200 if is_ours else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        if is_ours:
            self.wfile.write(_DONE)
            listener = cast(_Listener, self.server)
            listener.came_with = listener.redirect + "?" + urlsplit(self.path).query
            listener.came.set()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Nothing: what it would tell holds the code."""


class Callback:
    def __init__(self, listener: _Listener) -> None:
        self._listener = listener

    @property
    def redirect(self) -> str:
        return self._listener.redirect

    def wait(self, seconds: float = _BACK_WITHIN) -> str:
        """The whole address that the browser came with. Raises `SignInFailed` if it never does."""
        if not self._listener.came.wait(seconds):
            raise SignInFailed(f"no browser came back within {seconds:.0f} s; try again")
        return self._listener.came_with


@contextmanager
def listening(port: int = PORT) -> Iterator[Callback]:
    try:
        listener = _Listener(port)
    except OSError as error:
        raise SignInFailed(
            f"port {port} on 127.0.0.1 can't be listened on ({error.strerror}), and the browser "
            "must come back there; end the program that has it, another login for one, or name "
            "another with --port, if the deployment's callback URLs have it"
        ) from error
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield Callback(listener)
    finally:
        listener.shutdown()
        listener.server_close()


_SCOPE = "openid"
_SECONDS = 20.0
_EARLY = 60.0  # a token that ends this soon is renewed before it is used
_VERIFIER_LENGTH = 64  # 43 to 128 [RFC 7636, section 4.1]
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Tokens(BaseModel):
    """As they are kept; `expires_at` in seconds since 1970."""

    model_config = ConfigDict(frozen=True)

    issuer: str
    client_id: str
    access_token: str = Field(repr=False)
    refresh_token: str | None = Field(default=None, repr=False)
    expires_at: float


class Metadata(BaseModel):
    """What is used of the issuer's."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    revocation_endpoint: str | None = None


@dataclass(frozen=True)
class SignIn:
    site: AwsSite
    deployments: KnownDeployments = field(default_factory=KnownDeployments)

    def begin(self, show: Callable[[str], None], *, port: int = PORT) -> Tokens:
        """
        Whoever signs in in the browser to which `show` takes the address.

        Raises `SignInFailed`, or `NotKept`.
        """
        metadata = self.metadata()
        with listening(port) as callback, self._client(callback.redirect) as client:
            verifier = generate_token(_VERIFIER_LENGTH)
            address, state = client.create_authorization_url(
                metadata.authorization_endpoint, code_verifier=verifier
            )
            show(address)
            came_with = callback.wait()
            try:
                answer = client.fetch_token(
                    metadata.token_endpoint,
                    authorization_response=came_with,
                    state=state,
                    code_verifier=verifier,
                )
            except OAuthError as error:
                raise SignInFailed(f"{error}; try again") from error
        return self._keep(answer, renewed=None)

    def tokens(self) -> Tokens:
        """Valid for a minute at least. Raises `SignInNeeded`, or `NotKept`."""
        kept = self._kept()
        if kept.expires_at - time.time() > _EARLY:
            return kept
        if kept.refresh_token is None:
            raise self._needed("your sign-in has expired")
        try:
            with self._client() as client:
                answer = client.refresh_token(
                    self.metadata().token_endpoint, refresh_token=kept.refresh_token
                )
        except OAuthError as error:
            raise self._needed(f"your sign-in has expired ({error})") from error
        return self._keep(answer, renewed=kept)

    def end(self) -> bool:
        """
        Forgets the tokens, and has them revoked where the issuer can; whether anybody was signed
        in. Raises `SignInFailed` if the issuer did not answer: they are forgotten all the same.
        """
        try:
            kept = self._kept()
        except SignInNeeded:
            return remove(self._path)  # of another client or issuer
        remove(self._path)
        endpoint = self.metadata().revocation_endpoint
        if endpoint is not None and kept.refresh_token is not None:
            with self._client() as client:
                # The hint may be left out [RFC 7009, section 2.1]. Its stubs leave it untyped.
                client.revoke_token(endpoint, token=kept.refresh_token)  # type: ignore[no-untyped-call]
        return True

    def metadata(self) -> Metadata:
        """Raises `SignInFailed` if the issuer tells none, or another's."""
        url = f"{self.site.issuer.rstrip('/')}/.well-known/openid-configuration"
        with _answering(self.site.issuer):
            answer = httpx.get(url, timeout=_SECONDS)
            answer.raise_for_status()
            found = Metadata.model_validate_json(answer.content)
        if found.issuer != self.site.issuer:
            raise SignInFailed(f"{url} speaks for another issuer, {found.issuer!r}")
        for endpoint in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
            parts = urlsplit(endpoint)
            if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
                raise SignInFailed(f"{url} names {endpoint!r}, which is not https")
        return found

    @property
    def _path(self) -> Any:
        return self.deployments.sign_in_of(self.site.name)

    def _kept(self) -> Tokens:
        text = read(self._path)
        if text is None:
            raise self._needed(f"nobody is signed in to {self.site.told}")
        try:
            kept = Tokens.model_validate_json(text)
        except ValidationError as error:
            why = "it holds no tokens of ours; remove it and sign in again"
            raise NotKept(self._path, why) from error
        if (kept.issuer, kept.client_id) != (self.site.issuer, self.site.client_id):
            raise self._needed(f"{self.site.told} was added anew since you signed in")
        return kept

    def _keep(self, answer: dict[str, Any], *, renewed: Tokens | None) -> Tokens:
        before = renewed.refresh_token if renewed is not None else None
        lasts = float(answer.get("expires_in", 0))
        tokens = Tokens(
            issuer=self.site.issuer,
            client_id=self.site.client_id,
            access_token=answer["access_token"],
            # Whoever does not rotate it answers none [RFC 6749, section 6].
            refresh_token=answer.get("refresh_token") or before,
            expires_at=time.time() + lasts,
        )
        write(self._path, tokens.model_dump_json(indent=2).encode())
        return tokens

    @contextmanager
    def _client(self, redirect: str | None = None) -> Iterator[OAuth2Client]:
        with (
            _answering(self.site.issuer),
            OAuth2Client(
                client_id=self.site.client_id,
                token_endpoint_auth_method="none",  # noqa: S106 - a public client has no secret
                revocation_endpoint_auth_method="none",
                scope=_SCOPE,
                redirect_uri=redirect,
                code_challenge_method="S256",
                timeout=_SECONDS,
            ) as client,
        ):
            yield client

    def _needed(self, why: str) -> SignInNeeded:
        return SignInNeeded(self.site.name, why)


@contextmanager
def _answering(issuer: str) -> Iterator[None]:
    try:
        yield
    except SiteError:
        raise
    except (httpx.HTTPError, ValidationError) as error:
        told = str(error).splitlines()[0]
        raise SignInFailed(f"the issuer {issuer} does not answer as one ({told})") from error
