"""
Comparing two listings that come in different orders, whatever their length, in bounded memory.

One listing is put into a window, which keeps as many as fit: the lowest ids above where the last
window ended. The other is then read against it. Ids are hashes, so that each window is as full as
can be, and the whole takes (length / capacity) readings of both.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class Window(Generic[T]):
    """Of the ids above `low`, those up to `high`; None if all of them fit."""

    capacity: int
    low: str = ""
    high: str | None = None
    _held: dict[str, T] = field(default_factory=dict)

    def put(self, name: str, value: T) -> None:
        if not self.covers(name):
            return
        self._held[name] = value
        if len(self._held) > self.capacity:
            self._shrink()

    def covers(self, name: str) -> bool:
        return name > self.low and (self.high is None or name <= self.high)

    def get(self, name: str) -> T | None:
        return self._held.get(name)

    def pop(self, name: str) -> T | None:
        return self._held.pop(name, None)

    def items(self) -> Iterator[tuple[str, T]]:
        return iter(self._held.items())

    def values(self) -> Iterator[T]:
        return iter(self._held.values())

    def _shrink(self) -> None:
        """To three quarters, so that sorting stays rare."""
        kept = sorted(self._held)[: max(1, self.capacity * 3 // 4)]
        self.high = kept[-1]
        self._held = {name: self._held[name] for name in kept}
