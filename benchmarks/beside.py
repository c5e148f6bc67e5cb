"""All designs under one shape of load, in every world, each aim beside its figure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.answers.layout import Row
from benchmarks.figures import Figures
from benchmarks.serving import verdict
from benchmarks.shapes import BY_JOBS, NAIVE, Design, Shape
from benchmarks.worlds import ASSUMED, PARALLEL_JOBS, WORLDS

_MANY, _RATIO_OF_MANY, _RATIO = 2_000, 1.25, 1.6  # uploads, and times the bound
_BESIDE = 4.0  # seconds beside Bedrock's own, where they come one by one
_LONGEST, _DOLLARS = 2.2, 0.04
NOTES = f"""\
Times are seconds, each the median of the seeds. They end when a search finds the last document that
can be indexed and its record says so; where documents come one by one, they are the median wait.
Worlds: a job indexes 1, 8 or 16 documents at a time; a direct call takes 4 s, or 60, or, only with
a PDF in it, 60 or 240. AWS documents neither; all that stands right of the worlds is of the first.
bound: the least that Bedrock's limits allow, whichever way, with the latencies before them (event,
one state, one call; of the PDF worlds, one of 4 s); of one by one, what Bedrock takes. longest: of
the catalogs' last waits, against their median, large files aside.
untrue: documents lost, false failures, dead letters, of all worlds and seeds. Aims: at most
{_RATIO_OF_MANY:g} of the bound from {_MANY:,} uploads on, {_RATIO:g} below, with a pool of 1, and
larger pools no slower; one by one {_BESIDE:g} s beside Bedrock's own; sooner than the naive design,
`s3` no later also where jobs index 8 or 16; longest {_LONGEST:g}; a burst ${_DOLLARS:g}."""
_HEADS = (
    "design, pool",
    *WORLDS,
    "beside the bound",
    "naive takes",
    "a pool of 1 takes",
    "longest",
    "$ per 1,000",
    "untrue",
)

Measured = Mapping[Design, Mapping[str, Figures]]  # by world


def table(shape: Shape, measured: Measured) -> list[Row]:
    """A row for each design, then the bounds, and what is the soonest in each world."""
    of_pools = {each.pool_size: worlds for each, worlds in measured.items()}
    return [
        _HEADS,
        *(_row(shape, design, measured) for design in measured),
        *(
            _only_worlds(f"bound, {size}", [f"{_bound(shape, each):,.1f}" for each in of.values()])
            for size, of in sorted(of_pools.items())
        ),
        _only_worlds("the soonest", [_soonest(measured, world) for world in WORLDS]),
    ]


def _row(shape: Shape, design: Design, measured: Measured) -> Row:
    here, ours, alone = measured[design][ASSUMED], design != NAIVE, design.pool_size == 1
    naive, of_one = (
        measured[each][ASSUMED].settled / here.settled if each in measured else None
        for each in (NAIVE, replace(design, pool_size=1))
    )
    beside = here.settled - here.bounds[0] if shape.apart else here.settled / here.bounds[1]
    most = _BESIDE if shape.apart else _RATIO_OF_MANY if shape.uploads >= _MANY else _RATIO
    return (
        design.name,
        *(_settled(design, world, measured) for world in WORLDS),
        _judged(f"{beside:,.2f}{' s' if shape.apart else ''}", beside <= most, ours and alone),
        "" if naive is None else _judged(f"{naive:,.2f} x", naive > 1, ours),
        "" if of_one is None or alone else _judged(f"{of_one:,.2f} x", round(of_one, 2) >= 1, ours),
        _judged(f"{here.longest:,.2f}", here.longest <= _LONGEST, ours),
        _judged(f"{here.dollars:.4f}", here.dollars <= _DOLLARS, ours and not shape.apart),
        _judged(f"{_untrue(measured[design])}", not _untrue(measured[design]), ours),
    )


def _settled(design: Design, world: str, measured: Measured) -> str:
    settled = measured[design][world].settled
    has_aim = design == BY_JOBS and world in PARALLEL_JOBS and NAIVE in measured
    return _judged(
        f"{settled:,.1f}", has_aim and settled <= measured[NAIVE][world].settled, has_aim
    )


def _bound(shape: Shape, figures: Figures) -> float:
    return figures.bounds[0 if shape.apart else 1]


def _soonest(measured: Measured, world: str) -> str:
    return min(measured, key=lambda each: measured[each][world].settled).name


def _untrue(worlds: Mapping[str, Figures]) -> int:
    return sum(each.untrue for each in worlds.values())


def _only_worlds(name: str, cells: Sequence[str]) -> Row:
    return (name, *cells, *[""] * (len(_HEADS) - 1 - len(cells)))


def _judged(figure: str, reached: bool, has_aim: bool) -> str:
    return f"{figure} {verdict(reached)}" if has_aim else figure
