"""Call AWS in parallel, and retry what conflicts with other writers."""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Protocol, TypeVar

from stackroom.errors import RecordChanged, Unavailable, is_systemic

T = TypeVar("T")

# boto3's connection pool has ten connections; more threads would only wait for one.
_THREADS = 10


class RunParallel(Protocol):
    def __call__(self, actions: Sequence[Callable[[], T]]) -> list[T]:
        """
        Return each action's result, in their order. Raises the error of the first that failed.
        """


def run_in_threads(actions: Sequence[Callable[[], T]]) -> list[T]:
    if len(actions) < 2:
        return [action() for action in actions]
    with ThreadPoolExecutor(min(len(actions), _THREADS)) as threads:
        begun = [threads.submit(action) for action in actions]
        return [each.result() for each in begun]


def result_or_error(once: Callable[[], T]) -> T | Exception:
    """Return the result of `once`, or its error unless that is systemic; then raise it."""
    try:
        return once()
    except Exception as error:
        if is_systemic(error):
            raise
        return error


def chunks(items: Iterable[T], *, of: int) -> Iterator[list[T]]:
    """Yield lists of `of` items, the last one shorter."""
    remaining = iter(items)
    yield from iter(lambda: list(islice(remaining, of)), [])


# A longer wait is up to the workflow's retries.


def at_once(_attempt: int) -> None:
    """Retry without a pause."""


def random_pauses(first: float, longest: float) -> Callable[[int], None]:
    """
    Return pauses of random length, so that conflicting writers don't meet again.

    The first is at most `first` seconds, each further one twice as long, up to `longest`.
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
    Return the result of `once`, retried after errors of those types. Raises the error of the last
    attempt.

    `once` must read anew what it decides on. `pause` receives the number of attempts so far.
    """
    for attempt in range(tries - 1):
        try:
            return once()
        except after:
            pause(attempt)
    return once()
