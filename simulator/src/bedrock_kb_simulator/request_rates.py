"""Request rates of the account and of managed knowledge bases."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.indexes import is_managed
from bedrock_kb_simulator.store import Store


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A rate of requests counted under a name; `burst` may come at once."""

    counted: str
    per_second: float
    burst: float


def _rates(operation: str, home: str, *, is_managed: bool) -> Sequence[Rate]:
    """Return all rates that a request about this knowledge base, if any, counts against."""
    if not is_managed or operation not in rules.MANAGED_RATES:  # rule managed.in-account
        return _plain(operation, rules.RATES.get(operation))
    of_account = _plain(f"{operation} of managed ones", rules.MANAGED_RATES[operation])
    if operation != "Retrieve":
        return of_account
    own = Rate(
        counted=f"{operation} of {home}",
        per_second=rules.MANAGED_RETRIEVE_RATE.value,
        burst=rules.MANAGED_RETRIEVE_BURST.value,
    )
    return (*of_account, own)


def _plain(counted: str, per_second: float | None) -> Sequence[Rate]:
    if per_second is None:
        return ()
    # A burst of one second's requests; AWS documents only the rate.
    return (Rate(counted=counted, per_second=per_second, burst=max(1.0, per_second)),)


def managed_in(store: Store) -> Callable[[str], bool]:
    """Return a test of ids, known or not, for those of managed knowledge bases."""

    def managed(knowledge_base_id: str) -> bool:
        query = "SELECT index_arn FROM knowledge_bases WHERE id = ?"
        row = store.row(query, knowledge_base_id)
        return row is not None and is_managed(row)

    return managed


# Token buckets, shared by all callers of the account.


@dataclass
class _Bucket:
    tokens: float
    filled_at: float


class Quotas:
    """Refuses requests over their rate; a refused request takes no token."""

    def __init__(self, clock: Clock, is_managed: Callable[[str], bool]) -> None:
        self._clock = clock
        self._is_managed = is_managed
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def spend(self, operation: str, parameters: Mapping[str, Any]) -> None:
        home = parameters.get("knowledgeBaseId")
        home = home if isinstance(home, str) else ""
        rates = _rates(operation, home, is_managed=self._is_managed(home))
        with self._lock:
            buckets = [self._refill(rate) for rate in rates]
            if any(bucket.tokens < 1 for bucket in buckets):
                is_textract = operation == "DetectDocumentText"
                raise (rules.TEXTRACT_RATE if is_textract else rules.RATE_EXCEEDED).broken()
            for bucket in buckets:
                bucket.tokens -= 1

    def _refill(self, rate: Rate) -> _Bucket:
        now = self._clock.elapsed()
        first = _Bucket(tokens=rate.burst, filled_at=now)
        bucket = self._buckets.setdefault(rate.counted, first)
        gained = (now - bucket.filled_at) * rate.per_second
        bucket.tokens = min(rate.burst, bucket.tokens + gained)
        bucket.filled_at = now
        return bucket
