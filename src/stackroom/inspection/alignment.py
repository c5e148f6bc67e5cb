"""
Where in a document's text a passage stands that another program took from the same file.

Two programs never extract quite the same text: one loses a line that the other has, puts a header
elsewhere, reads a table by columns. What they have in common is looked up piece by piece, and the
longest chain of pieces that stand in the same order in both decides. All text here is normalised:
letters and digits alone.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

# Stretches of a text, in order: from where to where each goes.

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


# Of the index. As long as two programs agree for twice as many letters somewhere, they meet.
_GRAM = 12
_MAX_GRAMS = 250_000  # eight bytes each; a longer text has them at longer distances
_MAX_SAME = 8  # a gram that stands more often tells nothing of where the passage is
_PLACES = 48  # letters from one place of the passage that is looked up to the next
_NEAR = 512  # letters: two lookups that differ by less are of the same region
_REGIONS = 4  # looked at closely, those with the most lookups first
_LEAST_VOTES = 0.5  # of the lookups that the first of them has
# Of the chain.
_PROBE = 20
_STEP = 8
_SLACK = 1_500  # letters before and after: about half a page that only one of the two has
_LEAST = 40  # letters that must stand in a chain, and which share of the passage
_LEAST_SHARE = 0.2
_LOOSE = 60  # letters between two pieces of a chain that may be in one text alone
_STRAY = 2 * _PROBE  # a part of the chain with fewer letters may stand there by chance


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """
    `stretches` are the parts of the text that the passage shares, in order, none of them empty.

    `before` and `after` are the letters at the passage's ends that the text doesn't have there.
    """

    stretches: tuple[Stretch, ...]
    letters: int  # of the passage that were found there
    before: int = 0
    after: int = 0
    is_whole: bool = False  # it stands there letter by letter


@dataclass(frozen=True)
class Alignable:
    """A document's text, with an index of it that is made when it is first needed."""

    text: str

    def alignments(self, passage: str) -> list[Alignment]:
        """
        The best one, and all that are as good: more than one means that it can't be told.

        None at all if no part of the text has enough in common with the passage.
        """
        found = [self._aligned(passage, region) for region in self._regions(passage)]
        least = max(_LEAST, _LEAST_SHARE * len(passage))
        good = [each for each in found if each is not None and each.letters >= least]
        best = max((each.letters for each in good), default=0)
        return [each for each in good if each.letters > best - _PROBE]

    def _regions(self, passage: str) -> list[int]:
        """Where the passage would begin, roughly, by most of its letters."""
        votes: Counter[int] = Counter()
        for place in range(0, len(passage), max(_PLACES, self._distance)):
            votes.update({(at - start) // _NEAR for start, at in self._seen(passage, place)})
        # A region may lie across a border: both sides together are one.
        together = {near: count + votes[near + 1] for near, count in votes.items()}
        least = max(together.values(), default=0) * _LEAST_VOTES
        chosen: list[int] = []
        for near in sorted(together, key=lambda each: (-together[each], each)):
            if together[near] < least or len(chosen) == _REGIONS:
                break
            if all(abs(near - other) * _NEAR > _SLACK for other in chosen):
                chosen.append(near)
        return [near * _NEAR for near in chosen]

    def _seen(self, passage: str, place: int) -> Iterator[tuple[int, int]]:
        """Of one place of the passage: where in it a gram begins, and where in the text."""
        last = len(passage) - _GRAM
        for start in range(place, min(place + self._distance, last + 1)):
            gram = passage[start : start + _GRAM]
            for at in self._positions(gram):
                if self.text.startswith(gram, at):
                    yield start, at

    def _aligned(self, passage: str, region: int) -> Alignment | None:
        low = max(0, region - _SLACK)
        within = self.text[low : region + _NEAR + len(passage) + _SLACK]
        chain = _longest_chain(_hits(passage, within))
        parts = _parts(chain)
        if not parts:
            return None
        first, last = parts[0][0], parts[-1][-1]
        before = _shared(passage[: first[0]][::-1], within[: first[1]][::-1])
        after = _shared(passage[last[0] + _PROBE :], within[last[1] + _PROBE :])
        stretches = [[low + part[0][1], low + part[-1][1] + _PROBE] for part in parts]
        stretches[0][0] -= before
        stretches[-1][1] += after
        return Alignment(
            stretches=tuple((begin, end) for begin, end in stretches),
            letters=before + sum(map(_letters, parts)) + after,
            before=first[0] - before,
            after=len(passage) - last[0] - _PROBE - after,
        )

    @property
    def _distance(self) -> int:
        """From one gram of the index to the next."""
        return max(_GRAM, len(self.text) // _MAX_GRAMS + 1)

    @cached_property
    def _grams(self) -> "array[int]":
        """Half a hash and a position in one number each; a dictionary would take ten times more."""
        text = self.text
        starts = range(0, len(text) - _GRAM + 1, self._distance)
        return array("Q", sorted(_half_hash(text[at : at + _GRAM]) | at for at in starts))

    def _positions(self, gram: str) -> Sequence[int]:
        key = _half_hash(gram)
        first = bisect_left(self._grams, key)
        found = self._grams[first : first + _MAX_SAME + 1]
        positions = [each - key for each in found if each >> 32 == key >> 32]
        return positions if len(positions) <= _MAX_SAME else ()


def _half_hash(gram: str) -> int:
    return (hash(gram) & 0xFFFF_FFFF) << 32


Hit = tuple[int, int]  # where a piece begins in the passage, and where in the text


def _hits(passage: str, within: str) -> list[Hit]:
    """The pieces of the passage that stand there once."""
    hits: list[Hit] = []
    for start in range(0, len(passage) - _PROBE + 1, _STEP):
        piece = passage[start : start + _PROBE]
        at = within.find(piece)
        if at >= 0 and within.find(piece, at + 1) < 0:
            hits.append((start, at))
    return hits


def _longest_chain(hits: list[Hit]) -> list[Hit]:
    """The most of them that are in the same order in both texts."""
    ends: list[int] = []  # by length: the smallest position that a chain of that length ends with
    last: list[int] = []  # which hit that is
    previous: list[int] = []
    for number, (_, at) in enumerate(hits):
        length = bisect_left(ends, at)
        previous.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [at]
        last[length : length + 1] = [number]
    chain: list[Hit] = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(hits[number])
        number = previous[number]
    return chain[::-1]


def _parts(chain: list[Hit]) -> list[list[Hit]]:
    """The chain, cut where the text has much that the passage has not; without stray parts."""
    parts: list[list[Hit]] = []
    for hit in chain:
        if parts:
            start, at = parts[-1][-1]
            if hit[1] - at <= 2 * (hit[0] - start) + _LOOSE:
                parts[-1].append(hit)
                continue
        parts.append([hit])
    long = [part for part in parts if part[-1][1] - part[0][1] + _PROBE > _STRAY]
    return long or parts[:1]


def _letters(part: list[Hit]) -> int:
    return _PROBE + sum(min(_PROBE, two[0] - one[0]) for one, two in pairwise(part))


def _shared(one: str, other: str) -> int:
    """How many letters they begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
