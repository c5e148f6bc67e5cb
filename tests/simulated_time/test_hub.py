"""Simulated time: who goes when, and what becomes of those who are ended."""

import re
from pathlib import Path

import bedrock_kb_simulator
from simulated_time.clock import VirtualClock
from simulated_time.hub import Hub

ROOT = Path(bedrock_kb_simulator.__file__).parent
BEGINS = re.compile(r"threading\.(Thread|Timer|Event)\(|ThreadPoolExecutor|time\.sleep")
# The clock itself, the server and its HTTP layer, and what simulated time does without: a model
# that is loaded, one that a script makes stream slowly, and pytest's fixture, which waits as tests
# do.
APART = {
    *("aws_clock.py", "server.py", "wire.py", "embedder.py", "converse.py"),
    "pytest_plugin.py",
}


def test_simulator_starts_and_awaits_nothing_except_through_its_clock() -> None:
    texts = {path.name: path.read_text("utf-8") for path in ROOT.glob("*.py")}

    beginners = {name for name, text in texts.items() if BEGINS.search(text)}

    assert beginners == APART


def test_the_simulators_clock_runs_on_simulated_time() -> None:
    hub, seen = Hub(), list[object]()
    clock = VirtualClock(hub)
    stop = clock.signal()
    clock.spawn(lambda: seen.append((clock.wait(60, stop), clock.elapsed())))
    clock.spawn(lambda: seen.append((clock.wait(10, stop), clock.elapsed())))
    clock.later(30, stop.set)

    hub.run()

    assert seen == [(False, 10), (True, 30)]
    assert clock.after(5) == clock.now().timestamp() + 5
