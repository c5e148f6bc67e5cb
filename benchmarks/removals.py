"""Measures how soon deleted documents are no longer found, and their receipts say so."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.layout import Row
from benchmarks.limits import TELLING, Work, bound
from benchmarks.observation import percentile
from benchmarks.serving import verdict
from benchmarks.stage import Stage
from benchmarks.traffic import Traffic
from simulated_time.account import DELETED, event_delay

WITHIN = 60.0  # seconds in which everything is deleted
_DAY = 86_400.0
_AIM = 1.3  # times the bound


@dataclass(frozen=True, kw_only=True)
class Removal:
    """
    Seconds: of each document from its request, and of the last from the first request. The bounds
    are those of any way, and of direct calls alone.
    """

    pool_size: int
    unsearchable: list[float]
    receipted: list[float]
    last: float
    bound: float
    bound_of_calls: float
    asked: int


def delete_storm(documents: int, catalogs: int, *, seed: int, pool_size: int = 1) -> Removal:
    """Index all documents, then delete all objects within a minute."""
    stage = Stage(seed=seed, pool_size=pool_size)
    planned = Traffic(random.Random(seed)).burst(documents, catalogs, within=WITHIN)
    stage.plan(planned)
    stage.hub.run(until=stage.hub.time + WITHIN)
    stage.settle()
    keys = stage.keys()
    asked: dict[str, float] = {}
    gone: dict[str, float] = {}
    receipted: dict[str, float] = {}

    def delete(key: str) -> None:
        asked[key] = stage.hub.time
        stage.delete(key)

    def vanish(attributes: dict[str, Any]) -> None:
        gone[keys[str(attributes["document_id"])]] = stage.hub.time

    def remove(key: str) -> None:
        receipted[key] = stage.hub.time

    stage.account.searchable.removed = vanish
    stage.removed = remove
    at = [WITHIN * number / documents for number in range(documents)]
    for moment, each in zip(at, planned, strict=True):
        stage.hub.spawn(partial(delete, each.key), after=moment)
    stage.hub.run(until=stage.hub.time + WITHIN)
    stage.settle(at_most=_DAY)
    delays = [event_delay(seed, DELETED, each.key) for each in planned]
    works = [
        Work(at=moment, submitted=moment + delay + TELLING, seconds=0.0)
        for moment, delay in zip(at, delays, strict=True)
    ]
    return Removal(
        pool_size=pool_size,
        unsearchable=sorted(moment - asked[key] for key, moment in gone.items()),
        receipted=sorted(moment - asked[key] for key, moment in receipted.items()),
        last=max(gone.values()) - min(asked.values()),
        bound=bound(works, pool_size=pool_size),
        bound_of_calls=bound(works, pool_size=pool_size, by_jobs=False),
        asked=documents,
    )


NOTES = f"""\
Times are seconds. A job removes any number of documents in no time, as far as the simulator knows;
a direct call takes four for ten. AWS documents neither. last: from the first deletion until no
search finds any; the ratio is to the bound by either way (aim {_AIM:g}), and to that of direct
calls."""


def table(removals: Sequence[Removal]) -> list[Row]:
    """Return a row for each size of the pool."""
    heads = (
        "pool",
        "last",
        "bound",
        f"ratio (aim {_AIM:g})",
        "of direct calls",
        "ratio to that",
        "unsearchable p50",
        "p99",
        "receipt p50",
        "p99",
        "never",
    )
    return [heads, *map(_row, removals)]


def _row(removal: Removal) -> Row:
    ratio = removal.last / removal.bound
    never = removal.asked - min(len(removal.unsearchable), len(removal.receipted))
    return (
        f"{removal.pool_size}",
        f"{removal.last:,.1f}",
        f"{removal.bound:,.1f}",
        f"{ratio:.2f} {verdict(ratio <= _AIM)}",
        f"{removal.bound_of_calls:,.1f}",
        f"{removal.last / removal.bound_of_calls:.2f}",
        *(
            f"{percentile(waits, share):,.1f}"
            for waits in (removal.unsearchable, removal.receipted)
            for share in (0.5, 0.99)
        ),
        f"{never:,}",
    )
