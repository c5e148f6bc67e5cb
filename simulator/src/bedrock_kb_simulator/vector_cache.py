"""A cache of vectors in a file, by model and text."""

import hashlib
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bedrock_kb_simulator.embedder import Embedder, Vector, load


class VectorCache:
    """
    An embedder that caches vectors in an SQLite file.

    Several processes may share the file. If it is lost, everything is embedded again.
    """

    def __init__(self, embedder: Embedder, file: Path) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(
            file, timeout=60, isolation_level=None, check_same_thread=False
        )
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
            " WITHOUT ROWID"
        )

    def warm(self) -> None:
        load(self._embedder)

    @property
    def model(self) -> str:
        return self._embedder.model

    def embed(self, text: str) -> Vector:
        return self._cached("passage", text, self._embedder.embed)

    def embed_question(self, text: str) -> Vector:
        return self._cached("question", text, self._embedder.embed_question)

    def put(self, kind: str, text: str, vector: Vector) -> None:
        """Add a vector; `kind` is `passage` or `question`."""
        row = (self._key(kind, text), vector.astype("<f4").tobytes())
        with self._lock:
            self._file.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", row)

    def _cached(self, kind: str, text: str, embed: Callable[[str], Vector]) -> Vector:
        query = "SELECT vector FROM vectors WHERE key = ?"
        with self._lock:
            found = self._file.execute(query, (self._key(kind, text),)).fetchone()
        if found is not None:
            return np.frombuffer(found[0], "<f4").astype(np.float32)
        vector = embed(text)
        self.put(kind, text, vector)
        return vector

    def _key(self, kind: str, text: str) -> bytes:
        return hashlib.sha256(f"{self.model}\0{kind}\0{text}".encode()).digest()
