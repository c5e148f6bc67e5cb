"""Trying again at once what others got in the way of; what lasts longer is the workflow's."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from stackroom.errors import RecordChanged, Unavailable

_Answer = TypeVar("_Answer")


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
    once: Callable[[], _Answer],
    *,
    tries: int,
    pause: Callable[[int], None] = at_once,
    after: type[Unavailable] | tuple[type[Unavailable], ...] = RecordChanged,
) -> _Answer:
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
