"""Vector indexes in memory, each loaded by its first search."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bedrock_kb_simulator.bucket_objects import Value
from bedrock_kb_simulator.embedder import WIDTH, Vector
from bedrock_kb_simulator.store import Row, Store, loaded

# Data source id and document identifier; for a vector of PutVectors an empty string and its key.
Owner = tuple[str, str]
Accepts = Callable[[Owner, dict[str, Value]], bool]

_FIRST_CAPACITY = 256


@dataclass(frozen=True, kw_only=True)
class Entry:
    """
    A stored vector of any length, without trailing zeros.

    Times are epoch seconds; `visible_until` is infinite while it is current.
    """

    row: int
    owner: Owner
    vector: Vector
    visible_from: float
    visible_until: float = float("inf")


@dataclass(frozen=True, kw_only=True)
class Visible:
    """The rows visible to a search, with their vectors' lengths and cosines with the query."""

    rows: NDArray[np.int64]
    lengths: NDArray[np.float32]
    cosines: NDArray[np.float32]


class MemoryIndex:
    """An exact search over a matrix, filtered by document; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._size = 0
        self._matrix: NDArray[np.float32] = np.zeros((_FIRST_CAPACITY, WIDTH), dtype=np.float32)
        self._rows: NDArray[np.int64] = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        self._owners: NDArray[np.int64] = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        self._from: NDArray[np.float64] = np.zeros(_FIRST_CAPACITY)
        self._until: NDArray[np.float64] = np.zeros(_FIRST_CAPACITY)
        self._lengths: NDArray[np.float32] = np.zeros(_FIRST_CAPACITY, dtype=np.float32)
        self._numbers: dict[Owner, int] = {}
        self._attributes: list[dict[str, Value]] = []

    def describe(self, owner: Owner, attributes: dict[str, Value]) -> None:
        """Set the attributes that filters see for all of a document's vectors."""
        with self._lock:
            self._attributes[self._number(owner)] = attributes

    def add(self, entries: Iterable[Entry]) -> None:
        with self._lock:
            for entry in entries:
                self._append(entry)

    def expire(self, owner: Owner, until: float) -> None:
        """Make a document's current vectors visible only until then."""
        with self._lock:
            mine = self._owners[: self._size] == self._number(owner)
            current = mine & np.isinf(self._until[: self._size])
            self._until[: self._size][current] = until

    def expire_row(self, row: int) -> None:
        """Make one vector invisible."""
        with self._lock:
            self._until[: self._size][self._rows[: self._size] == row] = 0

    def nearest(self, query: Vector, limit: int, accepts: Accepts) -> list[tuple[int, float]]:
        """Return row ids and cosines of the nearest accepted vectors, nearest first."""
        found = self.visible(query, accepts)
        best = np.lexsort((found.rows, -found.cosines))[:limit]
        return [(int(found.rows[at]), float(found.cosines[at])) for at in best]

    def visible(self, query: Vector | None, accepts: Accepts | None) -> Visible:
        """Return accepted vectors; `query` has length one, and without it cosines are 0."""
        with self._lock:
            self._compact()
            size, now = self._size, time.time()
            chosen = (self._from[:size] <= now) & (now < self._until[:size])
            if accepts is not None and size:
                numbered = self._numbers.items()
                accepted = [accepts(owner, self._attributes[at]) for owner, at in numbered]
                chosen &= np.array(accepted)[self._owners[:size]]
            candidates = np.flatnonzero(chosen)
            cosines = np.zeros(len(candidates), dtype=np.float32)
            if query is not None:
                cosines = self._cosines(candidates, query)
            return Visible(
                rows=self._rows[candidates], lengths=self._lengths[candidates], cosines=cosines
            )

    def _cosines(self, candidates: NDArray[np.int64], query: Vector) -> NDArray[np.float32]:
        width = self._matrix.shape[1]
        padded = np.pad(query, (0, max(0, width - len(query))))[:width]
        if len(candidates) * 4 > self._size:  # copying so many rows costs more than all products
            everything: NDArray[np.float32] = self._matrix[: self._size] @ padded
            return everything[candidates]
        some: NDArray[np.float32] = self._matrix[candidates] @ padded
        return some

    def _number(self, owner: Owner) -> int:
        number = self._numbers.setdefault(owner, len(self._numbers))
        if number == len(self._attributes):
            self._attributes.append({})
        return number

    def _append(self, entry: Entry) -> None:
        if self._size == len(self._rows):
            self._resize(self._size * 2)
        if len(entry.vector) > self._matrix.shape[1]:
            wider = len(entry.vector) - self._matrix.shape[1]
            self._matrix = np.pad(self._matrix, ((0, 0), (0, wider)))
        at, self._size = self._size, self._size + 1
        length = np.float32(np.linalg.norm(entry.vector))
        self._matrix[at] = 0
        self._matrix[at, : len(entry.vector)] = entry.vector / (length or 1)
        self._lengths[at] = length
        self._rows[at] = entry.row
        self._owners[at] = self._number(entry.owner)
        self._from[at], self._until[at] = entry.visible_from, entry.visible_until

    def _compact(self) -> None:
        """Drop expired vectors once they are more than half."""
        gone = self._until[: self._size] <= time.time()
        if gone.sum() * 2 <= self._size:
            return
        kept = np.flatnonzero(~gone)
        columns = (self._rows, self._owners, self._from, self._until, self._lengths)
        for column in (self._matrix, *columns):
            column[: len(kept)] = column[kept]
        self._size = len(kept)

    def _resize(self, capacity: int) -> None:
        self._matrix = np.resize(self._matrix, (capacity, self._matrix.shape[1]))
        self._rows = np.resize(self._rows, capacity)
        self._owners = np.resize(self._owners, capacity)
        self._from = np.resize(self._from, capacity)
        self._until = np.resize(self._until, capacity)
        self._lengths = np.resize(self._lengths, capacity)


class MemoryIndexes:
    """Memory indexes by ARN; a search loads one from the store, and writers keep it current."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._indexes: dict[str, MemoryIndex] = {}
        # Their rows may not be in the store, and another vector may get the row ids.
        store.when_not_kept = self._indexes.clear

    def loaded(self, index_arn: str) -> MemoryIndex | None:
        """Return an index if a search has loaded it, else None."""
        return self._indexes.get(index_arn)

    def of(self, index_arn: str) -> MemoryIndex:
        index = self._indexes.get(index_arn)
        if index is not None:
            return index
        with self._store.transaction():  # nothing is written while the index is filled
            if index_arn not in self._indexes:
                self._indexes[index_arn] = self._load(index_arn)
            return self._indexes[index_arn]

    def forget(self, index_arn: str) -> None:
        self._indexes.pop(index_arn, None)

    def _load(self, index_arn: str) -> MemoryIndex:
        index = MemoryIndex()
        rows = self._store.rows("SELECT * FROM vectors WHERE index_arn = ? ORDER BY id", index_arn)
        index.add(entry_of(row) for row in rows)
        for row in rows:  # the last row of a document is its latest
            index.describe(owner_of(row), loaded(row["attributes"]))
        return index


def owner_of(row: Row) -> Owner:
    return (row["data_source_id"], row["identifier"])


def entry_of(row: Row) -> Entry:
    until = row["visible_until"]
    return Entry(
        row=row["id"],
        owner=owner_of(row),
        vector=np.frombuffer(row["vector"], dtype=np.float32),
        visible_from=row["visible_from"],
        visible_until=float("inf") if until is None else until,
    )
