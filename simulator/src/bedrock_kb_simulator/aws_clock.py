"""The simulator's clock: AWS's delays shortened by a factor; timestamps are real."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Signal(Protocol):
    """A flag that is set once; `threading.Event` is one."""

    def set(self) -> None: ...

    def is_set(self) -> bool: ...

    def wait(self, timeout: float | None = None) -> bool: ...


class Work(Protocol):
    """Work in the background that `Clock.spawn` began; a thread is one."""

    def join(self, timeout: float | None = None) -> None: ...


class Clock:
    """
    Counts AWS seconds: `speed` of them pass in a real one.

    All delays of the simulator are in AWS seconds and use this clock, as does all background work.
    A faster clock changes no rule, and simulated time (`simulated_time`) replaces only the clock.
    """

    def __init__(self, speed: float = 1.0) -> None:
        assert speed > 0, "time only moves forward"
        self._speed = speed
        self._timers: set[threading.Timer] = set()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def elapsed(self) -> float:
        """Return AWS seconds since an arbitrary moment; they never go back."""
        return time.monotonic() * self._speed

    def after(self, seconds: float) -> float:
        """Return the real epoch second after `seconds` AWS seconds."""
        return time.time() + seconds / self._speed

    def wait(self, seconds: float, interrupted: Signal) -> bool:
        """Sleep `seconds` AWS seconds; return True as soon as interrupted."""
        return interrupted.wait(max(0.0, seconds) / self._speed)

    def later(self, seconds: float, action: Callable[[], object]) -> None:
        """Run `action` in a thread in `seconds` AWS seconds, unless stopped."""
        timer = threading.Timer(seconds / self._speed, action)
        timer.daemon = True
        self._timers = {waiting for waiting in self._timers if waiting.is_alive()} | {timer}
        timer.start()

    def spawn(self, action: Callable[[], object]) -> Work:
        """Run `action` in a thread now."""
        thread = threading.Thread(target=action, daemon=True)
        thread.start()
        return thread

    def signal(self) -> Signal:
        """Return a signal for `wait`."""
        return threading.Event()

    def stop(self) -> None:
        """Cancel all actions that `later` scheduled."""
        for timer in self._timers:
            timer.cancel()
            timer.join()


class BackgroundTask(Generic[T]):
    """Work that runs in the background."""

    def __init__(self, clock: Clock, work: Callable[[], T]) -> None:
        self._work = work
        self._over = clock.signal()
        self._result: T
        self._error: Exception | None = None
        clock.spawn(self._run)

    def wait(self) -> None:
        self._over.wait()

    def result(self) -> T:
        """Wait for the result; raises what the work raised."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._work()
        except Exception as error:
            self._error = error
        finally:
            self._over.set()
