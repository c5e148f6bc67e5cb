"""Serving the simulator, as a process or within a test's process."""

import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp

from bedrock_kb_simulator.assembly import Configuration, create_app
from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.orders import Message
from bedrock_kb_simulator.page_guard import PageGuard
from bedrock_kb_simulator.wire import Receive, Send, run_lifespan

__all__ = [
    "Configuration",
    "Faults",
    "Simulator",
    "bind_listener",
    "create_app",
    "endpoint_of",
    "make_server",
]

HOST = "127.0.0.1"


def bind_listener(port: int) -> socket.socket:
    """Return a socket bound to the loopback interface; port 0 picks a free one."""
    # asyncio sets TCP_NODELAY on connections only where the protocol is named; without it an
    # answer's second packet waits 40 ms for a delayed acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((HOST, port))
    return listener


def endpoint_of(listener: socket.socket) -> str:
    return f"http://{HOST}:{listener.getsockname()[1]}"


def make_server(app: ASGIApp) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            PageGuard(app),  # refuse requests from web pages
            log_level="warning",
            access_log=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=2,
        )
    )


class Simulator:
    """
    A simulator in this process on a free port, for tests:

        with Simulator(configuration) as simulator:
            boto3.client("bedrock-agent", endpoint_url=simulator.endpoint)
    """

    def __init__(self, configuration: Configuration) -> None:
        self._listener = bind_listener(0)
        self._app = create_app(configuration, self.endpoint)
        self._server = make_server(self._answer)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True
        )

    @property
    def endpoint(self) -> str:
        return endpoint_of(self._listener)

    def renew(self, configuration: Configuration) -> None:
        """Replace the application at this endpoint and close the previous one."""
        before, self._app = self._app, create_app(configuration, self.endpoint)
        before.close()

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await run_lifespan(receive, send, self._close)
        else:
            await self._app(scope, receive, send)

    def _close(self) -> None:
        self._app.close()

    def __enter__(self) -> Self:
        self._listener.listen()  # clients may connect before the server accepts
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()
