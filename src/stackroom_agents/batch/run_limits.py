"""
No agent goes on for ever: not a model that calls tools again and again, nor a tool that hangs.

An agent has so many turns and tool calls, and the time that its function has left but for what it
takes to tell how it ended.
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
    """A moment of `time.monotonic`."""

    at: float

    @classmethod
    def of(cls, context: Any) -> "RunDeadline":
        """What the function has left. Whoever calls a handler without a context has 10 minutes."""
        remaining = getattr(context, "get_remaining_time_in_millis", lambda: 600_000)()
        return cls(time.monotonic() + remaining / 1000 - RESERVE_SECONDS)

    @property
    def seconds(self) -> float:
        return max(self.at - time.monotonic(), 0.0)


def within(deadline: RunDeadline, work: Callable[[threading.Event], _Answer]) -> _Answer:
    """
    What `work` answers; it gets a signal that is set when its time is over.

    Raises AgentUnfinished then, and leaves behind a thread that may hang in a call: what it does
    concerns nobody any more, for each event has an agent of its own.
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
        raise AgentUnfinished(f"it had {seconds:.0f} seconds, and its function has no more")
    return running.answer()


class Running(threading.Thread, Generic[_Answer]):
    """Work that may be left behind: `stop` asks it to end, and `answer` is for when it has."""

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
    """Counts an agent's calls; whoever hooks it in looks at `are_too_many`."""

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
