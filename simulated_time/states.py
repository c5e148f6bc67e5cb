"""The states of a state machine, in a form that can be executed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simulated_time.paths import Read

# The errors that a Retry or Catch of all errors excludes [States Language: Errors; Step Functions
# guide: "States.ALL ... can't catch the States.DataLimitExceeded terminal error or Runtime
# errors"].
_TERMINAL = ("States.Runtime", "States.DataLimitExceeded")

Write = Callable[[Any, Any], Any]


@dataclass(frozen=True, kw_only=True)
class Retrier:
    errors: frozenset[str]
    interval: float
    backoff: float
    attempts: int
    longest: float
    jitter: bool

    def delay(self, attempt: int) -> float:
        """Return the seconds before retry number `attempt`, from 0; with jitter, the maximum."""
        return min(self.interval * self.backoff**attempt, self.longest)


@dataclass(frozen=True, kw_only=True)
class Catcher:
    errors: frozenset[str]
    write: Write
    next: str


@dataclass(frozen=True, kw_only=True)
class State:
    name: str


@dataclass(frozen=True, kw_only=True)
class Task(State):
    function: str
    by_token: bool
    payload: Read
    write: Write
    output: Read
    timeout: float
    retriers: tuple[Retrier, ...]
    catchers: tuple[Catcher, ...]
    next: str | None


@dataclass(frozen=True, kw_only=True)
class Choice(State):
    """A choice; `cases` have the variable, the value that it must equal, and the next state."""

    cases: tuple[tuple[Read, str, str], ...]
    default: str


@dataclass(frozen=True, kw_only=True)
class Wait(State):
    seconds: Read
    next: str | None


@dataclass(frozen=True, kw_only=True)
class Pass(State):
    result: Any
    replaces: bool
    write: Write
    next: str | None


@dataclass(frozen=True, kw_only=True)
class Succeed(State):
    pass


@dataclass(frozen=True, kw_only=True)
class Fail(State):
    error: str
    cause: str


@dataclass(frozen=True, kw_only=True)
class Definition:
    start_at: str
    timeout: float
    states: Mapping[str, State]


def is_named(error: str, names: frozenset[str]) -> bool:
    """Return True if an ErrorEquals matches the error, by its name or a name for many errors."""
    if error in names:
        return True
    if error in _TERMINAL:
        return False
    return "States.ALL" in names or ("States.TaskFailed" in names and error != "States.Timeout")
