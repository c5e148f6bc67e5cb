"""How soon a load could be settled, with the time of each of its documents and events."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Self

from benchmarks.limits import TELLING, Work, alone, bound
from benchmarks.simulated_time.account import CREATED, event_delay
from benchmarks.simulated_time.bedrock import Durations
from benchmarks.traffic import Upload


@dataclass(frozen=True, kw_only=True)
class Least:
    """
    How soon that could be settled: by Bedrock's limits, and by these where nobody knows of an
    upload before its event, and what he does about it takes its least time.
    """

    works: Sequence[Work]  # told at once
    told: Sequence[Work]  # told after that
    pool_size: int

    @classmethod
    def of(cls, planned: Sequence[Upload], durations: Durations, pool_size: int) -> Self:
        seconds = {each: durations.seconds(each.size, each.etag) for each in planned}
        delays = {each: event_delay(durations.seed, CREATED, each.key) for each in planned}
        return cls(
            works=[Work(at=each.at, told=each.at, seconds=seconds[each]) for each in planned],
            told=[
                Work(at=each.at, told=each.at + delays[each] + TELLING, seconds=seconds[each])
                for each in planned
            ],
            pool_size=pool_size,
        )

    @cached_property
    def of_all(self) -> tuple[float, float]:
        """Seconds for everything; none where there was nothing to be done."""
        if not self.works:
            return 0.0, 0.0
        return (
            bound(self.works, pool_size=self.pool_size),
            bound(self.told, pool_size=self.pool_size),
        )

    @cached_property
    def of_median(self) -> tuple[float, float]:
        """Seconds for the middle one, if each is alone."""
        return median(map(alone, self.works)), median(map(alone, self.told))
