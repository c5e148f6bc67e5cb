"""Several calls of AWS at the same time, where none needs the other's answer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Protocol, TypeVar

T = TypeVar("T")

# boto3's connection pool has ten connections; more threads would only wait for one.
_THREADS = 10


class Beside(Protocol):
    def __call__(self, actions: Sequence[Callable[[], T]]) -> list[T]:
        """What each answers, in their order. Raises what the first of them raised."""


def in_threads(actions: Sequence[Callable[[], T]]) -> list[T]:
    if len(actions) < 2:
        return [action() for action in actions]
    with ThreadPoolExecutor(min(len(actions), _THREADS)) as threads:
        begun = [threads.submit(action) for action in actions]
        return [each.result() for each in begun]


def chunks(items: Iterable[T], *, of: int) -> Iterator[list[T]]:
    """So many at a time, and the rest."""
    remaining = iter(items)
    yield from iter(lambda: list(islice(remaining, of)), [])
