"""
How long the local mode takes to start, and a dropped text file to become searchable; and how much
memory it takes while it takes in many files.

    make bench-local

A file is dropped by a real PutObject and counts as searchable when a search by its owner, over MCP
through the gateway, finds a phrase that stands nowhere else. Its record and the state machine's
history are read meanwhile, and tell where the time goes.
"""

import asyncio
import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from statistics import median

from benchmarks import promises
from benchmarks.drops import USER, Drop, Moments, drop
from benchmarks.memory import report_memory
from benchmarks.serving import (
    NotMeasured,
    agent_of,
    free_ports,
    measure,
    print_machine,
    scratch,
    serving,
    verdict,
)
from stackroom_local.project_files import ROOT
from stackroom_local.state import Instance, StateDirectory
from stackroom_local.synthesis import assembly

SPEED = 10
DROP_AIM = 3.0
START_AIM = 5.0
STARTS = 3
NEW_CATALOGS = 3  # a knowledge base of the pool gives catalogs of their own four data sources
FILES = 9
_STEP = re.compile(r"^\s*([\d.]+) s\s+(.*)$")  # how `up` announces what is done, and when


def main() -> None:
    print_machine()
    assembly()  # what a prepared machine has
    starts, firsts = zip(*(asyncio.run(start()) for _ in range(STARTS)), strict=True)
    new, existing = asyncio.run(drops())
    report_starts(starts)
    report_drops("the first file after a start, in a new catalog (all functions cold)", firsts)
    report_drops("the first file of a new catalog", new)
    report_drops("a file into an existing catalog", existing)
    promises.report(promises.measured(SPEED))
    report_memory(SPEED)


async def start() -> tuple[Moments, Drop]:
    """`make up` in a new directory, what it announced and when, and the first file there."""
    with scratch() as folder:
        began = time.monotonic()
        process, log = make_up(folder)
        try:
            instance = wait_until_up(process, folder / "state", log)
            up = time.monotonic() - began
            async with agent_of(instance, USER) as agent:
                first = await drop(instance, agent, "first", 0)
        finally:
            stop(process, folder / "state")
        return {**announced(log), "up": up}, first


def make_up(folder: Path) -> tuple["subprocess.Popen[bytes]", Path]:
    """The process, which leads a group of its own, and where it writes."""
    options = f"--state-dir {folder / 'state'} --port {free_ports()} --speed {SPEED}"
    # Without what a make that runs this benchmark tells its children.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    log = folder / "up.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["make", "--no-print-directory", "up", f"ARGS={options}"],
            cwd=ROOT,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
    return process, log


def wait_until_up(process: "subprocess.Popen[bytes]", state: Path, log: Path) -> Instance:
    while not (state / "instance.json").exists():
        if process.poll() is not None:
            raise NotMeasured(f"make up ended: {log.read_text()}")
        time.sleep(0.005)
    return StateDirectory(state).instance()


def stop(process: "subprocess.Popen[bytes]", state: Path) -> None:
    """Only the server is asked to: make waits for it, and would leave it behind if it were too."""
    server = StateDirectory(state).holder()
    if process.poll() is None:
        os.kill(server or process.pid, signal.SIGTERM)
    process.wait(60)


def announced(log: Path) -> Moments:
    steps = (_STEP.match(line) for line in log.read_text().splitlines())
    return {step[2]: float(step[1]) for step in steps if step and "stopped" not in step[2]}


async def drops() -> tuple[list[Drop], list[Drop]]:
    with serving(SPEED) as instance:
        async with agent_of(instance, USER) as agent:
            await agent.search(query="anything")  # the tool's processes are there from the start
            new = [await drop(instance, agent, f"new-{n}", 0) for n in range(NEW_CATALOGS)]
            existing = [await drop(instance, agent, "new-0", n + 1) for n in range(FILES)]
    return new, existing


def report_starts(starts: Sequence[Moments]) -> None:
    times = sorted(each["up"] for each in starts)
    print(
        f"\nmake up                  median {median(times):5.2f} s   worst {times[-1]:5.2f} s"
        f"   aim {START_AIM:g} s: {verdict(median(times) <= START_AIM)}"
    )
    for step in starts[0]:
        print(f"    {median(each[step] for each in starts):5.1f} s  {step}")


def report_drops(what: str, drops: Sequence[Drop]) -> None:
    times = [each.seconds for each in drops]
    print(
        f"\n{what}: searchable after, at --speed {SPEED}\n"
        f"  of {len(times)}                   median {median(times):5.2f} s   worst"
        f" {max(times):5.2f} s   aim {DROP_AIM:g} s: {verdict(median(times) <= DROP_AIM)}"
    )
    print("  each: " + ", ".join(f"{each:.2f}" for each in times))
    middle = sorted(drops, key=lambda each: each.seconds)[len(drops) // 2]
    for moment, at in sorted(middle.moments.items(), key=itemgetter(1)):
        print(f"    {at:6.2f} s  {moment}")


if __name__ == "__main__":
    measure(main)
