"""A language model of the test's own behind the chat completions of OpenAI's API."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Message = dict[str, Any]
Speaks = Callable[[Sequence[Message]], Message]


@dataclass
class ModelServer:
    """`speaks` answers the message that comes next; what it was asked is in `asked`."""

    port: int = 0
    speaks: Speaks = lambda _messages: {"content": "Nothing was asked of me."}
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def model_server() -> Iterator[ModelServer]:
    model = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.asked.append({"path": self.path, **request})
            message = model.speaks(request["messages"])
            body = json.dumps({"choices": [{"message": {"role": "assistant", **message}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Tests print no requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield model
        server.shutdown()


def uses(tool: str, query: str, *, text: str = "", number: int = 0) -> Message:
    """A turn of the model that calls a tool, and may say something before."""
    function = {"name": tool, "arguments": json.dumps({"query": query})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"content": text, "tool_calls": [call]}


def results(messages: Sequence[Message]) -> list[Message]:
    """What tools have answered in the conversation so far."""
    return [each for each in messages if each["role"] == "tool"]
