"""Simulated time: who goes when, and what becomes of those who are ended."""

import re
from pathlib import Path

import bedrock_kb_simulator
from simulated_time.clock import VirtualClock
from simulated_time.hub import START, Hub, Killed


def test_tasks_go_in_the_order_of_time_and_then_of_coming() -> None:
    hub, order = Hub(), list[str]()

    def sleeper(name: str, seconds: float) -> None:
        hub.sleep(seconds)
        order.append(f"{name} at {hub.time:g}")

    for name, seconds in (("a", 2.0), ("b", 1.0), ("c", 2.0), ("d", 0.0)):
        hub.spawn(lambda name=name, seconds=seconds: sleeper(name, seconds))  # type: ignore[misc]
    hub.run()

    assert order == ["d at 0", "b at 1", "a at 2", "c at 2"]
    assert (hub.now() - START).total_seconds() == 2


def test_a_killed_task_ends_where_it_waits_and_cleans_up() -> None:
    hub, seen = Hub(), list[str]()

    def work() -> None:
        try:
            hub.sleep(100)
        except Killed:
            seen.append(f"killed at {hub.time:g}")
            raise
        finally:
            seen.append("cleaned up")

    task = hub.spawn(work)
    unborn = hub.spawn(lambda: seen.append("born"), after=50)
    hub.spawn(task.kill, after=2)
    hub.spawn(unborn.kill, after=2)
    hub.run()

    assert seen == ["killed at 2", "cleaned up"]


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
