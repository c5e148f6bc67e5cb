"""Kills every process of the local mode in turn, and starts again what does not come back."""

import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import psutil

from tests.campaigns.soak.mode import Mode

WORKERS = "function workers"
STOP = "supervisor, politely"
# All but workers end the whole local mode: a server that dies ends it.
KINDS = (
    "ministack",
    "simulator",
    "gateway",
    "console",
    "supervisor",
    WORKERS,
    STOP,
    "ministack, politely",
)


def in_turn(chance: random.Random) -> Iterator[str]:
    """Every kind once, in a drawn order, again and again."""
    while True:
        yield from chance.sample(KINDS, len(KINDS))


@dataclass(frozen=True)
class Killer:
    mode: Mode
    chance: random.Random

    def kill(self, kind: str) -> int:
        """How many processes; afterwards all is up again."""
        if kind == WORKERS:
            return self._kill_workers()
        name = kind.partition(",")[0]
        number = signal.SIGTERM if kind.endswith("politely") else signal.SIGKILL
        self.mode.serving.clear()
        self.mode.signal(name, number)
        self.mode.await_end()
        time.sleep(self.chance.choice([0.0, 0.0, 1.0]))  # a user is quicker or slower
        self.mode.start()
        return 1

    def _kill_workers(self) -> int:
        alive = self.mode.workers()
        chosen = self.chance.sample(alive, min(len(alive), self.chance.randint(1, 4)))
        killed = 0
        for each in chosen:
            with suppress(psutil.NoSuchProcess):
                each.kill()
                killed += 1
        return killed
