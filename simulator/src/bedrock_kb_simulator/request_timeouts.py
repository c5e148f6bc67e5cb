"""
How long our servers wait for a request to come in: a client that stalls does not keep its place.

A request may take ten seconds, and one more for each thousand bytes of it that are there: what
comes slowly but steadily comes through, headers and bodies alike. What does not is answered 408,
if nothing was answered yet, and its connection ends.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_GRACE_SECONDS = 10.0
_BYTES_PER_SECOND = 1000.0
_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class PatientProtocol(H11Protocol):
    """uvicorn's own; it has no bound of this kind."""

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
        self._check = self.loop.call_at(self._due, self._look)

    def _end(self) -> None:
        if self._check is not None:
            self._check.cancel()
            self._check = None

    @property
    def _due(self) -> float:
        return self._began + _GRACE_SECONDS + self._received / _BYTES_PER_SECOND

    def _look(self) -> None:
        if self._due > self.loop.time():
            self._check = self.loop.call_at(self._due, self._look)
            return
        self._check = None
        if not self._is_answered():
            self._transport.write(_TIMED_OUT)
        self._transport.close()

    def _is_incomplete(self) -> bool:
        """No request, or one of which not everything is there."""
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body

    def _is_answered(self) -> bool:
        """The answer has begun, before the request was complete."""
        cycle: Any = self.cycle
        return cycle is not None and cycle.more_body and cycle.response_started
