"""
Passages that another model has embedded, embedded anew: no search compares vectors of two models.

What PutVectors wrote stays: its vectors are the caller's, and so is the model that made them.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bedrock_kb_simulator.embedder import Embedder, resized
from bedrock_kb_simulator.store import Store

STORE = "simulator.sqlite"  # in the folder of --data-dir
_AT_ONCE = 20  # passages; as many are embedded again after a kill
_OUTDATED = "FROM vectors WHERE model NOT IN ('', ?)"


def outdated(data_dir: Path, model: str) -> int:
    """How many there are, whether or not somebody is at work on them."""
    if not (data_dir / STORE).exists():
        return 0
    connection = sqlite3.connect(f"file:{data_dir / STORE}?mode=ro", uri=True)
    try:
        return int(connection.execute(f"SELECT count(*) {_OUTDATED}", [model]).fetchone()[0])
    finally:
        connection.close()


def re_embedded(store: Store, embedder: Embedder) -> Iterator[int]:
    """Embeds them, before anything is searched; tells how many more were written each time."""
    model = embedder.model
    while rows := store.rows(
        f"SELECT id, text, preamble, vector {_OUTDATED} LIMIT {_AT_ONCE}",
        model,
    ):
        vectors = [embedder.embed(row["preamble"] + row["text"]) for row in rows]
        with store.transaction():
            for row, vector in zip(rows, vectors, strict=True):
                width = np.frombuffer(row["vector"], np.float32).size
                store.write(
                    "UPDATE vectors SET vector = ?, model = ? WHERE id = ?",
                    resized(vector, width).tobytes(),
                    model,
                    row["id"],
                )
        yield len(rows)
