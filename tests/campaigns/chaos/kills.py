"""
Workers that die: before or after the nth AWS call of the nth invocation of a step.

A step is a function, or one of its actions. What dies is the environment: nothing that the code
would do on its way out gets past a `BaseException` but its `finally`s, which reach no AWS either.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from greenlet import getcurrent, greenlet

from simulated_time.functions import Crash

# What Step Functions calls a function that died: the first in older runtimes, and the other by the
# error type of newer ones [Step Functions guide: concepts-error-handling, Lambda.Unknown].
_ERRORS = ("Lambda.Unknown", "Runtime.ExitError")


@dataclass(frozen=True, order=True)
class Kill:
    """`invocation` and `call` count from 0; `late` is after the call had its effect."""

    step: str
    invocation: int
    call: int
    late: bool

    def __str__(self) -> str:
        when = "after" if self.late else "before"
        return f"{self.step}#{self.invocation} {when} call {self.call}"


@dataclass
class Work:
    step: str
    invocation: int
    calls: int = 0
    dead: bool = False


@dataclass
class Kills:
    """`calls` is how many AWS calls each invocation of each step has made, for planning kills."""

    planned: frozenset[Kill] = frozenset()
    done: list[Kill] = field(default_factory=list)
    calls: Counter[tuple[str, int]] = field(default_factory=Counter)
    names: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    armed: bool = True
    _invocations: Counter[str] = field(default_factory=Counter)
    _at_work: dict[greenlet, Work] = field(default_factory=dict)

    @classmethod
    def of(cls, planned: Iterable[Kill]) -> "Kills":
        return cls(planned=frozenset(planned))

    @property
    def busy(self) -> bool:
        return bool(self._at_work)

    @property
    def at_work(self) -> bool:
        """Return whether a worker asks and can still die."""
        return self.armed and getcurrent() in self._at_work

    def next(self, step: str, call: int, *, late: bool) -> None:
        """Plan the death of the next invocation of that step, if it makes so many calls."""
        kill = Kill(step, self._invocations[step], call, late)
        self.planned = self.planned | {kill}

    @contextmanager
    def working(self, step: str) -> Iterator[None]:
        work = Work(step, self._invocations[step])
        if self.armed:
            self._invocations[step] += 1
        self._at_work[getcurrent()] = work
        try:
            yield
        finally:
            del self._at_work[getcurrent()]

    def before(self, operation: str) -> None:
        work = self._at_work.get(getcurrent())
        if work is None:
            return
        if work.dead:  # a `finally` of the dead environment: it never runs
            raise Crash
        self._strike(work, late=False)
        if self.armed:
            self.names.setdefault((work.step, work.invocation), []).append(operation)

    def after(self) -> None:
        work = self._at_work.get(getcurrent())
        if work is None:
            return
        self._strike(work, late=True)
        work.calls += 1
        if self.armed:
            self.calls[work.step, work.invocation] = work.calls

    def _strike(self, work: Work, *, late: bool) -> None:
        kill = Kill(work.step, work.invocation, work.calls, late)
        if self.armed and kill in self.planned:
            self.done.append(kill)
            work.dead = True
            raise Crash(_ERRORS[(kill.call + kill.late) % 2])

    def possible(self) -> list[Kill]:
        """Every one that a run like this one could have met."""
        return [
            Kill(step, invocation, call, late)
            for (step, invocation), calls in sorted(self.calls.items())
            for call in range(calls)
            for late in (False, True)
        ]
