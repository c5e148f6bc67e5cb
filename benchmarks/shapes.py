"""The shapes of load that every design is put under, in every world."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.figures import Figures
from benchmarks.naive import naive
from benchmarks.scenarios import settle
from benchmarks.stage import Stage
from benchmarks.traffic import Traffic, Upload

_LARGE_BYTES = 45_000_000


@dataclass(frozen=True, kw_only=True)
class Design:
    """Ours by what `catalog_data_sources` is; the naive one needs no more than one of a pool."""

    catalog_data_sources: str | None
    pool_size: int = 1

    @property
    def name(self) -> str:
        if self.catalog_data_sources is None:
            return "naive"
        return f"Stackroom, {self.catalog_data_sources}, {self.pool_size}"


NAIVE = Design(catalog_data_sources=None)
BY_JOBS = Design(catalog_data_sources="s3")
NAMES = ("custom", "s3", "shared", NAIVE.name)  # ours by what `catalog_data_sources` is


def designs(names: Sequence[str], pools: Sequence[int]) -> list[Design]:
    ours = [
        Design(catalog_data_sources=each, pool_size=pool_size)
        for each in names
        if each != NAIVE.name
        for pool_size in pools
    ]
    return [*ours, NAIVE] if NAIVE.name in names else ours


@dataclass(frozen=True, kw_only=True)
class Shape:
    """
    `uploads` evenly into `catalogs` within so many seconds; or one after another, `apart` seconds
    each, and then medians count instead of the end. `large` files of 45 MB come among them; of the
    others half may be `half_broken`, and then the end is that of the healthy ones.
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


def put_under(shape: Shape, design: Design, world: str, seed: int) -> Figures:
    planned = shape.planned(seed)
    if design.catalog_data_sources is None:
        outcome = naive(planned, seed=seed, world=world)
    else:
        stage = Stage(
            seed=seed,
            pool_size=design.pool_size,
            catalog_data_sources=design.catalog_data_sources,
            world=world,
        )
        outcome = settle(stage, planned)
    return Figures.of(outcome, by_median=shape.apart is not None)
