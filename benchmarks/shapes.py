"""The shapes of load that every design is put under, and what each must come to."""

import random
from dataclasses import dataclass

from benchmarks.figures import Figures
from benchmarks.least import Least
from benchmarks.rivals import DESIGNS, rival
from benchmarks.scenarios import settle
from benchmarks.simulated_time.bedrock import Durations
from benchmarks.stage import Stage
from benchmarks.traffic import Traffic, Upload

OURS, EAGER = "Stackroom", "eager calls"
_LARGE_BYTES = 45_000_000


@dataclass(frozen=True, kw_only=True)
class Shape:
    """
    `uploads` evenly into `catalogs` within so many seconds; or one after another, `apart` seconds
    each, and then medians count instead of the end. `large` files of 45 MB come among them.
    """

    uploads: int
    catalogs: int
    within: float = 60.0
    apart: float | None = None
    large: int = 0
    pools: tuple[int, ...] = (1, 5, 20)
    rivals: tuple[str, ...] = (*DESIGNS, EAGER)

    @property
    def name(self) -> str:
        if self.apart is not None:
            return f"{self.uploads:,} into {self.catalogs:,}, one each {self.apart:g} s"
        large = f" and {self.large} of 45 MB" if self.large else ""
        return f"{self.uploads:,}{large} into {self.catalogs:,} within {self.within:g} s"

    def planned(self, seed: int) -> list[Upload]:
        traffic = Traffic(random.Random(seed))
        if self.apart is not None:
            return traffic.steady(self.uploads, self.catalogs, apart=self.apart)
        small = traffic.burst(self.uploads, self.catalogs, within=self.within)
        large = traffic.large(self.large, _LARGE_BYTES, within=self.within)
        return sorted([*small, *large], key=lambda each: each.at)


# What only `--full` takes is below the line: each is half a minute or more for real.
QUICK = (
    Shape(uploads=50, catalogs=10, within=5),
    Shape(uploads=24, catalogs=12, within=5),
    Shape(uploads=120, catalogs=12, apart=30),
    Shape(uploads=500, catalogs=50),
    Shape(uploads=2_000, catalogs=400, rivals=("naive", EAGER)),
    Shape(uploads=1_000, catalogs=50, large=1, rivals=("naive", EAGER)),
)
FULL = (
    *QUICK[:4],
    Shape(uploads=2_000, catalogs=400),
    Shape(uploads=5_000, catalogs=50),
    Shape(uploads=5_000, catalogs=5_000, rivals=("naive", EAGER)),
    Shape(uploads=100_000, catalogs=2_000, rivals=("naive", EAGER)),
    Shape(uploads=1_000, catalogs=50, large=1),
)


def put_under(shape: Shape, design: str, pool_size: int, seed: int) -> Figures:
    """Ours with a pool of that size; all others have one knowledge base."""
    planned = shape.planned(seed)
    if design == EAGER:
        least = Least.of(planned, Durations(seed=seed), pool_size)
        return Figures.of_eager(least, design=design, by_median=shape.apart is not None)
    if design == OURS:
        outcome = settle(Stage(seed=seed, pool_size=pool_size), planned)
    else:
        outcome = rival(design, planned, seed=seed)
    return Figures.of(
        outcome, design=design, pool_size=pool_size, by_median=shape.apart is not None
    )
