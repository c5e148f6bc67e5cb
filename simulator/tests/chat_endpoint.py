"""An OpenAI-compatible endpoint in this process, whose responses a test sets."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-very-secret"
SAYS = "Otters hold hands [1]."

Answering = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class ChatEndpoint:
    """
    The endpoint and the requests it received.

    `says` is the model's text, `calls` are tool calls by name and arguments, `stops` is the
    finish_reason; `answering`, if set, writes the whole response instead. With `streams`, streaming
    requests get the text word by word, the second word once `go_on` is set.
    """

    base_url: str
    says: str | None = SAYS
    calls: list[tuple[str, str]] = field(default_factory=list)
    stops: str = "stop"
    answering: Answering | None = None
    streams: bool = False
    go_on: threading.Event = field(default_factory=threading.Event)
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)

    def reset(self) -> None:
        self.says, self.stops, self.answering = SAYS, "stop", None
        self.streams = False
        self.go_on.clear()
        for recorded in (self.calls, self.asked, self.paths, self.authorizations):
            recorded.clear()


@contextmanager
def chat_endpoint() -> Iterator[ChatEndpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            endpoint.asked.append(json.loads(body))
            endpoint.paths.append(self.path)
            endpoint.authorizations.append(self.headers["Authorization"])
            if endpoint.answering:
                endpoint.answering(self)
                return
            if endpoint.streams and endpoint.asked[-1].get("stream"):
                stream(self, endpoint)
                return
            message: dict[str, Any] = {"role": "assistant", "content": endpoint.says}
            if endpoint.calls:
                message["tool_calls"] = [_call(*each) for each in enumerate(endpoint.calls)]
            choice = {"index": 0, "message": message, "finish_reason": endpoint.stops}
            respond(self, 200, json.dumps({"choices": [choice]}))

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        endpoint = ChatEndpoint(f"http://127.0.0.1:{server.server_address[1]}/v1")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield endpoint
        server.shutdown()


def stream(handler: BaseHTTPRequestHandler, endpoint: ChatEndpoint) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
    handler.end_headers()

    def send(delta: dict[str, Any], reason: str | None = None) -> None:
        chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        handler.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        handler.wfile.flush()

    send({"role": "assistant"})
    for number, word in enumerate((endpoint.says or "").split()):
        if number == 1:
            endpoint.go_on.wait(60)
        send({"content": word if number == 0 else f" {word}"})
    for number, called in enumerate(endpoint.calls):
        call = {**_call(number, called), "index": number}
        arguments = call["function"]["arguments"]
        half = len(arguments) // 2
        send({"tool_calls": [{**call, "function": {**call["function"], "arguments": ""}}]})
        for piece in (arguments[:half], arguments[half:]):
            send({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    send({}, endpoint.stops)
    handler.wfile.write(b"data: [DONE]\n\n")


def _call(number: int, called: tuple[str, str]) -> dict[str, Any]:
    name, arguments = called
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{number}", "type": "function", "function": function}


def respond(handler: BaseHTTPRequestHandler, status: int, body: str, **headers: str) -> None:
    content = body.encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content)


def says(status: int, body: str, **headers: str) -> Answering:
    return lambda handler: respond(handler, status, body, **headers)


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Send a byte now and then, for longer than any client waits."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(60):
        try:
            handler.wfile.write(b" ")
            handler.wfile.flush()
        except OSError:
            return
        time.sleep(0.05)
