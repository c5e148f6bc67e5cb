"""
How often the reconciler asks for documents of the knowledge bases: never so often that a run waits.

List- and GetKnowledgeBaseDocuments of an account are five requests a second each, not adjustable
[AWS General Reference: Amazon Bedrock quotas], and users' reports have them share these. Runs ask
as often as their documents need; the reconciler keeps to a small part, and to less when it is
throttled: then somebody else needs them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from stackroom.errors import KnowledgeBaseThrottled

_Port = TypeVar("_Port")

ACCOUNT_A_SECOND = 5.0  # requests, as above
DEFAULT_A_SECOND = 1.0
_LONGEST = 30.0  # seconds between two requests


@dataclass(kw_only=True)
class Pace:
    """
    At most `a_second` requests a second, fewer than the account has; after each that is throttled,
    half as many until thirty seconds lie between two, and after each that is not, twice as many.
    """

    a_second: float = DEFAULT_A_SECOND
    sleep: Callable[[float], None] = field(default_factory=lambda: time.sleep)
    now: Callable[[], float] = field(default_factory=lambda: time.monotonic)
    requests: int = field(default=0, init=False)
    _gap: float = field(default=0.0, init=False)
    _next: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        if not 0 < self.a_second < ACCOUNT_A_SECOND:
            allowed = f"more than 0 and less than the account's {ACCOUNT_A_SECOND:g}"
            raise ValueError(f"{self.a_second!r} requests a second; allowed: {allowed}")
        self._gap = self._shortest

    def of(self, port: _Port, *calls: str) -> _Port:
        """The port, each of whose calls named waits for its turn. It should be one request."""
        return cast(_Port, _Paced(port, self, calls))

    def ask(self, call: Callable[[], Any]) -> Any:
        wait = self._next - self.now()
        if wait > 0:
            self.sleep(wait)
        self._next = self.now() + self._gap
        self.requests += 1
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


@dataclass(frozen=True)
class _Paced:
    _port: object
    _pace: Pace
    _calls: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if name not in self._calls:
            return method
        return lambda *given, **named: self._pace.ask(lambda: method(*given, **named))
