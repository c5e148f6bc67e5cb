"""
A cache of the vectors of questions, shared by all callers: a vector reveals nothing.

A cache hit would reveal that somebody has asked the same question, so `is_cached` is reported only
if the same caller asked it of this process before. The search states who is asking:

    with asked_by("alice") as asking:
        knowledge_base.retrieve("how many days of leave?", ...)  # calls embeddings.embed
    asking.is_cached  # None if nothing was embedded
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from cachetools import TTLCache

# A text's meaning as a vector, and the vectors of texts that were asked before.

Vector = tuple[float, ...]


class Embeddings(Protocol):
    """
    A client of one embedding model with one number of dimensions. Several threads may call it at
    once.
    """

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, text: str) -> Vector:
        """
        Return the vector of a text, of length one.

        Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable, or SearchRefused for an error
        that a retry would not fix.
        """


class EmbeddingCache(Protocol):
    """
    A store of vectors by key, each kept for a limited time. Several threads may call it at once.

    It never raises: a cache that is down returns nothing and stores nothing.
    """

    def get(self, key: str) -> Vector | None: ...

    def put(self, key: str, vector: Vector) -> None: ...


WEEK = 604_800  # seconds


class MemoryEmbeddingCache:
    """
    An `EmbeddingCache` in the memory of the process: the vectors used last, for at most a week.

    A vector of 1,024 dimensions takes 32 KB, so 256 of them take 8 MB.
    """

    def __init__(
        self,
        *,
        size: int = 256,
        seconds: float = WEEK,
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
    """Counts of cache hits and misses since they were last read."""

    def __init__(self) -> None:
        self._hits = self._misses = 0
        self._lock = Lock()

    def count(self, *, hit: bool) -> None:
        with self._lock:
            self._hits += hit
            self._misses += not hit

    def taken(self) -> tuple[int, int]:
        """Return hits and misses, and reset both to zero."""
        with self._lock:
            counted = self._hits, self._misses
            self._hits = self._misses = 0
        return counted


@dataclass
class TenantSearch:
    """One tenant's search, with, for each vector it used, whether the tenant had used it before."""

    tenant: str | None
    were_known: list[bool] = field(default_factory=list)

    @property
    def is_cached(self) -> bool | None:
        """True if every vector was cached and known to this tenant; None if there was none."""
        return all(self.were_known) if self.were_known and self.tenant is not None else None


_asking: ContextVar[TenantSearch | None] = ContextVar("_asking", default=None)


@contextmanager
def asked_by(tenant: str | None) -> Iterator[TenantSearch]:
    """Attribute the questions that this thread embeds within the context to a tenant."""
    asking = TenantSearch(tenant)
    token = _asking.set(asking)
    try:
        yield asking
    finally:
        _asking.reset(token)


_MOST_ASKED = 2_000  # vectors whose askers a process remembers


@dataclass(frozen=True, kw_only=True)
class CachedEmbeddings:
    """
    An `Embeddings` that embeds only what is not cached, and never the same text twice at once.
    """

    embeddings: Embeddings
    cache: EmbeddingCache
    tally: CacheTally = field(default_factory=CacheTally)
    # The tenants that this process has given a vector since it was made, by the vector's key.
    _askers: TTLCache[str, set[str]] = field(default_factory=lambda: TTLCache(_MOST_ASKED, WEEK))
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
        """
        Return the vector. Threads that ask for the same text at once share one call of the model.
        """
        key = self._key(text)
        kept = self.cache.get(key)
        if kept is not None and len(kept) == self.dimensions:
            self.tally.count(hit=True)
            self._note_asker(key)
            return kept
        with self._lock:
            making = self._making.get(key)
            mine = Future[Vector]()
            if making is None:
                self._making[key] = mine
        self.tally.count(hit=making is not None)
        vector = self._embedded(key, text, mine) if making is None else making.result()
        self._note_asker(key, is_new=True)
        return vector

    def _embedded(self, key: str, text: str, future: "Future[Vector]") -> Vector:
        try:
            vector = self.embeddings.embed(text)
            self.cache.put(key, vector)
            with self._lock:
                self._askers.pop(key, None)
            future.set_result(vector)
        except BaseException as error:
            future.set_exception(error)
            raise
        finally:
            del self._making[key]
        return vector

    def _note_asker(self, key: str, *, is_new: bool = False) -> None:
        asking = _asking.get()
        if asking is None or asking.tenant is None:
            return
        with self._lock:
            askers = self._askers.setdefault(key, set())
            asking.were_known.append(not is_new and asking.tenant in askers)
            askers.add(asking.tenant)

    def _key(self, text: str) -> str:
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        return f"embedding:{self.provider}:{self.model}:{self.dimensions}:{digest}"
