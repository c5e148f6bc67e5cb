"""
A relay between an adapter and a server that speaks no HTTP: bytes pass until they are spoilt.

    with Wire("/run/postgresql/.s.PGSQL.5432") as wire:
        connections = Connections(lambda: {"host": "127.0.0.1", "port": wire.port, ...})
        with wire.spoiling(lambda answered: b""):
            ...
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

Spoil = Callable[[bytes], bytes | None]  # of what the server says; None ends the connection


def cut_off(_answered: bytes) -> None:
    """The connection ends without an answer."""


def half(answered: bytes) -> bytes | None:
    """And then the connection ends, since what is left of it is empty."""
    return answered[: len(answered) // 2] or None


class Wire:
    """It listens on a free port of the loopback interface; `target` is a socket in a folder."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._spoil: Spoil | None = None
        self._over = threading.Event()
        self._over.set()
        self._ends: set[socket.socket] = set()
        self._heard = bytearray()
        self._lock = threading.Lock()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    def heard(self, text: bytes) -> int:
        """How often the server was told it."""
        with self._lock:
            return self._heard.count(text)

    @contextmanager
    def spoiling(self, spoil: Spoil) -> Iterator[None]:
        """All that the server says; afterwards no connection is left that heard it."""
        self._spoil = spoil
        try:
            yield
        finally:
            self._spoil = None
            self.hang_up()

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold back the server's answers, then and later."""
        self._over.clear()
        try:
            yield
        finally:
            self.hang_up()
            self._over.set()

    def hang_up(self) -> None:
        with self._lock:
            ends, self._ends = self._ends, set()
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listening.accept()
            except OSError:
                return  # it was closed
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._target)
            except OSError:
                caller.close()
                server.close()
                continue
            with self._lock:
                self._ends |= {caller, server}
            for pump in (self._asked, self._answered):
                threading.Thread(target=pump, args=(caller, server), daemon=True).start()

    def _asked(self, caller: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while said := caller.recv(65536):
                with self._lock:
                    self._heard += said
                server.sendall(said)
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    def _answered(self, caller: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while said := server.recv(65536):
                self._over.wait()
                passed = said if self._spoil is None else self._spoil(said)
                if passed is None:
                    break
                caller.sendall(passed)
                if passed != said:
                    break
        for end in (caller, server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
        self.hang_up()
