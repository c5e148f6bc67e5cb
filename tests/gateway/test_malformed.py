"""Whatever a client sends: an answer of JSON-RPC's own, and the function's processes live on."""

import json
import socket
from contextlib import ExitStack
from urllib.parse import urlsplit

import psutil

from stackroom_local.gateway.issuer import Issuer
from tests.gateway.serving import TOOL, RunningGateway, wait_until

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602


def call(arguments: str = "{}", id_: str = "1") -> bytes:
    """A call as text, for what Python would not write."""
    return (
        f'{{"jsonrpc": "2.0", "id": {id_}, "method": "tools/call", '
        f'"params": {{"name": "{TOOL}", "arguments": {arguments}}}}}'
    ).encode()


def processes(gateway: RunningGateway) -> set[int]:
    return {each.pid for each in psutil.Process(gateway.process.pid).children()}


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


MISUNDERSTOOD = [
    (call(r'{"query": "\ud800"}'), PARSE_ERROR),
    (call(id_=r'"\ud800"'), PARSE_ERROR),
    (call('{"query": NaN}'), PARSE_ERROR),
    (call('{"query": 1e999}'), PARSE_ERROR),
    (call(id_="1e999"), PARSE_ERROR),
    (call(f'{{"query": {nested(10_000)}}}'), PARSE_ERROR),
    (call(f'{{"query": {nested(900)}}}'), PARSE_ERROR),
    (call('{"query": "A"}').replace(b"A", b"\xff"), PARSE_ERROR),
    (b"\xef\xbb\xbf" + call(), PARSE_ERROR),
    (b"", PARSE_ERROR),
    (b'{"jsonrpc": "2.0"} {}', PARSE_ERROR),
    (call(id_="9" * 5000), PARSE_ERROR),
    (call(id_="null"), INVALID_REQUEST),
    (call(id_="1.5"), INVALID_REQUEST),
    (call("[1]"), INVALID_PARAMS),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', INVALID_PARAMS),
]


def test_what_can_not_be_understood_is_told_in_json_rpc_and_no_process_ends(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    token = issuer.mint("alice")
    gateway.echo(token=token, query="warm")
    before = processes(gateway)

    for body, code in MISUNDERSTOOD:
        response = gateway.post(body, token=token)

        assert response.json()["error"]["code"] == code, body[:80]
        assert response.status_code < 500, body[:80]
    assert processes(gateway) == before
    assert gateway.echo(token=token, query="still there")["event"] == {"query": "still there"}


def test_what_is_odd_but_json_reaches_the_function(gateway: RunningGateway, issuer: Issuer) -> None:
    token = issuer.mint("alice")
    odd: dict[str, dict[str, object]] = {
        '{"query": "a", "query": "b"}': {"query": "b"},
        r'{"query": "\u0000"}': {"query": "\0"},
        f'{{"query": {"9" * 4000}}}': {"query": int("9" * 4000)},
        r'{"query": "\ud83d\ude00"}': {"query": "\N{GRINNING FACE}"},
    }
    for arguments, seen in odd.items():
        [block] = gateway.post(call(arguments), token=token).json()["result"]["content"]

        assert json.loads(block["text"])["event"] == seen


def test_a_hundred_requests_that_stall_are_ended_and_leave_a_line(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    parts = urlsplit(gateway.base)
    authorization = f"Authorization: Bearer {issuer.mint('alice')}"
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {parts.netloc}\r\n{authorization}\r\nContent-Length: 99\r\n"
    )
    with ExitStack() as stack:
        stalled = [
            stack.enter_context(socket.create_connection((parts.hostname, parts.port)))
            for _ in range(100)
        ]
        for number, each in enumerate(stalled):
            each.sendall(head.encode() + (b"\r\n{" if number % 2 else b""))

        for each in stalled:
            each.settimeout(120)
            assert each.recv(65536).startswith(b"HTTP/1.1 408 ")

    log = gateway.data_dir / "gateway.log"
    wait_until(lambda: "a client left, or was too slow" in log.read_text())
    assert "Traceback" not in log.read_text()
