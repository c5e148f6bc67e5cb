"""The shapes of load for `make bench-burst`, and the figures of each."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Self

from benchmarks.layout import Row
from benchmarks.observation import spread
from benchmarks.scenarios import settle
from benchmarks.serving import verdict
from benchmarks.stage import Outcome, Stage
from benchmarks.traffic import Traffic, Upload
from benchmarks.worlds import ASSUMED

SOURCES = ("custom", "s3", "shared")  # values of `catalog_data_sources`
_LARGE_BYTES = 45_000_000
_MANY, _RATIO_OF_MANY, _RATIO = 2_000, 1.25, 1.6  # uploads, and times the bound
_BESIDE = 4.0  # seconds in addition to Bedrock's own, for single documents
_LONGEST, _DOLLARS = 2.2, 0.04
NOTES = f"""\
Times are seconds, each the median of the seeds. They end when a search finds the last document that
can be indexed and its record says so; where documents come one by one, they are the median wait.
bound: the least that Bedrock's limits allow, whichever way, with the latencies before them (event,
one state, one call); where documents come one by one, what Bedrock takes. longest: of the catalogs'
last waits, against their median, large files aside. untrue: documents lost, false failures, dead
letters, of all seeds. Aims: at most {_RATIO_OF_MANY:g} of the bound from {_MANY:,} uploads on,
{_RATIO:g} below, with a pool of 1, and larger pools no slower; one by one {_BESIDE:g} s beside
Bedrock's own; longest {_LONGEST:g}; a burst ${_DOLLARS:g}."""
_HEADS = (
    "catalog_data_sources, pool",
    "settled",
    "bound",
    "beside the bound",
    "a pool of 1 takes",
    "longest",
    "$ per 1,000",
    "untrue",
)


@dataclass(frozen=True, kw_only=True)
class Design:
    """The kind of data sources per catalog, and the number of knowledge bases."""

    catalog_data_sources: str
    pool_size: int = 1

    @property
    def name(self) -> str:
        return f"{self.catalog_data_sources}, {self.pool_size}"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """
    A load: `uploads` evenly over `catalogs` in some seconds; or one after another, `apart` seconds
    each, where medians count instead of the end. `large` files of 45 MB are among them; with
    `half_broken`, half of the others fail, and the end is that of the healthy ones.
    """

    uploads: int
    catalogs: int
    within: float = 60.0
    apart: float | None = None
    large: int = 0
    half_broken: bool = False

    @property
    def name(self) -> str:
        if self.apart is not None:
            return f"{self.uploads:,} into {self.catalogs:,}, one each {self.apart:g} s"
        broken = ", half of them broken," if self.half_broken else ""
        large = f" and {self.large} of 45 MB" if self.large else ""
        return f"{self.uploads:,}{broken}{large} into {self.catalogs:,} within {self.within:g} s"

    def planned(self, seed: int) -> list[Upload]:
        traffic = Traffic(random.Random(seed))
        if self.apart is not None:
            return traffic.steady(self.uploads, self.catalogs, apart=self.apart)
        small = traffic.burst(self.uploads, self.catalogs, within=self.within)
        large = traffic.large(self.large, _LARGE_BYTES, within=self.within)
        if self.half_broken:
            small = traffic.half_broken(small)
        return sorted([*small, *large], key=lambda each: each.at)


QUICK = (
    Shape(uploads=50, catalogs=10, within=5),
    Shape(uploads=24, catalogs=12, within=5),
    Shape(uploads=120, catalogs=12, apart=30),
    Shape(uploads=500, catalogs=50),
    Shape(uploads=500, catalogs=50, large=5, half_broken=True),
)
FULL = (
    *QUICK,
    Shape(uploads=1_000, catalogs=50, large=1),
    Shape(uploads=2_000, catalogs=400),
    Shape(uploads=5_000, catalogs=50),
    Shape(uploads=5_000, catalogs=5_000),
)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """
    The figures of one run, in a form that can be sent between processes.

    Times are seconds. `bounds` limit `settled`: by Bedrock's limits, and with the latencies before
    them; if documents come one by one, all three are medians.
    """

    settled: float
    bounds: tuple[float, float]
    longest: float  # the longest of the catalogs' last waits to their median, without large files
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
        """Return the medians of several seeds; broken promises of each count."""
        by_limits, with_latency = zip(*(each.bounds for each in seeds), strict=True)
        return cls(
            settled=median(each.settled for each in seeds),
            bounds=(median(by_limits), median(with_latency)),
            longest=median(each.longest for each in seeds),
            dollars=median(each.dollars for each in seeds),
            untrue=sum(each.untrue for each in seeds),
        )


def put_under(shape: Shape, design: Design, world: str, seed: int) -> Figures:
    stage = Stage(
        seed=seed,
        pool_size=design.pool_size,
        catalog_data_sources=design.catalog_data_sources,
        world=world,
    )
    outcome = settle(stage, shape.planned(seed))
    return Figures.of(outcome, by_median=shape.apart is not None)


def table(shape: Shape, measured: Mapping[Design, Figures], world: str) -> list[Row]:
    """Return a row for each design, with aims next to figures; other worlds have no aims."""
    return [_HEADS, *(_row(shape, design, measured, world) for design in measured)]


def _row(shape: Shape, design: Design, measured: Mapping[Design, Figures], world: str) -> Row:
    def judged(figure: str, reached: bool, has_aim: bool = True) -> str:
        return f"{figure} {verdict(reached)}" if has_aim and world == ASSUMED else figure

    here, is_alone, one_by_one = measured[design], design.pool_size == 1, shape.apart is not None
    bound = here.bounds[0 if one_by_one else 1]
    beside = here.settled - bound if one_by_one else here.settled / bound
    most = _BESIDE if one_by_one else _RATIO_OF_MANY if shape.uploads >= _MANY else _RATIO
    of_one = measured[replace(design, pool_size=1)].settled / here.settled
    return (
        design.name,
        f"{here.settled:,.1f}",
        f"{bound:,.1f}",
        judged(f"{beside:,.2f}{' s' if one_by_one else ''}", beside <= most, is_alone),
        "" if is_alone else judged(f"{of_one:,.2f} x", round(of_one, 2) >= 1),
        judged(f"{here.longest:,.2f}", here.longest <= _LONGEST),
        judged(f"{here.dollars:.4f}", here.dollars <= _DOLLARS, not one_by_one),
        judged(f"{here.untrue}", not here.untrue),
    )
