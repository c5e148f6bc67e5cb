"""Leaving alone what failed, for a while."""

import math
import time
from collections.abc import Callable
from threading import Lock


class Breaker:
    """
    Says whether to try: not within `rest` seconds after a failure; then one may, and the others
    only when that one has succeeded. Safe to use from several threads.
    """

    def __init__(self, *, rest: float, now: Callable[[], float] = time.monotonic) -> None:
        self._rest = rest
        self._now = now
        self._lock = Lock()
        self._resting_until = -math.inf
        self._is_failing = False

    @property
    def is_resting(self) -> bool:
        with self._lock:
            return self._now() < self._resting_until

    def may_try(self) -> bool:
        with self._lock:
            now = self._now()
            if now < self._resting_until:
                return False
            if self._is_failing:
                self._resting_until = now + self._rest
        return True

    def succeeded(self) -> None:
        with self._lock:
            self._is_failing, self._resting_until = False, -math.inf

    def failed(self) -> bool:
        """Whether that is news: what was tried before had succeeded."""
        with self._lock:
            is_news, self._is_failing = not self._is_failing, True
            self._resting_until = self._now() + self._rest
        return is_news
