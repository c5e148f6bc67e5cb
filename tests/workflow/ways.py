"""
Ways through a state machine, found in its definition: over any step from one state to the next.

A step is the `Next` of a state, a rule or the `Default` of a Choice, or a Catch. To it, and from it
to an end, a way takes the fewest steps, and no failure that it can do without. So whoever adds an
outcome or a Catch adds a way.

For machines like ours: each Choice compares one member of what the task before it answered.
"""

from collections import deque
from collections.abc import Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.workflow.functions import Reply

State = dict[str, Any]

_NOBODYS = "NobodysError"  # which no Retry and no Catch names
_OTHER = "an outcome that no rule names"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A rule of a Choice has the value that it `equals`, a Catch an `error` that it is for."""

    origin: str
    to: str
    equals: str | None = None
    error: str | None = None
    fails: bool = False  # as a Catch and a Default do

    def __str__(self) -> str:
        return f"{self.origin} ({self.error or self.equals or 'else'}) {self.to}"

    @property
    def decides(self) -> bool:
        """There were others to take."""
        return self.fails or self.equals is not None


@dataclass(frozen=True, kw_only=True)
class Way:
    """`states` from the first to an end, and what the tasks among them reply, in order."""

    states: list[str]
    replies: list[Reply]


@dataclass(frozen=True)
class Ways:
    """Through that machine, by executions with that input."""

    machine: State
    given: State

    @property
    def states(self) -> dict[str, State]:
        return dict(self.machine["States"])

    @cached_property
    def waiting(self) -> set[str]:
        """The tasks that wait until somebody sends their token back."""
        found = self.states.items()
        return {name for name, state in found if state.get("Resource", "").endswith("TaskToken")}

    @cached_property
    def steps(self) -> list[Step]:
        return [step for name, state in self.states.items() for step in _steps(name, state)]

    def over(self, step: Step, *, avoiding: Collection[str] = ()) -> Way | None:
        """A way over that step; None if there is none that avoids these states."""
        there = self._shortest(self.machine["StartAt"], {step.origin}, avoiding)
        ends = {name for name, state in self.states.items() if state["Type"] in ("Succeed", "Fail")}
        on = self._shortest(step.to, ends, avoiding)
        if there is None or on is None:
            return None
        steps = [*there, step, *on]
        states = [*(each.origin for each in steps), steps[-1].to]
        return Way(states=states, replies=self._replies(steps))

    def _shortest(
        self, start: str, goals: set[str], avoiding: Collection[str]
    ) -> list[Step] | None:
        good = [step for step in self.steps if not step.fails]
        for steps in (good, self.steps):
            found = _search(start, goals, [step for step in steps if step.to not in avoiding])
            if found is not None and start not in avoiding:
                return found
        return None

    def _replies(self, steps: list[Step]) -> list[Reply]:
        replies: list[Reply] = []
        for step in steps:
            state = self.states[step.origin]
            if state["Type"] == "Task":
                replies.append(_failed(step.error) if step.error else Reply(payload=self.answer()))
            elif state["Type"] == "Choice":
                _set(replies[-1].payload, _variable(state), step.equals or _OTHER)
        return replies

    def answer(self) -> State:
        """The input, with nothing to wait for."""
        answer = deepcopy(self.given)
        for state in self.states.values():
            if state["Type"] == "Wait":
                _set(answer, state["SecondsPath"], 0)
        return answer


def _steps(name: str, state: State) -> Iterator[Step]:
    if "Next" in state:
        yield Step(origin=name, to=state["Next"])
    for rule in state.get("Choices", []):
        yield Step(origin=name, to=rule["Next"], equals=rule["StringEquals"])
    if "Default" in state:
        yield Step(origin=name, to=state["Default"], fails=True)
    for catcher in state.get("Catch", []):
        error = _error(catcher, state)
        yield Step(origin=name, to=catcher["Next"], error=error, fails=True)


def _error(catcher: State, state: State) -> str:
    """One that gets there without being tried again."""
    retried = {error for retry in state.get("Retry", []) for error in retry["ErrorEquals"]}
    assert "States.ALL" not in retried, "what is retried for good is nobody's to catch"
    names = [_NOBODYS if name == "States.ALL" else name for name in catcher["ErrorEquals"]]
    return next(name for name in names if name not in retried)


def _search(start: str, goals: set[str], steps: list[Step]) -> list[Step] | None:
    came: dict[str, list[Step]] = {start: []}
    ahead = deque([start])
    while ahead:
        here = ahead.popleft()
        if here in goals:
            return came[here]
        for step in steps:
            if step.origin == here and step.to not in came:
                came[step.to] = [*came[here], step]
                ahead.append(step.to)
    return None


def _variable(choice: State) -> str:
    [variable] = {rule["Variable"] for rule in choice["Choices"]}
    return str(variable)


def _set(payload: Any, path: str, value: object) -> None:
    _, *names, last = path.split(".")
    for name in names:
        payload = payload[name]
    payload[last] = value


def _failed(error: str) -> Reply:
    payload = {"errorType": error, "errorMessage": "as the way has it"}
    return Reply(payload=payload, function_error=True)
