"""The simulator's clock on a hub's time: waits take no real time."""

from collections.abc import Callable
from datetime import datetime

from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.aws_clock import Signal as SomeSignal
from simulated_time.hub import Hub, Signal, Task


class VirtualClock(Clock):
    """A clock in AWS seconds, with tasks of the hub in place of threads."""

    def __init__(self, hub: Hub) -> None:
        super().__init__()
        self._hub = hub

    def now(self) -> datetime:
        return self._hub.now()

    def elapsed(self) -> float:
        return self._hub.time

    def after(self, seconds: float) -> float:
        return self._hub.now().timestamp() + seconds

    def wait(self, seconds: float, interrupted: SomeSignal) -> bool:
        return interrupted.wait(max(0.0, seconds))

    def later(self, seconds: float, action: Callable[[], object]) -> None:
        self._hub.spawn(action, after=seconds)

    def spawn(self, action: Callable[[], object]) -> Task:
        return self._hub.spawn(action)

    def signal(self) -> SomeSignal:
        return Signal(self._hub)

    def stop(self) -> None:
        """Do nothing: the one who runs the hub decides when it ends."""
