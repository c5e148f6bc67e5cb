"""Time as the simulator tells it: AWS's delays, shortened by a factor; timestamps stay real."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Signal(Protocol):
    """Set once, and then for ever; `threading.Event` is one."""

    def set(self) -> None: ...

    def is_set(self) -> bool: ...

    def wait(self, timeout: float | None = None) -> bool: ...


class Work(Protocol):
    """What `Clock.spawn` has begun; a thread is one."""

    def join(self, timeout: float | None = None) -> None: ...


class Clock:
    """
    Counts AWS seconds: `speed` of them pass in a real one.

    Every delay, window and life cycle of the simulator is given in AWS seconds and goes through
    here, and so does whatever is done beside something else: a faster clock never changes a rule,
    and one whose time is simulated (`simulated_time`) needs nothing changed but itself.
    """

    def __init__(self, speed: float = 1.0) -> None:
        assert speed > 0, "time only moves forward"
        self._speed = speed
        self._timers: set[threading.Timer] = set()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def elapsed(self) -> float:
        """AWS seconds since an arbitrary moment; never goes back."""
        return time.monotonic() * self._speed

    def after(self, seconds: float) -> float:
        """The real epoch second at which `seconds` AWS seconds will have passed."""
        return time.time() + seconds / self._speed

    def wait(self, seconds: float, interrupted: Signal) -> bool:
        """Sleep `seconds` AWS seconds; True as soon as interrupted."""
        return interrupted.wait(max(0.0, seconds) / self._speed)

    def later(self, seconds: float, action: Callable[[], object]) -> None:
        """Run `action` in a thread of its own `seconds` AWS seconds from now, unless stopped."""
        timer = threading.Timer(seconds / self._speed, action)
        timer.daemon = True
        self._timers = {waiting for waiting in self._timers if waiting.is_alive()} | {timer}
        timer.start()

    def spawn(self, action: Callable[[], object]) -> Work:
        """Run `action` in a thread of its own, from now on."""
        thread = threading.Thread(target=action, daemon=True)
        thread.start()
        return thread

    def signal(self) -> Signal:
        """For `wait`, between whatever this clock has spawned."""
        return threading.Event()

    def stop(self) -> None:
        """Nothing that was to run later runs any more."""
        for timer in self._timers:
            timer.cancel()
            timer.join()


class Begun(Generic[T]):
    """Work that is being done beside other work."""

    def __init__(self, clock: Clock, work: Callable[[], T]) -> None:
        self._work = work
        self._over = clock.signal()
        self._result: T
        self._error: Exception | None = None
        clock.spawn(self._run)

    def wait(self) -> None:
        self._over.wait()

    def result(self) -> T:
        """Waits for it; raises what the work raised."""
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
