"""A soak from start to verdict: users at random, kills in turn, and what is so in the end."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.campaigns.soak.actor import Actor
from tests.campaigns.soak.canaries import USER as CANARY
from tests.campaigns.soak.canaries import Canaries
from tests.campaigns.soak.judge import Judge
from tests.campaigns.soak.killer import KINDS, WORKERS, Killer, in_turn
from tests.campaigns.soak.mode import Mode
from tests.campaigns.soak.model import Model
from tests.campaigns.soak.tally import Tally

USERS = ("alice", "bob", "carol", "dave")
_SECONDS_BETWEEN_ACTS = 0.4
_SECONDS_BETWEEN_KILLS = (1.0, 7.0)  # from up again to the next
_SECONDS_AFTER_THE_LAST = 3.0
_ACT_SECONDS = 300.0  # a verb of a very busy machine

Tell = Callable[[str], None]


@dataclass
class Soak:
    """`patience` is how many seconds everything has to come to rest and agree."""

    mode: Mode
    seed: int
    minutes: float
    patience: float
    tell: Tell
    tally: Tally = field(init=False)
    model: Model = field(default_factory=Model)

    def __post_init__(self) -> None:
        self.tally = Tally(self.mode.folder / "journal.log")

    def run(self) -> Tally:
        self.mode.start()
        try:
            with self._users():
                self._kill_in_turn()
            self._judge()
        finally:
            self.mode.stop()
            self.tally.failed_starts = self.mode.failed_starts
        return self.tally

    def _kill_in_turn(self) -> None:
        """For as long as it lasts, each kind once at least; the last kill restarts all."""
        chance = random.Random(f"{self.seed} kills")
        killer = Killer(self.mode, chance)
        until = time.monotonic() + self.minutes * 60
        for kind in in_turn(chance):
            self._watch(chance.uniform(*_SECONDS_BETWEEN_KILLS))
            is_last = time.monotonic() > until and {*self.tally.kills, kind} >= set(KINDS)
            is_last = is_last and kind != WORKERS
            if is_last:
                self._tampering.clear()
            self._canaries.put(kind)
            self.tally.note(f"kill of {kind}")
            begun = time.monotonic()
            self.tally.kills[kind] += killer.kill(kind)
            self.tally.restarts.append((time.monotonic() - begun, kind))
            self.tally.note("up again")
            self.tell(f"killed {kind}")
            if is_last:
                self._watch(_SECONDS_AFTER_THE_LAST)
                return

    @contextmanager
    def _users(self) -> Iterator[None]:
        over = threading.Event()
        self._tampering = threading.Event()
        self._tampering.set()
        self._canaries = Canaries(self.mode, self.model, self.tally)
        actors = [
            Actor(
                user=user,
                others=tuple(other for other in USERS if other != user),
                mode=self.mode,
                model=self.model,
                tally=self.tally,
                chance=random.Random(f"{self.seed} {user}"),
                seconds_between=_SECONDS_BETWEEN_ACTS,
                over=over,
                tampering=self._tampering,
            )
            for user in USERS
        ]
        for actor in actors:
            actor.start()
        try:
            yield
        finally:
            over.set()
            for actor in actors:
                actor.join(_ACT_SECONDS)

    def _judge(self) -> None:
        started = time.monotonic()
        judge = Judge(self.mode.instance, self.model, (*USERS, CANARY), on_look=self._canaries.look)
        self.tally.disagreements += judge.verdict(patience=self.patience)
        self.tell(f"judged after {time.monotonic() - started:.0f} s")

    def _watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._canaries.look()
            time.sleep(0.5)
