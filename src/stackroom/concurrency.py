"""Several calls of AWS at the same time, and trying again what others got in the way of."""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Protocol, TypeVar

from stackroom.errors import RecordChanged, Unavailable

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


# What lasts longer is the workflow's to try again.


def at_once(_attempt: int) -> None:
    """No pause."""


def random_pauses(first: float, longest: float) -> Callable[[int], None]:
    """
    A pause of a random length, so that those who met once don't meet again.

    At most `first` seconds after the first attempt, twice as long after each further one.
    """

    def pause(attempt: int) -> None:
        time.sleep(random.uniform(0, min(first * 2**attempt, longest)))  # noqa: S311 - not security

    return pause


# About two seconds in all, among those who write one item at the same moment.
among_writers = random_pauses(0.02, 0.4)


def retried(
    once: Callable[[], T],
    *,
    tries: int,
    pause: Callable[[int], None] = at_once,
    after: type[Unavailable] | tuple[type[Unavailable], ...] = RecordChanged,
) -> T:
    """
    What `once` answers, tried again after errors of those kinds; the last try's error is raised.

    `once` must read anew what it decides on. `pause` is told how many attempts were before.
    """
    for attempt in range(tries - 1):
        try:
            return once()
        except after:
            pause(attempt)
    return once()
