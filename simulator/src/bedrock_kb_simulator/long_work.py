"""Long work, which is bounded and may end early: thousands of passages take a laptop minutes."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from bedrock_kb_simulator.chunk_strategies import Chunk
from bedrock_kb_simulator.clock import Signal
from bedrock_kb_simulator.errors import Stopped, Unindexable
from bedrock_kb_simulator.rules import DOCUMENT_WORK, FILE_UNREADABLE

T = TypeVar("T")

_LOOK = 50  # passages between two looks into the bucket
_CHARACTERS = 2000  # of a passage; a longer one takes the time of several


def bounded(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """As long as they are few enough; raises Unindexable at the first that is too many."""
    work = 0
    for each in chunks:
        work += 1 + len(each.text) // _CHARACTERS
        if work > DOCUMENT_WORK.limit:
            raise Unindexable(DOCUMENT_WORK.message)
        yield each


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
