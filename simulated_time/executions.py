"""Executions and their history, and the tasks that wait with a token."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

from simulated_time.hub import Hub, Signal, Task


class ExecutionAlreadyExists(Exception):
    """An execution of that name has another input, or has ended."""


class TaskDoesNotExist(Exception):
    """No task ever waited with this token."""


class TaskTimedOut(Exception):
    """The task that waited with this token waits no more."""


class Failed(Exception):
    """An error by the name that a Retry or Catch knows."""

    def __init__(self, error: str, cause: str = "") -> None:
        super().__init__(error)
        self.error = error
        self.cause = cause


@dataclass(frozen=True, kw_only=True)
class Event:
    """An entry of the history: a state was entered, failed or exited."""

    what: str
    state: str
    value: Any


@dataclass
class Execution:
    """An execution; `transitions` are billed, and `deadline` is in the hub's time."""

    name: str
    input: Any
    deadline: float
    status: str = "RUNNING"
    state: str = ""
    error: str | None = None
    cause: str | None = None
    output: Any = None
    transitions: int = 0
    history: list[Event] = field(default_factory=list)
    life: Task | None = None

    def end(self, status: str) -> None:
        self.status, self.life = status, None


@dataclass
class Turn:
    """A task that waits with a token; `answer` or `failure` came with the token."""

    answered: Signal
    answer: Any = None
    failure: Failed | None = None


class TaskTokens:
    """The tokens of waiting tasks."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._numbers = count(1)
        self._waiting: dict[str, Turn] = {}

    def open(self) -> tuple[str, Turn]:
        token, turn = f"turn-{next(self._numbers)}", Turn(answered=Signal(self._hub))
        self._waiting[token] = turn
        return token, turn

    def close(self, token: str) -> None:
        self._waiting.pop(token, None)

    def succeed(self, token: str, output: Any) -> None:
        """SendTaskSuccess. Raises TaskDoesNotExist or TaskTimedOut."""
        turn = self._waiting_turn(token)
        turn.answer = output
        turn.answered.set()

    def fail(self, token: str, error: str, cause: str = "") -> None:
        """SendTaskFailure. Raises TaskDoesNotExist or TaskTimedOut."""
        turn = self._waiting_turn(token)
        turn.failure = Failed(error, cause)
        turn.answered.set()

    def _waiting_turn(self, token: str) -> Turn:
        if not token.startswith("turn-"):
            raise TaskDoesNotExist(token)
        turn = self._waiting.pop(token, None)
        if turn is None:
            raise TaskTimedOut(token)
        return turn
