"""How soon a load could be settled, with the time of each of its documents and events."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import Self

from bedrock_kb_simulator.rules import SEARCHABLE_LAG
from benchmarks.limits import TELLING, Limits, Work, alone, bound
from benchmarks.simulated_time.account import CREATED, event_delay
from benchmarks.simulated_time.bedrock import Durations
from benchmarks.traffic import Upload


@dataclass(frozen=True, kw_only=True)
class Least:
    """
    How soon a search could find all of that which can be indexed at all: by Bedrock's limits, and
    by these where nobody knows of an upload before its event, and what he does about it takes its
    least time.
    """

    works: Sequence[Work]  # told at once
    told: Sequence[Work]  # told after that
    pool_size: int
    limits: Limits

    @classmethod
    def of(
        cls, planned: Sequence[Upload], durations: Durations, pool_size: int, limits: Limits
    ) -> Self:
        works = [
            (Work(at=each.at, told=each.at, seconds=durations.seconds(each.size, each.etag)), each)
            for each in planned
            if not each.is_broken
        ]
        return cls(
            works=[work for work, _ in works],
            told=[
                replace(work, told=work.at + delay + TELLING)
                for work, each in works
                for delay in [event_delay(durations.seed, CREATED, each.key)]
            ],
            pool_size=pool_size,
            limits=limits,
        )

    @cached_property
    def of_all(self) -> tuple[float, float]:
        """Seconds for everything; none where there was nothing to be done."""
        if not self.works:
            return 0.0, 0.0
        by_limits, with_latency = (
            SEARCHABLE_LAG.value + bound(each, pool_size=self.pool_size, limits=self.limits)
            for each in (self.works, self.told)
        )
        return by_limits, with_latency

    @cached_property
    def of_median(self) -> tuple[float, float]:
        """Seconds for the middle one, if each is alone."""
        by_limits, with_latency = (
            SEARCHABLE_LAG.value + median(alone(work, self.limits) for work in each)
            for each in (self.works, self.told)
        )
        return by_limits, with_latency
