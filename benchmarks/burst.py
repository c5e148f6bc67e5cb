"""
The pipeline under load, in simulated time.

    make bench-burst                    small sizes, within five minutes
    make bench-burst ARGS=--full        the sizes of docs/scaling.md, within an hour
    make bench-burst ARGS="--only shapes --designs custom --world 'jobs 8' --seeds 1"
    make bench-burst ARGS="--only questions"    200 tenants ask, one of them far too much

The product's use cases, adapters of Bedrock and state machine run by the simulator's rules, while
time jumps from event to event. No document is parsed or embedded: each takes a random time that
depends on its size. docs/scaling.md has all other assumptions and derives the bound. Two scenarios
run in parallel, each in a process of its own.
"""

import argparse
import gc
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from benchmarks import passage, removals, shapes
from benchmarks.layout import Row, aligned, markdown
from benchmarks.observation import percentile
from benchmarks.retrieval_load import print_questions
from benchmarks.scenarios import large_documents, parked, trickle
from benchmarks.serving import measure, print_machine, verdict
from benchmarks.shapes import Design, Figures, Shape
from benchmarks.truth import print_truth
from benchmarks.worlds import ASSUMED, WORLDS

_PROCESSES = 2
_DOLLARS = 0.12  # per 1,000 documents that arrive steadily
_DAILY, _FILES = 30_000, 50  # steady uploads a day; files that one of their catalogs grows to
_LONG, _LONG_SECONDS = 3, 600.0
_MINUTE, _TEN_HOURS = 60.0, 36_000.0


@dataclass(frozen=True, kw_only=True)
class Sizes:
    shapes: Sequence[Shape] = shapes.QUICK
    pools: Sequence[int] = (1,)
    days: float = 0.25  # of steady uploads and their catalogs
    catalogs: int = 1_000
    deletes: tuple[int, int] = (500, 50)  # documents, catalogs
    passages: int = 5


FULL = Sizes(
    shapes=shapes.FULL,
    pools=(1, 5, 20),
    days=1,
    catalogs=10_000,
    deletes=(5_000, 50),
    passages=20,
)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The settings of a scenario, from the command line."""

    sizes: Sizes
    options: argparse.Namespace
    processes: ProcessPoolExecutor

    @property
    def seed(self) -> int:
        return int(self.options.seed)

    def begin(self, work: Callable[..., Any], *arguments: object, **named: object) -> Future[Any]:
        return self.processes.submit(_alone, work, *arguments, **named)

    def print(self, rows: Sequence[Row]) -> None:
        print((markdown if self.options.markdown else aligned)(rows), flush=True)


Print = Callable[[], None]  # prints after the running scenarios have ended


def _alone(work: Callable[..., Any], *arguments: object, **named: object) -> Any:
    gc.disable()  # a run creates few reference cycles, so a search is not worth its time
    gc.collect()
    return work(*arguments, **named)


def show_shapes(bench: Bench) -> Print:
    options, world = bench.options, bench.options.world
    designs = [
        Design(catalog_data_sources=each, pool_size=pool_size)
        for each in options.designs
        for pool_size in bench.sizes.pools
    ]
    seeds = range(bench.seed, bench.seed + options.seeds)
    begun = {
        shape: {
            design: [bench.begin(shapes.put_under, shape, design, world, seed) for seed in seeds]
            for design in designs
        }
        for shape in bench.sizes.shapes
        if options.shape in shape.name
    }

    def show() -> None:
        print(f"{shapes.NOTES}\nworld: {world}")
        for shape, of_shape in begun.items():
            measured = {
                design: Figures.middle([each.result() for each in futures])
                for design, futures in of_shape.items()
            }
            print(f"\n{shape.name}\n")
            bench.print(shapes.table(shape, measured, world))

    return show


def show_passages(bench: Bench) -> Print:
    seeds = range(bench.seed, bench.seed + bench.sizes.passages)
    begun = [
        (case, [bench.begin(passage.passage, case, seed) for seed in seeds])
        for case in passage.CASES
    ]

    def show() -> None:
        measured = [(case, [each.result() for each in futures]) for case, futures in begun]
        bench.print(passage.table(measured))

    return show


def show_deletes(bench: Bench) -> Print:
    documents, catalogs = bench.sizes.deletes
    begun = [
        bench.begin(
            removals.delete_storm, documents, catalogs, seed=bench.seed, pool_size=pool_size
        )
        for pool_size in (1, 5, 20)
    ]

    def show() -> None:
        within = removals.WITHIN
        print(f"{documents:,} documents of {catalogs:,} catalogs, deleted within {within:.0f} s.")
        print(f"{removals.NOTES}\n")
        bench.print(removals.table([each.result() for each in begun]))

    return show


def show_trickle(bench: Bench) -> Print:
    begun = bench.begin(_trickled, bench.sizes, bench.seed)
    return lambda: print(begun.result())


def _trickled(sizes: Sizes, seed: int) -> str:
    outcome = trickle(
        days=sizes.days, daily=_DAILY, catalogs=sizes.catalogs, files=_FILES, seed=seed
    )
    seen, waits = outcome.observation, outcome.observation.all_waits()
    untrue = outcome.lost + outcome.false_failures + outcome.dead_letters
    per_run = outcome.bill.amounts["transitions"] / outcome.executions
    dollars = 1_000 * outcome.bill.total / seen.uploads
    return f"""\
{sizes.days:g} days of {_DAILY:,} uploads, Zipf over {sizes.catalogs:,} catalogs; one that has
{_FILES} files gets new versions of them

uploads             {seen.uploads:,} into {len(seen.catalogs):,} catalogs
upload to found     {_waiting(waits)}, longest {waits[-1]:,.0f} s
untrue              {untrue}: lost, false failures, dead letters
executions          {outcome.executions:,}, {per_run:.1f} transitions each
$ per 1,000         {dollars:.4f}, aim {_DOLLARS:g}: {verdict(dollars <= _DOLLARS)}"""


def show_long(bench: Bench) -> Print:
    begun = bench.begin(_long, bench.seed)
    return lambda: print(begun.result())


def _long(seed: int) -> str:
    waits = large_documents(large=_LONG, seconds=_LONG_SECONDS, seed=seed).observation.waits
    together = sorted(waits.pop("user-4/shelf"))
    others = sorted(wait for each in waits.values() for wait in each)
    return f"""\
{_LONG} documents of {_LONG_SECONDS:.0f} s each and 12 small ones into a catalog on the shared data
source; a small one a minute into each of four catalogs with their own

small beside them   {_waiting(together[1:-_LONG])}
large               {_waiting(together[-_LONG:])}
in other catalogs   {_waiting(others)}, longest {others[-1]:,.0f} s"""


def show_parked(bench: Bench) -> Print:
    waits = {"1 minute": _MINUTE, "10 hours": _TEN_HOURS}
    begun = {name: bench.begin(parked, each, seed=bench.seed) for name, each in waits.items()}

    def show() -> None:
        for name, each in begun.items():
            transitions, dollars = each.result()
            print(f"a run that waits {name}: {transitions} transitions, ${dollars:.5f}")

    return show


def show_truth(bench: Bench) -> Print:
    """Return a function that also runs it, as its processes need the whole machine."""
    return lambda: print_truth(bench.seed)


def show_questions(bench: Bench) -> Print:
    return lambda: print_questions(bench.seed)


def _waiting(waits: list[float]) -> str:
    return f"p50 {percentile(waits, 0.5):,.1f} s, p99 {percentile(waits, 0.99):,.1f} s"


SCENARIOS: dict[str, Callable[[Bench], Print]] = {
    "shapes": show_shapes,
    "passage": show_passages,
    "deletes": show_deletes,
    "trickle": show_trickle,
    "long": show_long,
    "parked": show_parked,
    "questions": show_questions,
    "truth": show_truth,
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parsed(arguments)
    print_machine()
    print(__doc__.partition("\n\n")[2].partition("\n\n")[2].strip())
    # Imported modules stay, so collections need not look at them.
    with ProcessPoolExecutor(_PROCESSES, initializer=gc.freeze) as processes:
        bench = Bench(sizes=FULL if options.full else Sizes(), options=options, processes=processes)
        begun = {name: begin(bench) for name, begin in SCENARIOS.items() if name in options.only}
        for name, show in begun.items():
            print(f"\n== {name}", flush=True)
            show()


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    def listed(text: str) -> list[str]:
        return text.split(",")

    parser = argparse.ArgumentParser(prog="bench-burst", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--full", action="store_true", help="the sizes of docs/scaling.md")
    parser.add_argument("--only", type=listed, default=list(SCENARIOS), help=",".join(SCENARIOS))
    parser.add_argument("--markdown", action="store_true", help="the tables as Markdown")
    parser.add_argument("--seed", type=int, default=1)
    shape = parser.add_argument_group("of the shapes")
    shape.add_argument("--seeds", type=int, default=5, help="how many, from --seed on")
    shape.add_argument("--shape", default="", help="those whose name has it in it, '500 into 50'")
    shape.add_argument(
        "--designs", type=listed, default=shapes.SOURCES, help=",".join(shapes.SOURCES)
    )
    shape.add_argument("--world", choices=WORLDS, default=ASSUMED, help="of benchmarks/worlds.py")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    measure(main)
