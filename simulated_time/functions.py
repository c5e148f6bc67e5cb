"""
Lambda: parallel invocations, billed by the millisecond and ended at their timeout.

A function's code takes no time itself. Time passes in its calls of AWS (`Pace`) and its pauses;
`OVERHEAD` stands for all the rest. A part of each call uses the function's processor, of which it
has only one for all its parallel calls.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from simulated_time.bill import LOGGED, Bill
from simulated_time.hub import Hub, Killed, Signal

# Assumed seconds: a warm invocation's own work, a new environment's start (measured for the
# functions by `make bench-cold`, without the download of the code), and the life of an idle one.
OVERHEAD = 0.005
COLD_START = 0.8
KEPT = 600.0
# Processor seconds per call with 512 MB, the memory of all assumed times: measured by `make
# bench-registration ARGS=--processor`, 1.4 ms of a whole processor. A function has a whole one at
# 1,769 MB, and its share below.
# https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
OWN = 0.005
_ASSUMED_MEMORY = 512


@dataclass(frozen=True, kw_only=True)
class Function:
    name: str
    memory: int  # MB
    timeout: float
    handler: Callable[[Any], Any]


class FunctionFailed(Exception):
    """An exception, a timeout or a crash as a caller sees it: `errorType` and the payload."""

    def __init__(self, error: str, cause: str) -> None:
        super().__init__(error)
        self.error = error
        self.cause = cause


class FunctionEnded(BaseException):
    """Ends the function like a kill, whatever the function catches."""


class Crash(FunctionEnded):
    """Raised in a function to end its environment there; `error` is the name that callers see."""

    def __init__(self, error: str = "Runtime.ExitError") -> None:
        super().__init__(error)
        self.error = error


@dataclass
class Processor:
    """An environment's processor; `share` is relative to the assumed one's."""

    share: float = 1.0
    free_at: float = 0.0


@dataclass
class Invocation:
    """An invocation; `owed` seconds pass with the next `spend`, `own` of them on the processor."""

    over: Signal
    deadline: float
    processor: Processor = field(default_factory=Processor)
    owed: float = 0.0
    own: float = 0.0
    answer: Any = None
    failure: FunctionFailed | None = None

    def strand(self) -> "Invocation":
        """Return a parallel strand of the invocation, which owes time on its own."""
        return replace(self, owed=0.0, own=0.0)

    def result(self) -> Any:
        """Wait for the result and return it. Raises FunctionFailed."""
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
    _idle: dict[str, list[float]] = field(
        default_factory=dict
    )  # when each became idle, by function

    def add(self, function: Function) -> None:
        self.known[function.name] = function

    def begin(self, name: str, event: Any) -> Invocation:
        function = self.known[name]
        processor = Processor(share=function.memory / _ASSUMED_MEMORY)
        invocation = Invocation(over=Signal(self.hub), deadline=float("inf"), processor=processor)
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
        except FunctionEnded:
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
        self.bill.add("log bytes", LOGGED)
        billed = math.ceil(seconds * 1000 - 1e-6) / 1000
        self.bill.add("lambda GB-s", billed * function.memory / 1024)


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Time as code inside a function spends it: never beyond the function's timeout."""

    hub: Hub

    def spend(self, seconds: float, *, own: float = OWN) -> None:
        """
        Let `seconds` pass, `own` of them on the function's processor.

        Raises FunctionEnded when the function's time is over.
        """
        invocation = self.hub.current().context
        if invocation is None:
            self.hub.sleep(seconds)
            return
        self._add(invocation, seconds, own)
        processor = invocation.processor
        begins = max(self.hub.time, processor.free_at) if invocation.own else self.hub.time
        processor.free_at = max(processor.free_at, begins + invocation.own)
        end = begins + invocation.owed
        invocation.owed = invocation.own = 0.0
        if end > invocation.deadline:
            self.hub.sleep(invocation.deadline - self.hub.time)
            raise FunctionEnded
        self.hub.sleep(end - self.hub.time)

    def owe(self, seconds: float, *, own: float = OWN) -> None:
        """
        Let the time pass with the next `spend`.

        Serves for reads: other tasks still get the same time before the function's next write,
        and most switches between tasks are saved.
        """
        invocation = self.hub.current().context
        if invocation is None:
            self.hub.sleep(seconds)
        else:
            self._add(invocation, seconds, own)

    def settle(self) -> None:
        """Let the owed time pass. Raises the same as `spend`."""
        self.spend(0.0)

    def _add(self, invocation: Invocation, seconds: float, own: float) -> None:
        own = min(own, seconds)
        faster = own / invocation.processor.share
        invocation.owed += seconds - own + faster
        invocation.own += faster


def _failed(error: str, message: str) -> FunctionFailed:
    return FunctionFailed(error, f'{{"errorMessage":"{message}","errorType":"{error}"}}')
