"""
Every story with everything that can go wrong in it, and interleavings.

    python -m tests.campaigns.chaos

    --share 1       all of it, some thirty-five thousand trials; by default every other one
    --share 4 --seed 0, then 1, 2 and 3: all of it in four parts, which may run beside each other
    --only TEXT     the trials whose line has this text, to see one again

Prints what disagrees, and what was injected into which service. Ends with 1 if anything disagreed.
Each seed has interleavings of its own.
"""

import argparse
import atexit
import logging
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain

from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.campaigns.chaos.interleavings import SETTINGS, Interleaving
from tests.campaigns.chaos.scenarios import SCENARIOS
from tests.campaigns.chaos.trials import Trial, all_of, plain
from tests.campaigns.chaos.wire import Wire, wired

_CHUNK = 20
_SEEDS = 12
FULL = settings(SETTINGS, max_examples=25, stateful_step_count=25, derandomize=False)
_stack = ExitStack()
_wires: list[Wire] = []


@dataclass
class Tally:
    trials: int = 0
    injected: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: int = 0  # trials in which nothing came to be injected
    found: Counter[str] = field(default_factory=Counter)
    bad: list[tuple[str, list[str]]] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        self.trials += other.trials
        self.injected += other.injected
        self.missed += other.missed
        self.found += other.found
        self.bad += other.bad


def _wire() -> Wire:
    """One a process."""
    if not _wires:
        logging.getLogger("stackroom_local").setLevel(logging.ERROR)  # tells of every fault
        _wires.append(_stack.enter_context(wired()))
        atexit.register(_stack.close)
    return _wires[0]


def plan(name: str) -> list[Trial]:
    return list(all_of(name, plain(_wire(), name)))


def attempt(trials: list[Trial]) -> Tally:
    tally = Tally()
    for trial in trials:
        tally.trials += 1
        try:
            outcome = trial.run(_wire())
        except Exception:  # a broken world is told like a discrepancy
            tally.bad.append((str(trial), [traceback.format_exc(limit=-4)]))
            continue
        tally.injected += outcome.injected
        tally.missed += not outcome.injected
        tally.found.update(outcome.found)
        if outcome.discrepancies:
            tally.bad.append((str(trial), outcome.discrepancies))
    return tally


def interleave(number: int) -> Tally:
    """Some dozens of interleavings, drawn with that seed."""
    Interleaving.wire = _wire()
    before, tally = Counter(Interleaving.injected), Tally()
    machine = seed(number)(type("Seeded", (Interleaving,), {}))
    try:
        run_state_machine_as_test(machine, settings=FULL)
    except Exception:
        tally.bad.append((f"interleavings, seed {number}", [traceback.format_exc()]))
    tally.trials = FULL.max_examples
    tally.injected = Interleaving.injected - before
    return tally


def chunks(trials: list[Trial]) -> Iterator[list[Trial]]:
    for start in range(0, len(trials), _CHUNK):
        yield trials[start : start + _CHUNK]


def _chosen(planned: list[Trial], options: argparse.Namespace) -> list[Trial]:
    if options.only:
        return [each for each in planned if options.only in str(each)]
    return planned[options.seed % options.share :: options.share]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--share", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    started, tally = time.monotonic(), Tally()
    with ProcessPoolExecutor(options.processes) as pool:
        planned = [each for trials in pool.map(plan, SCENARIOS) for each in trials]
        chosen = _chosen(planned, options)
        print(f"{len(chosen)} trials of {len(planned)}", flush=True)
        first = options.seed * _SEEDS
        seeds = [] if options.only else range(first, first + _SEEDS)
        parts = (pool.map(attempt, chunks(chosen)), pool.map(interleave, seeds))
        for part in chain(*parts):
            tally.add(part)
            for told, problems in part.bad:
                print(f"\n{told}", *problems, sep="\n    ", flush=True)
    print(f"\n{tally.trials} trials, {tally.missed} of them met nothing that could go wrong")
    print(f"mended by the one reconciliation: {dict(tally.found)}")
    for (where, kind), count in sorted(tally.injected.items()):
        print(f"{where:25} {kind:12} {count:7}")
    told = f"{tally.injected.total()} faults injected, {len(tally.bad)} trials with discrepancies"
    print(f"{told}, {time.monotonic() - started:.0f} s")
    return 1 if tally.bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
