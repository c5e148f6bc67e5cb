"""Stretches of a text, in order: from where to where each goes."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

Stretch = tuple[int, int]  # where it begins and ends


class Stretches:
    """Made of their beginnings and ends in turn; none overlaps another."""

    def __init__(self, bounds: Sequence[int]) -> None:
        self._begins = array("L", bounds[::2])
        self._ends = array("L", bounds[1::2])
        lengths = (end - begin for begin, end in zip(self._begins, self._ends, strict=True))
        self._before = array("L", accumulate(lengths, initial=0))

    def letters_in(self, begin: int, end: int) -> int:
        """How much of what is from one position to the other lies in any of them."""
        return self._letters_up_to(end) - self._letters_up_to(begin) if begin < end else 0

    def between(self, begin: int, end: int) -> Iterator[Stretch]:
        """Those that have at least a letter there, whole."""
        first = bisect_right(self._ends, begin)
        for number in range(first, bisect_left(self._begins, end)):
            yield self._begins[number], self._ends[number]

    def _letters_up_to(self, position: int) -> int:
        number = bisect_right(self._begins, position) - 1
        if number < 0:
            return 0
        within = min(position, self._ends[number]) - self._begins[number]
        return self._before[number] + within
