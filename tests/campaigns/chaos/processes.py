"""
Real deaths: SIGKILL to function workers of a running local mode while documents are dropped.

A sample, for it takes minutes of real time. What the reconciliation has to wait for is its own
quiet time, two minutes.

    python -m tests.campaigns.chaos.processes [--seed N]
"""

import argparse
import random
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from stackroom.audits.discrepancies import QUIET
from stackroom.model import DocumentStatus
from stackroom_local.processes import free_ports
from tests.e2e.people import Person
from tests.local.running import instance_of, stackroom, start

_RUNTIME = "stackroom_local.runtime"
_SECONDS = 20.0
_FILES = 12
_PATIENCE = 480.0  # a message whose worker died is seen again after two minutes


def workers(parent: int) -> Iterator[psutil.Process]:
    for process in psutil.Process(parent).children(recursive=True):
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if _RUNTIME in process.cmdline():
                yield process


def kill_some(parent: int, chance: random.Random) -> int:
    killed, until = 0, time.monotonic() + _SECONDS
    while time.monotonic() < until:
        time.sleep(chance.uniform(0.05, 1.2))
        alive = list(workers(parent))
        if alive:
            with suppress(psutil.NoSuchProcess):
                chance.choice(alive).send_signal(signal.SIGKILL)
                killed += 1
    return killed


def sample(state_dir: Path, seed: int) -> list[str]:
    """What disagrees in the end."""
    up = start(state_dir, "--port", str(free_ports(4)))
    try:
        grace = Person(instance_of(up, state_dir), "grace")
        chance = random.Random(seed)
        dropped = [grace.put("letters/first.txt", "The first letter is from Bruges.")]
        time.sleep(1)
        files = {f"letters/{n}.txt": f"Letter {n} came from {n} Elm Street." for n in range(_FILES)}
        dropped += grace.put_all(files)
        killed = kill_some(up.pid, chance)
        dropped.append(grace.put("letters/last.txt", "The last letter is from Antwerp."))
        print(f"{killed} workers killed; waiting for quiet", flush=True)
        wanted = {each.key for each in dropped}
        until = time.monotonic() + QUIET.total_seconds() + 10
        while time.monotonic() < until:
            time.sleep(1)
        print(stackroom("reconcile", state_dir=state_dir).stdout, flush=True)
        return _disagreements(grace, wanted)
    finally:
        up.ask_to_stop()
        up.end(60)


def _disagreements(grace: Person, wanted: set[str]) -> list[str]:
    until = time.monotonic() + _PATIENCE
    problems = ["never looked"]
    while problems and time.monotonic() < until:
        records = grace.records()
        problems = [
            f"{key} is {records[key].status if key in records else 'lost'}"
            for key in sorted(wanted)
            if key not in records or records[key].status is not DocumentStatus.INDEXED
        ]
        time.sleep(1)
    if problems:
        return problems
    for key in sorted(wanted):
        name = key.rpartition("/")[2]
        found = grace.files_found("Where is the letter from?", filter={"filename": name})
        if found != [name]:
            problems.append(f"{key} is found {len(found)} times")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        problems = sample(Path(folder) / "state", options.seed)
    print(*(problems or ["real deaths: everything agrees"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
