"""The address of this machine to which a browser comes back from signing in, once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit

from stackroom_local.sites.problems import SignInFailed

# Every deployment's public client allows a redirect to this one (infra/callback_urls.py).
PORT = 8976
_SECONDS = 300.0
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

    def wait(self, seconds: float = _SECONDS) -> str:
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
