"""Long work that may end early: a million rows are embedded for an hour on a laptop."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from stackroom_local.simulator.clock import Signal
from stackroom_local.simulator.errors import Stopped, Unindexable
from stackroom_local.simulator.rules import FILE_UNREADABLE

T = TypeVar("T")

_LOOK = 50  # passages between two looks into the bucket


def while_wanted(
    passages: Iterable[T], *, is_there: Callable[[], bool], stop: Signal
) -> Iterator[T]:
    """
    The passages of a document, until it is stopped or its object goes: rule document.object-gone.

    Raises Stopped or Unindexable.
    """
    for number, each in enumerate(passages):
        if stop.is_set():
            raise Stopped
        if number and number % _LOOK == 0 and not is_there():
            raise Unindexable(FILE_UNREADABLE.message)
        yield each
