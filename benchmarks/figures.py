"""What became of one design under one load, in figures that can be sent between processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Self

from benchmarks.observation import spread
from benchmarks.stage import Outcome


@dataclass(frozen=True, kw_only=True)
class Figures:
    """
    Times are seconds. `bounds` are of `settled`: by Bedrock's limits, and with the latencies before
    them; where work comes one by one, all three are of medians.
    """

    settled: float
    bounds: tuple[float, float]
    longest: float  # of the catalogs' last waits, against their median, large files aside
    dollars: float  # per 1,000 uploads
    untrue: int  # uploads that were lost, failed or set aside without a reason

    @classmethod
    def of(cls, outcome: Outcome, *, by_median: bool) -> Self:
        seen = outcome.observation
        return cls(
            settled=median(seen.all_waits()) if by_median else outcome.settled,
            bounds=outcome.least.of_median if by_median else outcome.least.of_all,
            longest=spread(max(each) for each in seen.waits.values()),
            dollars=1_000 * outcome.bill.total / seen.uploads,
            untrue=outcome.lost + outcome.false_failures + outcome.dead_letters,
        )

    @classmethod
    def middle(cls, seeds: Sequence[Self]) -> Self:
        """Of several seeds; what is untrue of any counts."""
        by_limits, with_latency = zip(*(each.bounds for each in seeds), strict=True)
        return cls(
            settled=median(each.settled for each in seeds),
            bounds=(median(by_limits), median(with_latency)),
            longest=median(each.longest for each in seeds),
            dollars=median(each.dollars for each in seeds),
            untrue=sum(each.untrue for each in seeds),
        )
