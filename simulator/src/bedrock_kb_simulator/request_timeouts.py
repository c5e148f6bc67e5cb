"""
Timeouts of incoming requests, so that a stalled client doesn't hold a connection.

A request, headers and body, may take ten seconds, and one more per thousand bytes received: slow
but steady clients succeed. Others get 408, unless a response has begun, and their connection ends.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_GRACE_SECONDS = 10.0
_BYTES_PER_SECOND = 1000.0
_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP protocol with a timeout of requests, which uvicorn lacks."""

    _transport: asyncio.Transport
    _check: asyncio.TimerHandle | None = None
    _began = 0.0
    _received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._transport = transport
        self._begin()

    def data_received(self, data: bytes) -> None:
        if self._check is None:
            self._begin()
        self._received += len(data)
        super().data_received(data)
        if not self._is_incomplete():
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._began, self._received = self.loop.time(), 0
        self._check = self.loop.call_at(self._due, self._check_progress)

    def _end(self) -> None:
        if self._check is not None:
            self._check.cancel()
            self._check = None

    @property
    def _due(self) -> float:
        return self._began + _GRACE_SECONDS + self._received / _BYTES_PER_SECOND

    def _check_progress(self) -> None:
        if self._due > self.loop.time():
            self._check = self.loop.call_at(self._due, self._check_progress)
            return
        self._check = None
        if not self._is_answered():
            self._transport.write(_TIMED_OUT)
        self._transport.close()

    def _is_incomplete(self) -> bool:
        """Return True until a whole request was received."""
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body

    def _is_answered(self) -> bool:
        """Return True if the response began before the request was complete."""
        cycle: Any = self.cycle
        return cycle is not None and cycle.more_body and cycle.response_started
