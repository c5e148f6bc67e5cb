"""
Simulated time for threads: the simulator's, and nobody else's, while a test decides how it passes.

The hub's tasks can't leave the thread that they were begun in. So that is a thread of its own, and
whoever wants something done in it waits for the answer.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from benchmarks.simulated_time.clock import VirtualClock
from benchmarks.simulated_time.hub import Hub

Answer = TypeVar("Answer")


class Timeline:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bedrock")
        self.hub = self._thread.submit(Hub).result()

    def do(self, action: Callable[[], Answer], *, after: float = 0.0) -> Answer:
        """
        Let so many seconds pass, then do this, and answer what it answers or raise what it raises.

        Whatever else is due by then is done before. Safe to call from any thread but the hub's.
        """
        return self._thread.submit(self._do, action, after).result()

    def close(self) -> None:
        """Everything that waits for a moment has come to its end."""
        self._thread.submit(self.hub.run).result()
        self._thread.shutdown()

    def _do(self, action: Callable[[], Answer], after: float) -> Answer:
        self.hub.run(until=self.hub.time + after)
        answer: Future[Answer] = Future()
        self.hub.spawn(partial(_answer, answer, action))
        self.hub.run(until=self.hub.time)
        while not answer.done():  # it takes time of its own
            self.hub.run(until=self.hub.time + 1)
        return answer.result()


class StampingClock(VirtualClock):
    """Its delays are simulated, its timestamps are not: the product compares them with its own."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def _answer(answer: Future[Answer], action: Callable[[], Answer]) -> None:
    try:
        answer.set_result(action())
    except Exception as error:
        answer.set_exception(error)
