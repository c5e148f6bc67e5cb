"""
A relay between a client and a server: it passes calls on, counts or spoils them.

    with Relay(simulator.endpoint) as relay:
        client = boto3.client("s3vectors", endpoint_url=relay.endpoint)
        with relay.spoiling(instead(503, b"{}"), at="/QueryVectors"):
            ...

It says `Host` as its caller did, so what a caller signed stays signed.
"""

import http.client
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

_HOP_BY_HOP = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding"})


@dataclass(frozen=True, kw_only=True)
class Call:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


PassOn = Callable[[Call], Answer]
Spoil = Callable[[Call, PassOn], Answer]


def instead(status: int, body: bytes, *, code: str = "") -> Spoil:
    """The server never hears of it."""
    headers = {"Content-Type": "application/json", "x-amzn-errortype": code}
    return lambda _call, _pass_on: Answer(status=status, headers=headers, body=body)


class Relay:
    """It listens on a free port of the loopback interface; safe for many callers at once."""

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target).netloc
        self._spoils: dict[str, Spoil] = {}
        self._lock = threading.Lock()
        self.calls: list[Call] = []
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def spoiling(self, spoil: Spoil, *, at: str) -> Iterator[None]:
        """Every call to a path that ends so."""
        self._spoils[at] = spoil
        try:
            yield
        finally:
            del self._spoils[at]

    @contextmanager
    def holding(self, *, at: str) -> Iterator[None]:
        """Calls to a path that ends so reach the server afterwards, and are answered."""
        over = threading.Event()

        def wait(call: Call, pass_on: PassOn) -> Answer:
            over.wait()
            return pass_on(call)

        try:
            with self.spoiling(wait, at=at):
                yield
        finally:
            over.set()

    def answer(self, call: Call) -> Answer:
        with self._lock:
            self.calls.append(call)
        for at, spoil in list(self._spoils.items()):
            if _path(call).endswith(at):
                return spoil(call, self._passed_on)
        return self._passed_on(call)

    def _passed_on(self, call: Call) -> Answer:
        connection = http.client.HTTPConnection(self._target)
        kept = {key: each for key, each in call.headers.items() if key.lower() not in _HOP_BY_HOP}
        try:
            connection.request(call.method, call.path, call.body, kept)
            answered = connection.getresponse()
            return Answer(
                status=answered.status, headers=dict(answered.getheaders()), body=answered.read()
            )
        finally:
            connection.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.socket.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # sixteen who ask at once connect at once


def _path(call: Call) -> str:
    return call.path.partition("?")[0]


def _handler(relay: Relay) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _relayed(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            call = Call(
                method=self.command, path=self.path, headers=dict(self.headers.items()), body=body
            )
            answer = relay.answer(call)
            self.send_response_only(answer.status)
            for key, value in answer.headers.items():
                if key.lower() not in _HOP_BY_HOP:
                    self.send_header(key, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _relayed  # noqa: N815 - http.server's

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:  # the caller has given up
                self.close_connection = True

    return Handler
