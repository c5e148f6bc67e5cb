"""The indexes that are searched, each in memory once somebody searches it."""

import numpy as np

from bedrock_kb_simulator.memory_index import Entry, MemoryIndex, Owner
from bedrock_kb_simulator.store import Row, Store, loaded


class MemoryIndexes:
    """By index ARN. A search fills one from the store; whoever writes tells it what changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._indexes: dict[str, MemoryIndex] = {}
        # What they were told of may not be in the store, and its row be another's next time.
        store.when_not_kept = self._indexes.clear

    def loaded(self, index_arn: str) -> MemoryIndex | None:
        """None before the first search: then there is nothing to keep in step."""
        return self._indexes.get(index_arn)

    def of(self, index_arn: str) -> MemoryIndex:
        index = self._indexes.get(index_arn)
        if index is not None:
            return index
        with self._store.transaction():  # nothing is written while the index is filled
            if index_arn not in self._indexes:
                self._indexes[index_arn] = self._filled(index_arn)
            return self._indexes[index_arn]

    def forget(self, index_arn: str) -> None:
        self._indexes.pop(index_arn, None)

    def _filled(self, index_arn: str) -> MemoryIndex:
        index = MemoryIndex()
        rows = self._store.rows("SELECT * FROM vectors WHERE index_arn = ? ORDER BY id", index_arn)
        index.add(entry_of(row) for row in rows)
        for row in rows:  # the latest of a document is its last
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
