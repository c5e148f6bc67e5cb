"""
Questions' vectors kept for when they are asked again, by whomever: a vector tells nobody anything.

Whether one was kept is not shown to callers, since it would tell what others have asked.
"""

import hashlib
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock

from cachetools import TTLCache

from stackroom.ports.embeddings import EmbeddingCache, Embeddings, Vector

_WEEK = 604_800.0  # seconds


class MemoryEmbeddingCache:
    """
    An `EmbeddingCache` in the process: the vectors used last, for a week at most.

    A vector of 1,024 dimensions takes 32 KB, so 256 of them take 8 MB.
    """

    def __init__(
        self,
        *,
        size: int = 256,
        seconds: float = _WEEK,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kept: TTLCache[str, Vector] = TTLCache(size, seconds, timer=now)
        self._lock = Lock()

    def get(self, key: str) -> Vector | None:
        with self._lock:
            return self._kept.get(key)

    def put(self, key: str, vector: Vector) -> None:
        with self._lock:
            self._kept[key] = vector


class CacheTally:
    """How often a vector was there, and how often it had to be made, since it was last read."""

    def __init__(self) -> None:
        self._hits = self._misses = 0
        self._lock = Lock()

    def count(self, *, hit: bool) -> None:
        with self._lock:
            self._hits += hit
            self._misses += not hit

    def taken(self) -> tuple[int, int]:
        """Hits and misses; they are counted from nought again."""
        with self._lock:
            counted = self._hits, self._misses
            self._hits = self._misses = 0
        return counted


@dataclass(frozen=True, kw_only=True)
class CachedEmbeddings:
    """An `Embeddings` that asks another only for what it doesn't have, and once at a time."""

    embeddings: Embeddings
    cache: EmbeddingCache
    tally: CacheTally = field(default_factory=CacheTally)
    _making: dict[str, "Future[Vector]"] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def provider(self) -> str:
        return self.embeddings.provider

    @property
    def model(self) -> str:
        return self.embeddings.model

    @property
    def dimensions(self) -> int:
        return self.embeddings.dimensions

    def embed(self, text: str) -> Vector:
        """A question is put to several knowledge bases at once: all get what the first is told."""
        key = self._key(text)
        vector = self.cache.get(key)
        if vector is not None:
            self.tally.count(hit=True)
            return vector
        with self._lock:
            making = self._making.get(key)
            mine = Future[Vector]()
            if making is None:
                self._making[key] = mine
        self.tally.count(hit=making is not None)
        return self._made(key, text, mine) if making is None else making.result()

    def _made(self, key: str, text: str, told: "Future[Vector]") -> Vector:
        try:
            vector = self.embeddings.embed(text)
            self.cache.put(key, vector)
            told.set_result(vector)
        except BaseException as error:
            told.set_exception(error)
            raise
        finally:
            del self._making[key]
        return vector

    def _key(self, text: str) -> str:
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        return f"embedding:{self.provider}:{self.model}:{self.dimensions}:{digest}"
