"""Lets the conformance suite, which has no way to sign in, call a gateway as a signed-in user."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A suite that leaves a connection is no error; what it misses, it tells itself."""


@contextmanager
def signed_in(url: str, token: str) -> Iterator[str]:
    """Yield an address that passes each request on with the token, and nothing else changed."""
    there = urlsplit(url)

    class SignedInRelay(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {**dict(self.headers), "Authorization": f"Bearer {token}"}
            with closing(HTTPConnection(str(there.hostname), there.port, timeout=60)) as gateway:
                gateway.request(self.command, self.path, body, headers)
                answer = gateway.getresponse()
                content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self._pass_on()

        def do_GET(self) -> None:
            self._pass_on()

        def do_DELETE(self) -> None:
            self._pass_on()

        def log_message(self, *_: object) -> None:
            pass

    server = _QuietServer(("127.0.0.1", 0), SignedInRelay)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{there.path}"
    finally:
        server.shutdown()
        server.server_close()
