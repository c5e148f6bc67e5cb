"""
Comparing two listings of any length, each read once, in memory that only their differences need.

Both are listings of the same documents in orders of their own. One is put into the sketch, the
other taken out of it; what both have cancels out, and what is left is worked out from what is left:
an invertible Bloom lookup table, used for set reconciliation (Eppstein, Goodrich, Uyeda, Varghese:
"What's the Difference?", SIGCOMM 2011). Each id goes into three cells, each of which holds how many
ids there are and their sum; a cell with one id tells it, and with that taken away, others tell
theirs. Of many cells, all can be told up to 0.81 ids a cell (there, section 4).
"""

import base64
import hashlib
import struct
import uuid
import zlib
from array import array
from collections.abc import Iterable

_PARTS = 3  # cells of an id, each in a part of its own
_ID = 96  # bits, as in `doc-` and 24 hexadecimal digits
_CHECK = 32  # bits; tells one id from a sum of several
# Bytes of a cell's sum: of 2**23 ids, and its sign.
_SUM = (_ID + _CHECK + 24) // 8
# Differences that a bookmark has room for a sketch of: 400 KB are the most that an item may have
# [DynamoDB developer guide: Constraints].
CAPACITY = 4000


def random_salt() -> str:
    return uuid.uuid4().hex


class Sketch:
    """
    `capacity` differences can be told with near certainty. It covers the ids of one share `of` so
    many, all of them for one; `salt` makes it another draw: nobody chooses ids that get in the way.
    """

    def __init__(self, capacity: int, *, salt: str, share: int = 0, of: int = 1) -> None:
        self._size = max(16, capacity // 2)  # of a part: one and a half cells a difference
        self._salt, self._share, self._of = salt, share, of
        self._counts = array("i", bytes(4 * _PARTS * self._size))
        self._sums = [0] * (_PARTS * self._size)

    def put(self, document_id: str) -> None:
        self._add(_number(document_id), 1)

    def take(self, document_id: str) -> None:
        self._add(_number(document_id), -1)

    def differences(self) -> set[str] | None:
        """
        The ids that only one side has; one that changed while they were read may be among them.

        None if there are more than it can tell. Call it once: nothing is left of it then.
        """
        found: set[str] = set()
        waiting = list(range(len(self._sums)))
        while waiting:
            at = waiting.pop()
            number = self._alone(at)
            if number is None:
                continue
            found.add(f"doc-{number:024x}")
            waiting += self._add(number, -self._counts[at])
        return None if any(self._counts) or any(self._sums) else found

    def packed(self) -> str:
        """For one with the same arguments; some hundred kilobytes, of letters and signs."""
        sums = b"".join(each.to_bytes(_SUM, "little", signed=True) for each in self._sums)
        return base64.b85encode(zlib.compress(self._counts.tobytes() + sums)).decode()

    def unpack(self, packed: str) -> None:
        cells = zlib.decompress(base64.b85decode(packed))
        counts = self._counts.itemsize * len(self._sums)
        self._counts = array("i", cells[:counts])
        self._sums = [
            int.from_bytes(cells[at : at + _SUM], "little", signed=True)
            for at in range(counts, len(cells), _SUM)
        ]

    def _add(self, number: int, times: int) -> Iterable[int]:
        """The cells that changed; none if the number is of another share."""
        cells, check, share = self._places(number)
        if share != self._share:
            return ()
        value = times * (check << _ID | number)
        for at in cells:
            self._counts[at] += times
            self._sums[at] += value
        return cells

    def _alone(self, at: int) -> int | None:
        """The only number in a cell, however often it was put there."""
        count = self._counts[at]
        if not count or self._sums[at] % count:
            return None
        value = self._sums[at] // count
        number = value & (1 << _ID) - 1
        cells, check, share = self._places(number)
        is_its = at in cells and value >> _ID == check and share == self._share
        return number if is_its else None

    def _places(self, number: int) -> tuple[tuple[int, int, int], int, int]:
        """Its cells, its check, and the share it is of."""
        digest = hashlib.blake2b(
            number.to_bytes(_ID // 8, "big"), digest_size=20, key=self._salt.encode()
        ).digest()
        first, second, third, check, share = struct.unpack("<5I", digest)
        size = self._size
        cells = (first % size, size + second % size, 2 * size + third % size)
        return cells, check, share % self._of


def _number(document_id: str) -> int:
    return int(document_id.removeprefix("doc-"), 16)
