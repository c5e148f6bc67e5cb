"""Request rates: a token bucket per operation, shared by all callers of the account."""

import threading
from dataclasses import dataclass

from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.rules import RATE_EXCEEDED, RATES


@dataclass
class _Bucket:
    tokens: float
    filled_at: float


class Quotas:
    """Raises ThrottlingException for a request that comes too soon, which takes no token."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def spend(self, operation: str) -> None:
        rate = RATES.get(operation)
        if rate is None:
            return
        with self._lock:
            bucket = self._refilled(operation, rate)
            if bucket.tokens < 1:
                raise RATE_EXCEEDED.broken()
            bucket.tokens -= 1

    def _refilled(self, operation: str, rate: float) -> _Bucket:
        # A burst of one second's worth; AWS documents the rate only.
        size = max(1.0, rate)
        now = self._clock.elapsed()
        bucket = self._buckets.setdefault(operation, _Bucket(tokens=size, filled_at=now))
        bucket.tokens = min(size, bucket.tokens + (now - bucket.filled_at) * rate)
        bucket.filled_at = now
        return bucket
