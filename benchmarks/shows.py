"""What `make bench-burst` shows: each scenario, begun in processes of their own, and printed."""

import gc
import io
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from benchmarks import beside, passage, removals, reports
from benchmarks.answers.layout import Row, aligned, markdown
from benchmarks.figures import Figures
from benchmarks.scenarios import large_documents, parked, trickle
from benchmarks.shapes import FULL as ALL_SHAPES
from benchmarks.shapes import QUICK, Design, Shape, designs, put_under
from benchmarks.truth import print_truth
from benchmarks.worlds import WORLDS

_LONG, _LONG_SECONDS = 3, 600.0
_MINUTE, _TEN_HOURS = 60.0, 36_000.0


@dataclass(frozen=True, kw_only=True)
class Sizes:
    shapes: Sequence[Shape] = QUICK
    pools: Sequence[int] = (1,)
    days: float = 0.25
    catalogs: int = 1_000
    deletes: tuple[int, int] = (500, 50)
    passages: int = 5


FULL = Sizes(
    shapes=ALL_SHAPES, pools=(1, 5, 20), days=1, catalogs=10_000, deletes=(5_000, 50), passages=20
)
_DAILY = 30_000
_FILES = 50  # that a catalog of the trickle grows to


@dataclass(frozen=True, kw_only=True)
class Bench:
    """
    What a scenario is begun with: it answers what waits for it and prints it. Of the shapes, those
    in whose name `shape` stands, and those `designs`, with `seeds` from the seed on.
    """

    sizes: Sizes
    seed: int
    seeds: int
    shape: str
    designs: Sequence[str]
    as_markdown: bool
    processes: ProcessPoolExecutor

    def begin(self, work: Callable[..., Any], *arguments: object, **named: object) -> Future[Any]:
        return self.processes.submit(_alone, work, *arguments, **named)

    def print(self, rows: Sequence[Row]) -> None:
        print(markdown(rows) if self.as_markdown else aligned(rows), flush=True)


Print = Callable[[], None]


def _alone(work: Callable[..., Any], *arguments: object, **named: object) -> Any:
    gc.disable()  # nothing here makes cycles worth their search while it runs
    gc.collect()
    return work(*arguments, **named)


def shapes(bench: Bench) -> Print:
    begun = {
        shape: {
            design: _in_all_worlds(bench, shape, design)
            for design in designs(bench.designs, bench.sizes.pools)
        }
        for shape in bench.sizes.shapes
        if bench.shape in shape.name
    }

    def show() -> None:
        print(beside.NOTES)
        for shape, of_shape in begun.items():
            measured = {
                design: {world: figures() for world, figures in worlds.items()}
                for design, worlds in of_shape.items()
            }
            print(f"\n{shape.name}\n")
            bench.print(beside.table(shape, measured))

    return show


def _in_all_worlds(bench: Bench, shape: Shape, design: Design) -> dict[str, Callable[[], Figures]]:
    def begun(world: str) -> Callable[[], Figures]:
        futures = [
            bench.begin(put_under, shape, design, world, seed)
            for seed in range(bench.seed, bench.seed + bench.seeds)
        ]
        return lambda: Figures.middle([each.result() for each in futures])

    return {world: begun(world) for world in WORLDS}


def passages(bench: Bench) -> Print:
    begun = [
        (
            case,
            [
                bench.begin(passage.passage, case, bench.seed + each)
                for each in range(bench.sizes.passages)
            ],
        )
        for case in passage.CASES
    ]

    def show() -> None:
        measured = [(case, [each.result() for each in futures]) for case, futures in begun]
        bench.print(passage.table(measured))

    return show


def deletes(bench: Bench) -> Print:
    documents, catalogs = bench.sizes.deletes
    begun = [
        bench.begin(
            removals.delete_storm,
            documents,
            catalogs,
            seed=bench.seed,
            pool_size=pool_size,
        )
        for pool_size in (1, 5, 20, None)
    ]

    def show() -> None:
        within = removals.WITHIN
        print(f"{documents:,} documents of {catalogs:,} catalogs, deleted within {within:.0f} s.")
        print(f"{removals.NOTES}\n")
        bench.print(removals.table([each.result() for each in begun]))

    return show


def truth(bench: Bench) -> Print:
    """It has processes of its own, which want the machine for themselves."""
    return lambda: print_truth(bench.seed)


def printed(report: Callable[[Sizes, int], None]) -> Callable[[Bench], Print]:
    """A report that prints by itself, in a process of its own."""

    def begin(bench: Bench) -> Print:
        text = bench.begin(_printed, report, bench.sizes, bench.seed)
        return lambda: print(text.result(), end="")

    return begin


def _printed(report: Callable[[Sizes, int], None], sizes: Sizes, seed: int) -> str:
    with redirect_stdout(io.StringIO()) as text:
        report(sizes, seed)
    return text.getvalue()


def show_trickle(sizes: Sizes, seed: int) -> None:
    print(
        f"{sizes.days:g} days of {_DAILY:,} uploads, Zipf over {sizes.catalogs:,} catalogs;"
        f" one that has {_FILES} files gets new versions of them"
    )
    outcome = trickle(
        days=sizes.days, daily=_DAILY, catalogs=sizes.catalogs, files=_FILES, seed=seed
    )
    seen, waits = outcome.observation, outcome.observation.all_waits()
    print(f"uploads                     {seen.uploads:12,}")
    print(
        f"catalogs served             {len(seen.waits):12,}, of {len(seen.catalogs):,} with uploads"
    )
    reports.print_truth(outcome)
    print(f"upload to found             {reports.waiting(waits)}, longest {waits[-1]:,.0f} s")
    reports.print_classes(outcome)
    reports.print_work(outcome)
    reports.print_bill(outcome, has_aim=True)


def show_long(sizes: Sizes, seed: int) -> None:  # noqa: ARG001 - no size matters here
    print(
        f"{_LONG} documents of {_LONG_SECONDS:.0f} s each and 12 small ones into a catalog on the"
        " shared data source;\na small one a minute into each of four catalogs with their own"
    )
    outcome = large_documents(large=_LONG, seconds=_LONG_SECONDS, seed=seed)
    waits = outcome.observation.waits
    together = sorted(waits.pop("user-4/shelf"))
    print(f"small beside them           {reports.waiting(together[1:-_LONG])}")
    print(f"large                       {reports.waiting(together[-_LONG:])}")
    print(f"by jobs                     {reports.waiting(outcome.observation.all_waits())}")
    print(f"longest wait for a job      {max(map(max, waits.values())):12,.0f} s")


def show_parked(sizes: Sizes, seed: int) -> None:  # noqa: ARG001 - no size matters here
    for label, seconds in (("1 minute", _MINUTE), ("10 hours", _TEN_HOURS)):
        transitions, dollars = parked(seconds, seed=seed)
        print(f"a run that waits {label}: {transitions} transitions, ${dollars:.5f}")


SCENARIOS: dict[str, Callable[[Bench], Print]] = {
    "shapes": shapes,
    "passage": passages,
    "deletes": deletes,
    "trickle": printed(show_trickle),
    "long": printed(show_long),
    "parked": printed(show_parked),
    "truth": truth,
}
