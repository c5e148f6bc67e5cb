"""
Lambda: functions invoked beside each other, billed by the millisecond, ended when they take too
long.

A function's code takes no time of its own here. Time passes in its calls of AWS (`Calls.make`) and
where it pauses; `OVERHEAD` stands for all the rest.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.simulated_time.bill import Bill
from benchmarks.simulated_time.hub import Hub, Killed, Signal

# Seconds, assumed: a warm invocation's own work, a new environment's start (measured for our
# functions by `make bench-cold`, the download of the code besides), and how long one is kept.
OVERHEAD = 0.005
COLD_START = 0.8
KEPT = 600.0


@dataclass(frozen=True, kw_only=True)
class Function:
    name: str
    memory: int  # MB
    timeout: float
    handler: Callable[[Any], Any]


class FunctionFailed(Exception):
    """What the caller gets of an exception, a timeout or a crash: `errorType` and the payload."""

    def __init__(self, error: str, cause: str) -> None:
        super().__init__(error)
        self.error = error
        self.cause = cause


class _OutOfTime(BaseException):
    """Ends the function like a kill, whatever it catches."""


class Crash(_OutOfTime):
    """Raised in a function by whoever wants its environment to die there; `error` is its name."""

    def __init__(self, error: str = "Runtime.ExitError") -> None:
        super().__init__(error)
        self.error = error


@dataclass
class Invocation:
    over: Signal
    deadline: float
    owed: float = 0.0
    answer: Any = None
    failure: FunctionFailed | None = None

    def result(self) -> Any:
        """Waits for it. Raises FunctionFailed."""
        self.over.wait()
        if self.failure is not None:
            raise self.failure
        return self.answer


@dataclass
class Functions:
    hub: Hub
    bill: Bill
    known: dict[str, Function] = field(default_factory=dict)
    invocations: int = 0
    _idle: dict[str, list[float]] = field(default_factory=dict)  # since when, by function

    def add(self, function: Function) -> None:
        self.known[function.name] = function

    def begin(self, name: str, event: Any) -> Invocation:
        function = self.known[name]
        invocation = Invocation(over=Signal(self.hub), deadline=float("inf"))
        task = self.hub.spawn(lambda: self._run(function, event, invocation))
        task.context = invocation
        return invocation

    def _run(self, function: Function, event: Any, invocation: Invocation) -> None:
        started = self.hub.time
        idle = self._idle.setdefault(function.name, [])
        warm = bool(idle) and started - idle.pop() < KEPT
        if not warm:
            self.hub.sleep(COLD_START)
        invocation.deadline = self.hub.time + function.timeout
        lost = True
        try:
            self.hub.sleep(OVERHEAD)
            invocation.answer = function.handler(event)
            self.hub.sleep(invocation.owed)
            lost = False
        except Crash as crash:
            invocation.failure = _failed(crash.error, "Runtime exited with error")
        except _OutOfTime:
            invocation.failure = _failed("Sandbox.Timedout", "Task timed out")
        except Killed:
            raise
        except Exception as error:
            invocation.failure = _failed(type(error).__name__, str(error))
            lost = False
        finally:
            self._charge(function, self.hub.time - started)
            if not lost:
                idle.append(self.hub.time)
            invocation.over.set()

    def _charge(self, function: Function, seconds: float) -> None:
        self.invocations += 1
        self.bill.calls[f"invocations of {function.name}"] += 1
        self.bill.add("lambda requests", 1)
        billed = math.ceil(seconds * 1000 - 1e-6) / 1000
        memory = billed * function.memory / 1024
        self.bill.add("lambda GB-s", memory)
        # As in Bill.add: Counter's values are ints to the type checker.
        self.bill.memory[function.name] += memory  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Time as code inside a function spends it: never beyond the function's timeout."""

    hub: Hub

    def spend(self, seconds: float) -> None:
        """Let so much time pass. Raises what ends the function when its time is over."""
        invocation = self.hub.current().context
        if invocation is None:
            self.hub.sleep(seconds)
            return
        seconds += invocation.owed
        invocation.owed = 0.0
        if self.hub.time + seconds > invocation.deadline:
            self.hub.sleep(invocation.deadline - self.hub.time)
            raise _OutOfTime
        self.hub.sleep(seconds)

    def owe(self, seconds: float) -> None:
        """
        Let it pass with the next that is spent.

        For what a function only reads: between that and its next write the others have as much
        time as they would have had, and most of the waking and waiting is saved.
        """
        invocation = self.hub.current().context
        if invocation is None:
            self.hub.sleep(seconds)
        else:
            invocation.owed += seconds


def _failed(error: str, message: str) -> FunctionFailed:
    return FunctionFailed(error, f'{{"errorMessage":"{message}","errorType":"{error}"}}')
