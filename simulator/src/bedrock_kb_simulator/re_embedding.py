"""
Embedding again after a change of model, so that no search compares vectors of two models.

Vectors of PutVectors stay as they are: they are the caller's.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bedrock_kb_simulator.embedder import Embedder, resize
from bedrock_kb_simulator.store import Store

STORE = "simulator.sqlite"  # in the folder of --data-dir
_BATCH = 20  # passages in a transaction
_OUTDATED = "FROM vectors WHERE model NOT IN ('', ?)"


def count_outdated(data_dir: Path, model: str) -> int:
    """Return the number of passages of another model."""
    if not (data_dir / STORE).exists():
        return 0
    connection = sqlite3.connect(f"file:{data_dir / STORE}?mode=ro", uri=True)
    try:
        return int(connection.execute(f"SELECT count(*) {_OUTDATED}", [model]).fetchone()[0])
    finally:
        connection.close()


def re_embed(store: Store, embedder: Embedder) -> Iterator[int]:
    """Embed passages of another model again; yield the number after each batch."""
    model = embedder.model
    while rows := store.rows(
        f"SELECT id, text, preamble, vector {_OUTDATED} LIMIT {_BATCH}",
        model,
    ):
        vectors = [embedder.embed(row["preamble"] + row["text"]) for row in rows]
        with store.transaction():
            for row, vector in zip(rows, vectors, strict=True):
                width = np.frombuffer(row["vector"], np.float32).size
                store.write(
                    "UPDATE vectors SET vector = ?, model = ? WHERE id = ?",
                    resize(vector, width).tobytes(),
                    model,
                    row["id"],
                )
        yield len(rows)
