"""
Limits for an agent whose model calls tools without end, or whose tool hangs.

An agent has a number of turns and tool calls, and the time that its function has left, minus what
it takes to report the end.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from strands.hooks import BeforeToolCallEvent, HookProvider, HookRegistry

from stackroom.errors import AgentUnfinished

TURNS = 25  # of the model; the agents that anybody has shown us take less than ten
TOOL_CALLS = 100  # a turn may have several
# Told, sent and logged within it. A function with less left doesn't begin.
RESERVE_SECONDS = 5.0
GRACE_SECONDS = 0.5  # for what listens to the signal

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class RunDeadline:
    """A deadline, as a time of `time.monotonic`."""

    at: float

    @classmethod
    def of(cls, context: Any) -> "RunDeadline":
        """Return the function's deadline; a handler called without a context has 10 minutes."""
        remaining = getattr(context, "get_remaining_time_in_millis", lambda: 600_000)()
        return cls(time.monotonic() + remaining / 1000 - RESERVE_SECONDS)

    @property
    def seconds(self) -> float:
        return max(self.at - time.monotonic(), 0.0)


def within(deadline: RunDeadline, work: Callable[[threading.Event], _Answer]) -> _Answer:
    """
    Return the result of `work`, which gets a signal that is set at the deadline.

    At the deadline it raises AgentUnfinished, and leaves the thread behind, which may hang in a
    call. No other event is affected, because each has an agent of its own.
    """
    seconds = deadline.seconds
    if not seconds:
        raise AgentUnfinished("its function has no time left")
    running = Running(work)
    running.start()
    running.join(seconds)
    if running.is_alive():
        running.stop.set()
        running.join(GRACE_SECONDS)
        raise AgentUnfinished(f"it was not done within the {seconds:.0f} seconds of its function")
    return running.answer()


class Running(threading.Thread, Generic[_Answer]):
    """Work that may be left behind: `stop` asks it to end, and `answer` waits for its result."""

    def __init__(self, work: Callable[[threading.Event], _Answer]) -> None:
        super().__init__(daemon=True, name="agent")
        self.stop = threading.Event()
        self._work = work
        self._answers: list[_Answer] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._answers.append(self._work(self.stop))
        except BaseException as error:  # raised again in the thread that waits
            self._error = error

    def answer(self) -> _Answer:
        if self._error is not None:
            raise self._error
        [answer] = self._answers
        return answer


@dataclass
class ToolCalls(HookProvider):
    """Counts an agent's calls as a hook; its owner checks `are_too_many`."""

    stop: threading.Event
    number: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        registry.add_callback(BeforeToolCallEvent, self._count)

    @property
    def are_too_many(self) -> bool:
        return self.number > TOOL_CALLS

    def _count(self, event: BeforeToolCallEvent) -> None:
        with self.lock:
            self.number += 1
        if self.are_too_many:
            event.cancel_tool = f"more than {TOOL_CALLS} calls of tools; no more are made"
            self.stop.set()
