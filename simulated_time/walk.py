"""
Executes a state machine under simulated time.

tests/workflow/test_engines.py compares the histories with those of a strict interpreter.
"""

import random
from dataclasses import dataclass
from typing import Any

from simulated_time.bill import Bill
from simulated_time.executions import Event, Execution, Failed, TaskTokens
from simulated_time.functions import FunctionFailed, Functions, Invocation
from simulated_time.hub import Hub
from simulated_time.paths import NoSuchPath
from simulated_time.states import (
    Choice,
    Definition,
    Fail,
    Pass,
    State,
    Succeed,
    Task,
    Wait,
    is_named,
)

TRANSITION = 0.02  # assumed seconds from state to state


class OutOfTime(Exception):
    """The execution's own timeout, which no state can catch."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    hub: Hub
    bill: Bill
    functions: Functions
    turns: TaskTokens
    definition: Definition
    chance: random.Random
    keeps: bool  # histories

    def run(self, execution: Execution) -> Any:
        """Return the output. Raises Failed or OutOfTime."""
        value = execution.input
        at: str | None = self.definition.start_at
        while at is not None:
            state = self.definition.states[at]
            self._sleep(execution, TRANSITION)
            self._count(execution)
            execution.state = at
            self._note(execution, "entered", value)
            at, value = self._pass_through(execution, state, value)
            self._note(execution, "exited", value)
        return value

    def _pass_through(
        self, execution: Execution, state: State, value: Any
    ) -> tuple[str | None, Any]:
        """Return the name of the next state, if any, and its input."""
        try:
            match state:
                case Task():
                    return self._run_task(execution, state, value)
                case Choice():
                    return _chosen(state, value), value
                case Wait():
                    self._sleep(execution, state.seconds(value, None))
                    return state.next, value
                case Pass():
                    return state.next, state.write(value, state.result if state.replaces else value)
                case Succeed():
                    return None, value
                case Fail():
                    raise Failed(state.error, state.cause)
        except NoSuchPath as error:
            raise Failed("States.Runtime", f"no {error} in the input of {state.name}") from error
        raise AssertionError(f"no state is a {type(state).__name__}")

    def _run_task(self, execution: Execution, task: Task, value: Any) -> tuple[str | None, Any]:
        attempts: dict[int, int] = {}
        while True:
            try:
                result = self._attempt(execution, task, value)
                return task.next, task.output(task.write(value, result), None)
            except Failed as failure:
                self._note(execution, "failed", failure.error)
                delay = self._retry_after(task, failure, attempts)
                if delay is None:
                    return _caught(task, failure, value)
                self._sleep(execution, delay)
                self._count(execution)

    def _attempt(self, execution: Execution, task: Task, value: Any) -> Any:
        until = self.hub.time + task.timeout
        if task.by_token:
            return self._await_token(execution, task, value, until)
        invocation = self.functions.begin(task.function, task.payload(value, None))
        return {"StatusCode": 200, "Payload": self._answer(execution, invocation, until)}

    def _await_token(self, execution: Execution, task: Task, value: Any, until: float) -> Any:
        """Wait for the token's answer; the function's own answer is ignored."""
        token, turn = self.turns.open()
        try:
            payload = task.payload(value, {"Task": {"Token": token}})
            self._answer(execution, self.functions.begin(task.function, payload), until)
            left = min(until, execution.deadline) - self.hub.time
            if not turn.answered.wait(None if left == float("inf") else left):
                raise self._too_late(execution)
        finally:
            self.turns.close(token)
        if turn.failure is not None:
            raise turn.failure
        return turn.answer

    def _answer(self, execution: Execution, invocation: Invocation, until: float) -> Any:
        left = min(until, execution.deadline) - self.hub.time
        if not invocation.over.wait(None if left == float("inf") else left):
            raise self._too_late(execution)
        try:
            return invocation.result()
        except FunctionFailed as failure:
            raise Failed(failure.error, failure.cause) from failure

    def _sleep(self, execution: Execution, seconds: float) -> None:
        left = execution.deadline - self.hub.time
        self.hub.sleep(min(seconds, left))
        if seconds > left:
            raise OutOfTime

    def _too_late(self, execution: Execution) -> Exception:
        if self.hub.time >= execution.deadline:
            return OutOfTime()
        return Failed("States.Timeout")

    def _retry_after(self, task: Task, failure: Failed, attempts: dict[int, int]) -> float | None:
        """Return the pause in seconds; None if no retry is due for the error."""
        for number, retrier in enumerate(task.retriers):
            if is_named(failure.error, retrier.errors):
                made = attempts.get(number, 0)
                if made >= retrier.attempts:
                    return None
                attempts[number] = made + 1
                delay = retrier.delay(made)
                return self.chance.uniform(0, delay) if retrier.jitter else delay
        return None

    def _count(self, execution: Execution) -> None:
        """Count a transition: a state or a retry (https://aws.amazon.com/step-functions/pricing/)."""
        execution.transitions += 1
        self.bill.add("transitions", 1)

    def _note(self, execution: Execution, what: str, value: Any) -> None:
        if self.keeps:
            execution.history.append(Event(what=what, state=execution.state, value=value))


def _chosen(choice: Choice, value: Any) -> str:
    for read, wanted, following in choice.cases:
        if read(value, None) == wanted:
            return following
    return choice.default


def _caught(task: Task, failure: Failed, value: Any) -> tuple[str, Any]:
    for catcher in task.catchers:
        if is_named(failure.error, catcher.errors):
            error = {"Error": failure.error, "Cause": failure.cause}
            return catcher.next, catcher.write(value, error)
    raise failure
