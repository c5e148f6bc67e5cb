"""
Limit the rate of questions to a knowledge base: a question waits briefly, or is refused.

Each process asks at the rate that AWS allows the account, without knowing of other processes. If
AWS throttles a question all the same, it is repeated after growing pauses while the caller's
deadline allows; then the caller is told when to try again.
"""

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.model.filters import Filter
from stackroom.model.passages import KnowledgeBase, Retrieved

# Seconds that a question waits at most. A function that waits is paid for: a flood that gets ten
# answers a second keeps twenty of them waiting.
PATIENCE = 2.0
_FIRST_PAUSE = 0.2  # seconds, at most, before a throttled question is asked again


class TokenBucket:
    """
    A token bucket for one process: one second's questions at once, more as it refills.

    Several knowledge bases may share it, and several threads may use it at once.
    """

    def __init__(
        self,
        operation: str,
        per_second: float,
        *,
        elapsed: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.operation = operation
        self.per_second = per_second
        self._elapsed = elapsed
        self._sleep = sleep
        self._full_at = -math.inf
        self._lock = Lock()

    def until(self, deadline: Deadline) -> float:
        """Return the time at which a question that arrives now stops waiting."""
        return self._elapsed() + min(PATIENCE, deadline.left())

    def take(self, until: float) -> None:
        """
        Wait for a question's turn. Raises KnowledgeBaseThrottled at once if that is after `until`.
        """
        with self._lock:
            now = self._elapsed()
            full_at = max(self._full_at, now) + 1 / self.per_second
            wait = max(0.0, full_at - now - max(1.0, 1 / self.per_second))
            self._require(wait, now, until)
            self._full_at = full_at
        self._sleep(wait)

    def refused(self, times: int, until: float) -> None:
        """
        Wait after AWS has refused a question `times` times. Raises KnowledgeBaseThrottled at once
        if that takes longer than `until`.
        """
        pause = random.uniform(0, _FIRST_PAUSE * 2**times)  # noqa: S311 - not security
        with self._lock:
            now = self._elapsed()
            self._full_at = max(self._full_at, now + 1)  # AWS knows that nothing is left
            self._require(pause, now, until)
        self._sleep(pause)

    def _require(self, wait: float, now: float, until: float) -> None:
        if now + wait > until:
            # Those who were sent away together are not to come back together.
            longest = max(wait, PATIENCE) * random.uniform(1, 2)  # noqa: S311 - not security
            raise KnowledgeBaseThrottled(self.operation, retry_after=math.ceil(longest))


@dataclass(frozen=True)
class Paced:
    """
    A `KnowledgeBase` that asks another at the rate of the bucket.

    With `repeats_failures`, a failure other than a throttle is repeated once, for stores whose
    client doesn't retry.
    """

    knowledge_base: KnowledgeBase
    bucket: TokenBucket
    repeats_failures: bool = False

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        until = self.bucket.until(deadline)
        throttles, may_fail = 0, self.repeats_failures
        while True:
            self.bucket.take(until)
            try:
                return self.knowledge_base.retrieve(query, condition, limit, deadline=deadline)
            except KnowledgeBaseThrottled as error:
                if error.retry_after is not None:
                    raise  # another such one, further down, has sent it away
                self.bucket.refused(throttles, until)
                throttles += 1
            except KnowledgeBaseUnavailable:
                if not may_fail or deadline.has_passed:
                    raise
                may_fail = False
