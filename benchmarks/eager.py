"""
What can be had of direct calls without knowing what is still to come: a yardstick, no design.

As soon as Bedrock can be told of a document and one of an account's direct calls is free, a call
begins with its share of what waits, the first to come first. Nothing else takes any time, and what
a record says is known at once. The bound is lower, for it knows what comes and how long it takes.
"""

from collections import deque
from collections.abc import Sequence
from heapq import heapify, heapreplace

from benchmarks.limits import LIMITS, Limits, Work


def eager(works: Sequence[Work], limits: Limits = LIMITS) -> list[tuple[float, float]]:
    """When each arrives and when it is settled, in the order in which Bedrock is told of them."""
    coming = deque(sorted(works, key=lambda each: each.told))
    waiting: deque[Work] = deque()
    free = [0.0] * limits.calls  # since when each call is
    heapify(free)
    settled: list[tuple[float, float]] = []
    now = 0.0
    while coming or waiting:
        now = max(now, free[0]) if waiting else max(free[0], coming[0].told)
        while coming and coming[0].told <= now:
            waiting.append(coming.popleft())
        share = -(-len(waiting) // sum(since <= now for since in free))
        at = now + limits.call
        for _ in range(min(share, limits.per_call)):
            work = waiting.popleft()
            at += work.seconds
            settled.append((work.at, at))
        heapreplace(free, at)
    return settled
