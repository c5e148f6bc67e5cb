"""A site of somebody else's, whose pages attack the console that its visitors are signed in to."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

# Of one site and of two: ports make another origin, and names another site, which gets no cookie
# that is SameSite=Lax but with a link that is followed.
HOSTS = ("127.0.0.1", "localhost")


@dataclass
class Elsewhere:
    """`pages` are shown by their paths; one that isn't there is empty."""

    port: int
    pages: dict[str, str] = field(default_factory=dict)

    def address(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"

    def form(self, path: str, target: str, fields: Mapping[str, object], encoding: str) -> None:
        """Sends itself as soon as its page is there."""
        inputs = "".join(
            f'<input type="hidden" name="{escape(name)}" value="{escape(str(value))}">'
            for name, value in fields.items()
        )
        self.pages[path] = (
            f'<form method="post" action="{escape(target)}" enctype="{encoding}">{inputs}</form>'
            "<script>document.forms[0].submit()</script>"
        )


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    site = Elsewhere(port=0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = site.pages.get(self.path.partition("?")[0], "").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Of each request, to the console: nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.port = server.server_address[1]
    serving = Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
