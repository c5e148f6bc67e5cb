"""
Asking a knowledge base again, before it is told that something of it could not be compared.

What it fails or throttles is the trouble of its data sources alone, so no piece ends with it, and
nobody would compare anew what was missed. Of one that is down, each further call would cost all the
tries: then it is asked once only, until something is answered.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.retries import random_pauses, retried

_Port = TypeVar("_Port")
_Answer = TypeVar("_Answer")

TRIES = 8  # over eleven seconds on average, besides the SDK's own
_PASSING = (KnowledgeBaseThrottled, KnowledgeBaseUnavailable)


@dataclass(kw_only=True)
class Patience:
    pause: Callable[[int], None] = field(default_factory=lambda: random_pauses(0.5, 5))
    _is_down: bool = field(default=False, init=False)

    def with_(self, port: _Port, *calls: str) -> _Port:
        """The port, of which those calls are tried again. They must be safe to repeat."""
        return cast(_Port, _Patient(port, self, calls))

    def answer(self, once: Callable[[], _Answer]) -> _Answer:
        """What `once` answers; the last try's KnowledgeBaseThrottled or -Unavailable is raised."""
        tries = 1 if self._is_down else TRIES
        try:
            found = retried(once, tries=tries, pause=self.pause, after=_PASSING)
        except _PASSING:
            self._is_down = True
            raise
        self._is_down = False
        return found


@dataclass(frozen=True)
class _Patient:
    _port: object
    _patience: Patience
    _calls: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if name not in self._calls:
            return method

        def asked(*given: Any, **named: Any) -> Any:
            return self._patience.answer(lambda: method(*given, **named))

        return asked
