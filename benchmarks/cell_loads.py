"""What a cell serves, and how many of them a million users need."""

import random
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from bedrock_kb_simulator.rules import DIRECT_CONCURRENCY, DIRECT_DURATION, RATES
from benchmarks.simulated_time.bedrock import Durations
from benchmarks.traffic import Traffic

USERS = 1_000_000
Parts = NDArray[np.float64]
_DAY = 86_400.0
_PER_CALL = 10  # documents [API model bedrock-agent: KnowledgeBaseDocuments]
# Assumed: the busiest minutes against the mean of a day, and how much of a limit is planned with.
PEAK, FILLED = 4.0, 0.7
_SAMPLE = 2_000
PLACED_BY_TABLE = 1_000  # of the tenants, the busiest ones
MOST_CELLS = 400


@dataclass(frozen=True, kw_only=True)
class Load:
    """Of a user, in a day."""

    name: str
    questions: float
    uploads: float

    def at_peak(self, users: float) -> tuple[float, float]:
        """Questions and uploads a second."""
        seconds = _DAY / PEAK
        return users * self.questions / seconds, users * self.uploads / seconds


LOADS = (
    Load(name="light", questions=0.2, uploads=0.05),
    Load(name="usual", questions=2.0, uploads=0.5),
    Load(name="heavy", questions=10.0, uploads=2.0),
)


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """Of one account and Region, a second: questions (Retrieve), and documents by direct calls."""

    questions: float
    uploads: float

    def users(self, load: Load) -> float:
        """As many as it serves at their peak; with questions or with uploads it ends first."""
        questions, uploads = load.at_peak(1.0)
        return FILLED * min(self.questions / questions, self.uploads / uploads)

    def ends_with(self, load: Load) -> str:
        questions, uploads = load.at_peak(1.0)
        return "questions" if self.questions / questions < self.uploads / uploads else "uploads"


def capacity(seed: int) -> Capacity:
    """By Bedrock's limits, and the sizes and durations that all of these benchmarks assume."""
    traffic, durations = Traffic(random.Random(seed)), Durations(seed=seed)
    uploads = [traffic.upload(0, 0, number) for number in range(_SAMPLE)]
    seconds = sum(durations.seconds(each.size, each.etag) for each in uploads) / _SAMPLE
    full_call = DIRECT_DURATION.value + _PER_CALL * seconds
    return Capacity(
        questions=RATES["Retrieve"],
        uploads=min(
            DIRECT_CONCURRENCY.value * _PER_CALL / full_call,
            RATES["IngestKnowledgeBaseDocuments"] * _PER_CALL,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Spread:
    """So many cells hold it: none is over its share. `busiest` is against the mean."""

    cells: int | None  # None if there is a tenant who alone is more than a cell
    busiest: float
    largest_tenant: float  # its part of what a cell is planned for


def weights(tenants: int, exponent: float) -> Parts:
    """Zipf: each tenant's part of all activity, the busiest first."""
    parts: Parts = np.arange(1, tenants + 1, dtype=np.float64) ** -exponent
    parts /= parts.sum()
    return parts


def spread(parts: Parts, demand: float, *, by_table: int, seed: int) -> Spread:
    """
    The least cells that hold it, where `demand` is how many cells' worth there is; the `by_table`
    busiest tenants go to the emptiest cell, all others where a hash sends them.
    """
    largest = float(parts[0] * demand)
    if largest > 1:
        return Spread(cells=None, busiest=0.0, largest_tenant=largest)
    for cells in range(max(1, ceil(demand)), MOST_CELLS + 1):
        busiest = float(per_cell(parts, cells, by_table=by_table, seed=seed).max()) * demand
        if busiest <= 1:
            mean = demand / cells
            return Spread(cells=cells, busiest=busiest / mean, largest_tenant=largest)
    return Spread(cells=None, busiest=0.0, largest_tenant=largest)


def per_cell(parts: Parts, cells: int, *, by_table: int, seed: int) -> Parts:
    """Each cell's part of all activity."""
    homes = np.random.default_rng(seed).integers(0, cells, len(parts) - by_table)
    held = np.bincount(homes, weights=parts[by_table:], minlength=cells).astype(np.float64)
    for part in parts[:by_table]:
        held[held.argmin()] += part
    return held
