"""Stalled requests are ended and slow ones are not, with a timeout shorter than the real one."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bedrock_kb_simulator import request_timeouts

pytestmark = pytest.mark.processes

HEAD = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n"


async def measured(request: Request) -> PlainTextResponse:
    try:
        return PlainTextResponse(str(len(await request.body())))
    except ClientDisconnect:
        return PlainTextResponse("left")


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(request_timeouts, "_GRACE_SECONDS", 0.5)
    app = Starlette(routes=[Route("/", measured, methods=["POST"])])
    config = uvicorn.Config(app, http=request_timeouts.PatientProtocol, log_level="warning")
    server = uvicorn.Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()
    server.should_exit = True
    thread.join()
    listener.close()


def answer(connection: socket.socket) -> bytes:
    """Everything until the other side closes."""
    connection.settimeout(60)
    return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("beginning", [b"", b"POST / HT", HEAD % 100 + b"half"])
def test_a_request_that_does_not_come_on_is_ended(
    address: tuple[str, int], beginning: bytes
) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(beginning)

        assert answer(connection).startswith(b"HTTP/1.1 408 ")


def test_a_header_that_comes_a_byte_at_a_time_is_ended(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        dripping = threading.Thread(target=drip, args=(connection,), daemon=True)
        dripping.start()

        assert answer(connection).startswith(b"HTTP/1.1 408 ")
    dripping.join()


def drip(connection: socket.socket) -> None:
    for byte in b"POST / HTTP/1.1\r\nX-Long: " + b"a" * 1000:
        try:
            connection.send(bytes([byte]))
        except OSError:
            return
        time.sleep(0.02)


def test_an_upload_that_takes_long_but_goes_on_comes_through(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(HEAD % 20_000)
        for _ in range(20):
            connection.sendall(b"x" * 1000)
            time.sleep(0.1)  # as slow a line as this: what is tested

        connection.shutdown(socket.SHUT_WR)
        assert answer(connection).endswith(b"20000")


def test_a_second_request_on_the_same_connection_has_its_own_time(
    address: tuple[str, int],
) -> None:
    with socket.create_connection(address) as connection, connection.makefile("rb") as answers:
        for _ in range(4):
            connection.sendall(HEAD % 5 + b"hello")
            head = list(iter(answers.readline, b"\r\n"))
            assert head[0] == b"HTTP/1.1 200 OK\r\n"
            assert answers.read(1) == b"5"
            time.sleep(0.3)
        connection.sendall(b"POST / HT")

        assert answers.read().startswith(b"HTTP/1.1 408 ")
