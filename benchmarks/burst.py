"""
The pipeline under load, in simulated time, beside other designs.

    make bench-burst                    small sizes, within two minutes
    make bench-burst ARGS=--full        the sizes of docs/scaling.md, within half an hour
    make bench-burst ARGS="--full --only shapes --markdown"

The product's own use cases, adapters of Bedrock and state machine run over the simulator's rules,
while time jumps from one event to the next. No document is parsed or embedded: each takes a time
drawn by its size. docs/scaling.md says what else is assumed, and derives the bound. Two scenarios
are run at a time, each in a process of its own.
"""

import argparse
import gc
import io
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass

from benchmarks import beside, passage, reports
from benchmarks.answers.layout import aligned, markdown
from benchmarks.figures import Figures
from benchmarks.scenarios import delete_storm, large_documents, parked, trickle
from benchmarks.serving import measure, print_machine
from benchmarks.shapes import FULL as ALL_SHAPES
from benchmarks.shapes import OURS, QUICK, Shape, put_under
from benchmarks.truth import print_truth

_WITHIN = 60.0  # seconds in which everything is deleted
_LONG, _LONG_SECONDS = 3, 600.0
_MINUTE, _TEN_HOURS = 60.0, 36_000.0
_PROCESSES = 2
_DELETES = 1.3  # times the bound


@dataclass(frozen=True, kw_only=True)
class Sizes:
    shapes: Sequence[Shape] = QUICK
    days: float = 0.25
    catalogs: int = 1_000
    deletes: tuple[int, int] = (500, 50)
    passages: int = 5


FULL = Sizes(shapes=ALL_SHAPES, days=3, catalogs=10_000, deletes=(5_000, 50), passages=20)
_DAILY = 30_000
_FILES = 50  # that a catalog of the trickle grows to

Print = Callable[[], None]


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parsed(arguments)
    sizes = FULL if asked.full else Sizes()
    print_machine()
    print(__doc__.partition("\n\n")[2].partition("\n\n")[2].strip())
    with ProcessPoolExecutor(_PROCESSES) as processes:
        begun = {
            name: _begun(name, sizes, asked, processes) for name in _NAMES if name in asked.only
        }
        for name, show in begun.items():
            print(f"\n== {name}", flush=True)
            show()


def _begun(
    name: str, sizes: Sizes, asked: argparse.Namespace, processes: ProcessPoolExecutor
) -> Print:
    """Begin it in other processes; what is answered waits for it and prints it."""
    if name == "shapes":
        return _shapes(sizes.shapes, asked, processes)
    if name == "truth":  # it has processes of its own, which want the machine for themselves
        return lambda: print_truth(asked.seed)
    printed = processes.submit(_printed, name, sizes, asked.seed)
    return lambda: print(printed.result(), end="")


def _shapes(
    shapes: Sequence[Shape], asked: argparse.Namespace, processes: ProcessPoolExecutor
) -> Print:
    begun = {
        shape: [
            processes.submit(_put_under, shape, design, pool_size, asked.seed)
            for design, pool_size in (
                *((OURS, each) for each in shape.pools),
                *((each, 1) for each in shape.rivals),
            )
        ]
        for shape in shapes
    }

    def show() -> None:
        print(beside.NOTES)
        for shape, futures in begun.items():
            measured = [each.result() for each in futures]
            rows = beside.table(measured)
            print(f"\n{shape.name}\n")
            print(markdown(rows) if asked.markdown else aligned(rows), flush=True)

    return show


def _put_under(shape: Shape, design: str, pool_size: int, seed: int) -> Figures:
    gc.disable()  # nothing here makes cycles worth their search
    return put_under(shape, design, pool_size, seed)


def _printed(name: str, sizes: Sizes, seed: int) -> str:
    gc.disable()
    with redirect_stdout(io.StringIO()) as printed:
        _PRINTED[name](sizes, seed)
    return printed.getvalue()


def show_passage(sizes: Sizes, seed: int) -> None:
    measured = [
        (case, [passage.passage(case, seed + each) for each in range(sizes.passages)])
        for case in passage.CASES
    ]
    print(aligned(passage.table(measured)))


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
    print(f"upload to indexed           {reports.waiting(waits)}, longest {waits[-1]:,.0f} s")
    reports.print_classes(outcome)
    reports.print_work(outcome)
    reports.print_bill(outcome, has_aim=True)


def show_deletes(sizes: Sizes, seed: int) -> None:
    documents, catalogs = sizes.deletes
    print(f"{documents:,} documents of {catalogs:,} catalogs deleted within {_WITHIN:.0f} s")
    removal = delete_storm(documents, catalogs, seed=seed)
    print(f"asked to unsearchable       {reports.waiting(removal.unsearchable)}")
    print(f"asked to receipt            {reports.waiting(removal.receipted)}")
    for label, bound in (("bound", removal.bound), ("of direct calls", removal.bound_of_calls)):
        ratio = removal.last / bound
        print(f"{label:<28}{bound:12,.0f} s, ratio {ratio:.2f}, {reports.aim(ratio, _DELETES)}")
    print(f"the last of all after       {removal.last:12,.0f} s")
    print(f"never unsearchable          {removal.asked - len(removal.unsearchable):12,}")
    print(f"simulated in                {removal.took:12,.1f} s")


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


_PRINTED: dict[str, Callable[[Sizes, int], None]] = {
    "passage": show_passage,
    "trickle": show_trickle,
    "deletes": show_deletes,
    "long": show_long,
    "parked": show_parked,
}
_NAMES = ("shapes", *_PRINTED, "truth")


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-burst", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--full", action="store_true", help="the sizes of docs/scaling.md")
    parser.add_argument(
        "--only", type=lambda text: text.split(","), default=list(_NAMES), help="scenarios"
    )
    parser.add_argument("--markdown", action="store_true", help="the shapes as Markdown")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    measure(main)
