"""All designs side by side under each shape of load, each aim beside its figure."""

from collections.abc import Sequence

from benchmarks.answers.layout import Row
from benchmarks.figures import Figures
from benchmarks.serving import verdict
from benchmarks.shapes import OURS

_RATIO, _LONGEST = 1.25, 2.2
_HEADS = (
    "design, pool",
    "settled",
    "bound",
    "with latency",
    f"ratio (aim {_RATIO:g})",
    "naive takes (aim > 1)",
    "p50",
    "p99",
    f"longest (aim {_LONGEST:g})",
    "Jain",
    "$ per 1,000",
    "untrue (aim 0)",
)
NOTES = """\
Times are seconds. settled: from the first upload until the last record says indexed; where they
come one by one, the median wait. bound: the least that Bedrock's limits allow, whichever way; with
the latencies before them (event, one state, one call); the ratio is to that. longest: of the
catalogs' last waits, against their median, large files aside. untrue: documents lost, false
failures, dead letters. naive: one data source, one full sync at a time; usual: an execution and
a full sync for each upload; a knowledge base each. eager calls: no design, but what direct calls
alone can do that begin as soon as they can, without knowing what comes."""


def table(measured: Sequence[Figures]) -> list[Row]:
    """A row for each design; those of a pool for ours."""
    naive = next((each.settled for each in measured if each.design == "naive"), None)
    return [_HEADS] + [_row(each, naive) for each in measured]


def _row(figures: Figures, naive: float | None) -> Row:
    ours = figures.design == OURS
    times = None if naive is None else naive / figures.settled
    longest, untrue = figures.longest_to_median, figures.untrue
    return (
        f"{figures.design}, {figures.pool_size}" if ours else figures.design,
        f"{figures.settled:,.1f}",
        *(f"{each:,.1f}" for each in figures.bounds),
        _judged(f"{figures.ratio:,.2f}", figures.ratio <= _RATIO, ours=ours),
        "" if times is None else _judged(f"{times:,.2f} x", times > 1, ours=ours),
        f"{figures.p50:,.1f}",
        f"{figures.p99:,.1f}",
        "" if longest is None else _judged(f"{longest:,.2f}", longest <= _LONGEST, ours=ours),
        "" if figures.jain is None else f"{figures.jain:.3f}",
        "" if figures.dollars is None else f"{figures.dollars:.4f}",
        "" if untrue is None else _judged(_listed(untrue), not any(untrue), ours=ours),
    )


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"{each:,}" for each in numbers)


def _judged(figure: str, reached: bool, *, ours: bool) -> str:
    """The aims are ours alone."""
    return f"{figure} {verdict(reached)}" if ours else figure
