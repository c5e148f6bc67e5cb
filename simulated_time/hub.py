"""
Simulated time: tasks that run one at a time, and a queue of the times at which they resume.

Nothing really waits. A task that sleeps gives way to the task that is due next, and the clock jumps
to that task's time. Tasks due at the same time run in the order of their arrival, so that runs with
the same seeds are equal.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import Any

from greenlet import getcurrent, greenlet

START = datetime(2026, 1, 1, tzinfo=UTC)


class Killed(BaseException):
    """
    Raised in a task that is ended from outside, where it waits.

    A BaseException, because `except Exception` must not save a task, as it doesn't save a process.
    """


class Task(greenlet):
    """
    An action that may sleep; it starts when it is due and runs until it waits.

    `ticket` counts its waits: only a wake-up with the current ticket resumes the task.
    `context` is for the task's owner.
    """

    def __init__(self, action: Callable[[], object], hub: "Hub", loop: greenlet) -> None:
        super().__init__(parent=loop)
        self._action = action
        self._hub = hub
        self.ticket = 0
        self.doomed = False
        self.context: Any = None

    def run(self) -> None:
        if self.doomed:
            return
        with suppress(Killed):
            self._action()

    def kill(self) -> None:
        """End the task where it waits, or before it starts; do nothing if it is over."""
        self.doomed = True
        self._hub.wake(self, self.ticket)

    def join(self, timeout: float | None = None) -> None:
        """Do nothing, as a task ends in its own time; callers may also have a thread."""


class Hub:
    """Runs tasks in simulated time: `run` lets time pass, all else is for tasks or their setup."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._time = 0.0
        self._queue: list[tuple[float, int, Task, int]] = []
        self._entered = 0
        self._until = 0.0
        self._loop: greenlet = getcurrent()

    @property
    def time(self) -> float:
        """Return the seconds since the start."""
        return self._time

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._time)

    def spawn(self, action: Callable[[], object], *, after: float = 0.0) -> Task:
        """Start the action as a task `after` this many seconds."""
        task = Task(action, self, self._loop)
        self.wake(task, task.ticket, after=after)
        return task

    def sleep(self, seconds: float) -> None:
        """Suspend the task for `seconds`. Raises Killed."""
        task = self.current()
        end = self._time + seconds
        if seconds >= 0 and end <= self._until and not (self._queue and self._queue[0][0] <= end):
            self._time = end  # nothing else is due before, so it continues at once
            return
        self.wake(task, task.ticket, after=seconds)
        self.give_way(task)

    def run(self, until: float | None = None) -> None:
        """
        Let time pass until nothing is left to do, or until `until` seconds since the start.

        Raises a task's exception as soon as it occurs.
        """
        assert getcurrent() is self._loop, "time passes in one place only"
        self._until = float("inf") if until is None else until
        queue = self._queue
        while queue:
            if until is not None and queue[0][0] > until:
                break
            at, _, task, ticket = heappop(queue)
            if ticket == task.ticket and not task.dead:
                self._time = at
                task.ticket += 1
                task.switch()
        if until is not None:
            self._time = max(self._time, until)

    def current(self) -> Task:
        task = getcurrent()
        assert isinstance(task, Task), "only tasks can wait; spawn one"
        return task

    def wake(self, task: Task, ticket: int, *, after: float = 0.0) -> None:
        """Resume the task then, unless something else has resumed it before."""
        self._entered += 1
        heappush(self._queue, (self._time + max(0.0, after), self._entered, task, ticket))

    def give_way(self, task: Task) -> None:
        """Suspend the task until it is woken. Raises Killed."""
        if not task.doomed:
            self._loop.switch()
        if task.doomed:
            raise Killed


class Signal:
    """An event for tasks, like `threading.Event` for threads."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._is_set = False
        self._waiting: dict[Task, int] = {}

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        for task, ticket in self._waiting.items():
            self._hub.wake(task, ticket)

    def wait(self, timeout: float | None = None) -> bool:
        """Return True if it was set within `timeout` seconds. Raises Killed."""
        if self._is_set:
            return True
        task = self._hub.current()
        self._waiting[task] = task.ticket
        if timeout is not None:
            self._hub.wake(task, task.ticket, after=timeout)
        try:
            self._hub.give_way(task)
        finally:
            del self._waiting[task]
        return self._is_set
