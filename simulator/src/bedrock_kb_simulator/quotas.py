"""Request rates: token buckets, shared by all callers of the account."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.rates import Rate, Rates
from bedrock_kb_simulator.rules import RATE_EXCEEDED


@dataclass
class _Bucket:
    tokens: float
    filled_at: float


class Quotas:
    """Raises ThrottlingException for a request that comes too soon, which takes no token."""

    def __init__(self, clock: Clock, rates: Rates) -> None:
        self._clock = clock
        self._rates = rates
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def spend(self, operation: str, parameters: Mapping[str, Any]) -> None:
        rates = self._rates.of(operation, parameters)
        with self._lock:
            buckets = [self._refilled(rate) for rate in rates]
            if any(bucket.tokens < 1 for bucket in buckets):
                raise RATE_EXCEEDED.broken()
            for bucket in buckets:
                bucket.tokens -= 1

    def _refilled(self, rate: Rate) -> _Bucket:
        now = self._clock.elapsed()
        first = _Bucket(tokens=rate.burst, filled_at=now)
        bucket = self._buckets.setdefault(rate.counted, first)
        gained = (now - bucket.filled_at) * rate.per_second
        bucket.tokens = min(rate.burst, bucket.tokens + gained)
        bucket.filled_at = now
        return bucket
