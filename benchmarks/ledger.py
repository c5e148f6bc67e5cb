"""
Where the one ledger of admission ends, and with it the other items that everybody writes.

    make bench-ledger                 within two minutes
    make bench-ledger ARGS=--points   every point of the curves

The product's own admission and adapters run over simulated items that take what DynamoDB's do,
while documents come at rising rates. docs/scaling.md, "Where the ledger ends", says what follows.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from benchmarks.hot_items import TOGETHER, Point, asks, counted
from benchmarks.ledger_load import (
    PER_CATALOG,
    PER_WORKLIST,
    Curve,
    LedgerLoad,
    Style,
    bedrocks_end,
    limits_times,
)
from benchmarks.observation import percentile
from benchmarks.serving import measure, print_machine

_POOLS = (1, 5, 20, 100)
_FACTORS = (1, 10, 100)  # times what Bedrock allows
# Documents a second; the limits are those of the largest factor, so that the ledger ends first.
_LADDER = tuple(0.125 * 2**step for step in range(10))
_BISECTIONS = 2
_NEARLY = 0.9  # of what Bedrock's limits of today allow
# Seconds of one point: so many documents, within bounds.
_DOCUMENTS, _SHORTEST, _LONGEST = 120, 20.0, 240.0
_SETTLED = 180.0  # seconds of the point with today's limits, until worklists have filled

_WORKLISTS, _ASKS, _OF_ASKS = (1, 100), (250, 500, 900, 1_100, 1_500), 5.0
_TOGETHER, _COUNTS, _OF_COUNTS = (1, TOGETHER), (5, 10, 20, 40, 60, 80, 120), 20.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench-ledger", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--points", action="store_true", help="print every point")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    print_machine()
    for reads_at_once in (False, True):
        told = "all with one Query" if reads_at_once else "one after the other, as they are"
        print(f"\n== the ledger; a hand-out reads the queues {told}\n{_HEADS}")
        for style in (PER_CATALOG, PER_WORKLIST):
            for pool in _POOLS:
                ends = Ends(style=style, pool=pool, reads_at_once=reads_at_once, seed=asked.seed)
                _print_ends(ends, every_point=asked.points)
    print("\n== the lease of a worklist: requests for a run a second, of so many worklists")
    for worklists in _WORKLISTS:
        of_worklists = partial(asks, worklists=worklists, seconds=_OF_ASKS, seed=asked.seed)
        _print_points(f"{worklists} worklists", (of_worklists(each) for each in _ASKS))
    print("\n== a catalog's counters: transactions a second, of so many documents each")
    for together in _TOGETHER:
        of_documents = partial(counted, together=together, seconds=_OF_COUNTS, seed=asked.seed)
        _print_points(f"{together} documents", (of_documents(each) for each in _COUNTS))


@dataclass(kw_only=True)
class Ends:
    """Where the ledger bends for a style and a pool, and how near it is to that today."""

    style: Style
    pool: int
    reads_at_once: bool
    seed: int
    points: list[Curve] = field(default_factory=list)

    def today(self) -> Curve:
        """With Bedrock's limits as they are, nearly reached."""
        rate = bedrocks_end(self.style, limits_times(1)) * _NEARLY
        return self._at(rate, factor=1, at_least=_SETTLED)

    def bend(self) -> tuple[Curve | None, float | None]:
        """The last point that held, and the first rate that didn't, if there is one."""
        held, bent = None, None
        for rate in _LADDER:
            curve = self._at(rate, factor=_FACTORS[-1])
            if curve.bends:
                bent = rate
                break
            held = curve
        for _ in range(_BISECTIONS if bent else 0):
            assert bent is not None, "it has bent"
            curve = self._at((bent + (held.rate if held else 0)) / 2, factor=_FACTORS[-1])
            held, bent = (held, curve.rate) if curve.bends else (curve, bent)
        return held, bent

    def _at(self, rate: float, *, factor: int, at_least: float = _SHORTEST) -> Curve:
        load = LedgerLoad(
            style=self.style,
            pool=self.pool,
            limits=limits_times(factor),
            seed=self.seed,
            reads_at_once=self.reads_at_once,
        )
        curve = load.at(rate, seconds=min(_LONGEST, max(at_least, _DOCUMENTS / rate)))
        self.points.append(curve)
        return curve


_HEADS = (
    f"{'':20}{'pool':>4}{'Bedrock':>9}{'asked/s':>9}{'done/s':>8}{'grants/s':>9}{'writes/s':>9}"
    f"{'refused':>8}{'entry p50':>10}{'p99, s':>7}{'largest':>9}   documents a second at the bend"
)


def _print_ends(ends: Ends, *, every_point: bool) -> None:
    today = ends.today()
    print(f"{_line(ends, 'as it is', today)}   {'bent' if today.bends else 'not reached'}")
    held, bent = ends.bend()
    for curve in sorted(ends.points[1:], key=lambda each: each.rate) if every_point else ():
        print(f"{_line(ends, 'x100', curve)}   {'bent' if curve.bends else ''}")
    if held is not None:
        print(f"{_line(ends, 'x100', held)}   {_told(ends.style, bent)}", flush=True)
    else:
        print(f"{ends.style.name:20}{ends.pool:4}{'x100':>9}{'':62}   {_told(ends.style, bent)}")


def _print_points(what: str, points: Iterable[Point]) -> None:
    """As far as the first that has bent."""
    for point in points:
        p50, p99 = (percentile(point.seconds, each) for each in (0.5, 0.99))
        print(
            f"{what:20}{point.rate:9,.0f}/s   refused for each written {point.refused:6.2f}"
            f"   p50 {p50:5.2f} s, p99 {p99:5.2f} s"
            f"   given up {point.failed:5,}   {'bent' if point.bends else ''}",
            flush=True,
        )
        if point.bends:
            return


def _told(style: Style, bent: float | None) -> str:
    if bent is None:
        return f"none up to {_LADDER[-1]:g}"
    shares = (
        f"{bent / bedrocks_end(style, limits_times(each)):.2f} (x{each})" for each in _FACTORS
    )
    return f"{bent:.2f}; of Bedrock's end {', '.join(shares)}"


def _line(ends: Ends, bedrock: str, curve: Curve) -> str:
    return (
        f"{ends.style.name:20}{ends.pool:4}{bedrock:>9}{curve.rate:9.2f}{curve.served:8.2f}"
        f"{curve.grants:9.2f}{curve.writes:9.2f}{curve.conflicts:8.2f}"
        f"{percentile(curve.entries, 0.5):10.2f}{percentile(curve.entries, 0.99):7.2f}"
        f"{curve.bytes / 1024:6.1f} KB"
    )


if __name__ == "__main__":
    measure(main)
