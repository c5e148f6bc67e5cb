"""
The pipeline under load, in simulated time, on one knowledge base.

    make bench-burst                    small sizes, within a minute
    make bench-burst ARGS=--full        the sizes of docs/scaling.md
    make bench-burst ARGS="--full --only trickle"

The product's own use cases, adapters of Bedrock and state machine run over the simulator's rules,
while time jumps from one event to the next. No document is parsed or embedded: each takes a time
drawn by its size. docs/scaling.md says what else is assumed, and derives the bound.
"""

import argparse
import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks import reports
from benchmarks.scenarios import burst, delete_storm, large_documents, parked, trickle, usual_burst
from benchmarks.serving import measure, print_machine
from benchmarks.truth import print_truth

_WITHIN = 60.0  # seconds in which a burst is dropped
_LONG, _LONG_SECONDS = 3, 600.0
_MINUTE, _TEN_HOURS = 60.0, 36_000.0


@dataclass(frozen=True, kw_only=True)
class Sizes:
    burst: tuple[int, int] = (500, 50)  # uploads, catalogs
    large: tuple[int, int] = (2_000, 400)
    days: float = 0.25
    catalogs: int = 1_000
    deletes: tuple[int, int] = (500, 50)


FULL = Sizes(
    burst=(5_000, 50), large=(100_000, 2_000), days=30, catalogs=10_000, deletes=(5_000, 50)
)
_DAILY = 30_000
_FILES = 50  # that a catalog of the trickle grows to


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parsed(arguments)
    sizes = FULL if asked.full else Sizes()
    print_machine()
    print(__doc__.partition("\n\n")[2].partition("\n\n")[2].strip())
    # Nothing here makes cycles worth their search: a month keeps a million records.
    gc.disable()
    for name, scenario in _SCENARIOS.items():
        if name in asked.only:
            print(f"\n== {name}")
            scenario(sizes, asked.seed)


def show_burst(sizes: Sizes, seed: int) -> None:
    uploads, catalogs = sizes.burst
    print(f"{uploads:,} uploads into {catalogs:,} catalogs within {_WITHIN:.0f} s")
    ours = burst(uploads, catalogs, within=_WITHIN, seed=seed)
    reports.print_burst(ours)
    reports.print_bill(ours, has_aim=True)
    theirs = usual_burst(uploads, catalogs, within=_WITHIN, seed=seed)
    print(
        "\nbeside the usual design: an execution and a full sync for each upload, waits of 30 s,"
        "\nretries on conflict for an hour; one S3 data source over the whole bucket"
    )
    reports.print_beside(ours, theirs)


def show_large(sizes: Sizes, seed: int) -> None:
    uploads, catalogs = sizes.large
    print(f"{uploads:,} uploads into {catalogs:,} catalogs within {_WITHIN:.0f} s")
    outcome = burst(uploads, catalogs, within=_WITHIN, seed=seed)
    reports.print_burst(outcome)
    reports.print_bill(outcome)


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
    reports.print_bill(outcome)


def show_deletes(sizes: Sizes, seed: int) -> None:
    documents, catalogs = sizes.deletes
    print(f"{documents:,} documents of {catalogs:,} catalogs deleted within {_WITHIN:.0f} s")
    removal = delete_storm(documents, catalogs, seed=seed)
    print(f"asked to unsearchable       {reports.waiting(removal.unsearchable)}")
    print(f"asked to receipt            {reports.waiting(removal.receipted)}")
    print(f"bound for the last of them  {removal.bound:12,.0f} s")
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


def show_truth(sizes: Sizes, seed: int) -> None:  # noqa: ARG001 - as above
    print_truth(seed)


_SCENARIOS: dict[str, Callable[[Sizes, int], None]] = {
    "burst": show_burst,
    "large": show_large,
    "trickle": show_trickle,
    "deletes": show_deletes,
    "long": show_long,
    "parked": show_parked,
    "truth": show_truth,
}


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-burst", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--full", action="store_true", help="the sizes of docs/scaling.md")
    parser.add_argument(
        "--only", type=lambda text: text.split(","), default=list(_SCENARIOS), help="scenarios"
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    measure(main)
