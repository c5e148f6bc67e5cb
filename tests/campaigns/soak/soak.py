"""A soak from start to verdict: users at random, kills in turn, and what is so in the end."""

import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import psutil
from botocore.exceptions import ClientError

from stackroom.errors import StackroomError
from stackroom.model.records import DocumentStatus
from tests.campaigns.soak.actor import NO_ANSWER, Actor
from tests.campaigns.soak.judge import Judge
from tests.campaigns.soak.mode import Mode
from tests.campaigns.soak.model import Model, note
from tests.campaigns.soak.tally import Tally
from tests.e2e.people import Person

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


CANARY = "canary"


@dataclass
class Canaries:
    mode: Mode
    model: Model
    tally: Tally
    # By kind: since when, the kills until then, and the ETag of the latest; one that is not found
    # before the next kill of its kind waits with that one.
    _waiting: dict[str, tuple[float, int, str]] = field(default_factory=dict)

    def put(self, kind: str) -> None:
        """Returns once it is acknowledged; then comes the kill."""
        number = len(self.tally.restarts)
        word = f"{CANARY}-x{number:08x}"
        # Few names, dropped again and again, so that an answer shows all of them.
        path = f"kills/{kind}.txt"
        body, content = note(word, f"The word of the day is {word}.")
        Person(self.mode.instance, CANARY).put(path, body)
        self.model.acknowledged(f"{CANARY}/{path}", content)
        since, before, _ = self._waiting.get(kind, (time.monotonic(), number, ""))
        self._waiting[kind] = (since, before, content.etag)

    def look(self) -> None:
        """Notes those that have become searchable since; nothing while it is down."""
        if not self._waiting:
            return
        try:
            records = Person(self.mode.instance, CANARY).records().values()
        except (*NO_ANSWER, ClientError, StackroomError):
            return
        settled = {each.etag for each in records if each.status is DocumentStatus.INDEXED}
        for kind, (since, before, etag) in list(self._waiting.items()):
            if etag in settled:
                del self._waiting[kind]
                others = len(self.tally.restarts) - before - 1
                told = f"{kind}, with {others} more meanwhile"
                self.tally.recoveries.append((time.monotonic() - since, told))


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
            self.tally.faults = self.mode.injected()
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
