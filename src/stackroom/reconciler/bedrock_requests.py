"""
Limit the requests to knowledge bases, so that no run waits for them, and repeat failed ones.

List- and GetKnowledgeBaseDocuments allow five requests a second each per account, not adjustable
[AWS General Reference: Amazon Bedrock quotas], and users report that both share one limit. Runs ask
as often as their documents need; the reconciler uses a small part, and less once it is throttled.

If a knowledge base fails or throttles, only its own data sources are affected, so the piece goes on
after several attempts, and the failure is reported as not compared. A knowledge base that is down
is then asked only once per call, until a call succeeds.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from stackroom.concurrency import random_pauses, retried
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable

_Port = TypeVar("_Port")
_Answer = TypeVar("_Answer")

DEFAULT_A_SECOND = 1.0  # requests
_LONGEST = 30.0  # seconds between two requests
TRIES = 8  # over eleven seconds on average, besides the SDK's own
_PASSING = (KnowledgeBaseThrottled, KnowledgeBaseUnavailable)


@dataclass(kw_only=True)
class RequestPace:
    """
    A limit of `a_second` requests a second. Each throttle halves the rate, down to one request in
    thirty seconds; each success doubles it.
    """

    a_second: float = DEFAULT_A_SECOND
    sleep: Callable[[float], None] = field(default_factory=lambda: time.sleep)
    now: Callable[[], float] = field(default_factory=lambda: time.monotonic)
    _gap: float = field(default=0.0, init=False)
    _next: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._gap = self._shortest

    def of(self, port: _Port, *calls: str) -> _Port:
        """Return the port with each of the named calls waiting for its turn."""
        return cast(_Port, _Around(port, calls, self._ask))

    def _ask(self, call: Callable[[], Any]) -> Any:
        wait = self._next - self.now()
        if wait > 0:
            self.sleep(wait)
        self._next = self.now() + self._gap
        try:
            answer = call()
        except KnowledgeBaseThrottled:
            self._gap = min(2 * self._gap, max(_LONGEST, self._shortest))
            self._next = self.now() + self._gap
            raise
        self._gap = max(self._gap / 2, self._shortest)
        return answer

    @property
    def _shortest(self) -> float:
        return 1 / self.a_second


@dataclass(kw_only=True)
class Patience:
    pause: Callable[[int], None] = field(default_factory=lambda: random_pauses(0.5, 5))
    _is_down: bool = field(default=False, init=False)

    def with_(self, port: _Port, *calls: str) -> _Port:
        """Return the port with the named calls retried. They must be safe to repeat."""
        return cast(_Port, _Around(port, calls, self._answer))

    def _answer(self, once: Callable[[], _Answer]) -> _Answer:
        """
        Return the result of `once`. Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable of
        the last attempt.
        """
        tries = 1 if self._is_down else TRIES
        try:
            found = retried(once, tries=tries, pause=self.pause, after=_PASSING)
        except _PASSING:
            self._is_down = True
            raise
        self._is_down = False
        return found


@dataclass(frozen=True)
class _Around:
    _port: object
    _calls: tuple[str, ...]
    _made: Callable[[Callable[[], Any]], Any]

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if name not in self._calls:
            return method
        return lambda *given, **named: self._made(lambda: method(*given, **named))
