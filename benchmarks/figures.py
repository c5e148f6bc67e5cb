"""What became of one design under one load, in figures that can be sent between processes."""

import time
from dataclasses import dataclass
from statistics import median
from typing import Self

from benchmarks.eager import eager
from benchmarks.least import Least
from benchmarks.observation import jain, percentile, spread
from benchmarks.stage import Outcome


@dataclass(frozen=True, kw_only=True)
class Figures:
    """
    Times are seconds. `bounds` are of `settled`: by Bedrock's limits, and with the latencies before
    them; where work comes one by one, both are of medians.
    """

    design: str
    pool_size: int
    settled: float
    bounds: tuple[float, float]
    p50: float
    p99: float
    longest_to_median: float | None = None  # of the catalogs' last waits, large files aside
    jain: float | None = None
    dollars: float | None = None  # per 1,000 uploads
    transitions: float | None = None  # a run
    untrue: tuple[int, int, int] | None = None  # lost, failed or set aside without a reason
    took: float = 0.0  # seconds for real

    @property
    def ratio(self) -> float:
        return self.settled / self.bounds[1] if self.bounds[1] else 0.0

    @classmethod
    def of(cls, outcome: Outcome, *, design: str, pool_size: int, by_median: bool) -> Self:
        seen, waits = outcome.observation, outcome.observation.all_waits()
        by_catalog = seen.waits.values()
        return cls(
            design=design,
            pool_size=pool_size,
            settled=median(waits) if by_median and waits else outcome.settled,
            bounds=outcome.least.of_median if by_median else outcome.least.of_all,
            p50=percentile(waits, 0.5),
            p99=percentile(waits, 0.99),
            longest_to_median=spread(max(each) for each in by_catalog),
            jain=jain(sum(each) / len(each) for each in by_catalog),
            dollars=1_000 * outcome.bill.total / seen.uploads,
            transitions=outcome.bill.amounts["transitions"] / outcome.executions,
            untrue=(outcome.lost, outcome.false_failures, outcome.dead_letters),
            took=outcome.took,
        )

    @classmethod
    def of_eager(cls, least: Least, *, design: str, by_median: bool) -> Self:
        began, settled = time.perf_counter(), eager(least.told)
        waits = sorted(end - at for at, end in settled)
        whole = max(end for _, end in settled) - min(at for at, _ in settled)
        return cls(
            design=design,
            pool_size=least.pool_size,
            settled=median(waits) if by_median else whole,
            bounds=least.of_median if by_median else least.of_all,
            p50=percentile(waits, 0.5),
            p99=percentile(waits, 0.99),
            took=time.perf_counter() - began,
        )
