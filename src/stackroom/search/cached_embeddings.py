"""
Questions' vectors kept for when they are asked again, by whomever: a vector tells nobody anything.

Whether one was kept would tell what others have asked, so a caller is told only of a vector that
was made, or taken, for this same caller before. Whose question is being embedded, the search says:

    with asked_by("alice") as told:
        knowledge_base.retrieve("how many days of leave?", ...)  # some way down: embeddings.embed
    told.is_cached  # None if nothing was embedded
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Protocol

from cachetools import TTLCache

# What a text means, as a vector, and the vectors of texts that were asked before.

Vector = tuple[float, ...]


class Embeddings(Protocol):
    """
    One model of one provider, at one number of dimensions. It must be safe to call from several
    threads at once.
    """

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, text: str) -> Vector:
        """
        The text's vector, of length one.

        Raises KnowledgeBaseThrottled, KnowledgeBaseUnavailable, or SearchRefused for what asking
        again won't mend.
        """


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A vector; `is_known_to_asker` if whoever asks was given this very one before."""

    vector: Vector
    is_known_to_asker: bool = False


class EmbeddingCache(Protocol):
    """
    Vectors by key, each kept for a while. It must be safe to call from several threads at once.

    It never raises: a cache that is down has nothing, and keeps nothing. Both methods note that the
    asker was given the vector; `asker` is a hash that tells nobody's name, and None is nobody.
    """

    def get(self, key: str, asker: str | None = None) -> Kept | None: ...

    def put(self, key: str, vector: Vector, asker: str | None = None) -> None: ...


WEEK = 604_800  # seconds


class MemoryEmbeddingCache:
    """
    An `EmbeddingCache` in the process: the vectors used last, for a week at most.

    A vector of 1,024 dimensions takes 32 KB, so 256 of them take 8 MB.
    """

    def __init__(
        self,
        *,
        size: int = 256,
        seconds: float = WEEK,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        # Each vector has a number, and of each asker the number of the vector is kept that was
        # given: one that was made anew meanwhile, for somebody else, is another.
        self._kept: TTLCache[str, tuple[int, Vector]] = TTLCache(size, seconds, timer=now)
        self._askers: TTLCache[str, int] = TTLCache(8 * size, seconds, timer=now)
        self._numbers = count()
        self._lock = Lock()

    def get(self, key: str, asker: str | None = None) -> Kept | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            number, vector = found
            if asker is None:
                return Kept(vector=vector)
            is_known = self._askers.get(asker) == number
            self._askers[asker] = number
        return Kept(vector=vector, is_known_to_asker=is_known)

    def put(self, key: str, vector: Vector, asker: str | None = None) -> None:
        with self._lock:
            number = next(self._numbers)
            self._kept[key] = number, vector
            if asker is not None:
                self._askers[asker] = number


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


@dataclass
class CacheDisclosure:
    """What may be said to a tenant of the vectors that were asked for; nobody is told nothing."""

    tenant: str | None
    were_known: list[bool] = field(default_factory=list)

    @property
    def is_cached(self) -> bool | None:
        """Whether all of them had been there, and this tenant's before."""
        return all(self.were_known) if self.were_known else None

    def asker(self, key: str) -> str | None:
        if self.tenant is None:
            return None
        return hashlib.sha256(json.dumps([self.tenant, key]).encode()).hexdigest()

    def tell(self, *, is_known: bool) -> None:
        if self.tenant is not None:
            self.were_known.append(is_known)


_told: ContextVar[CacheDisclosure | None] = ContextVar("_told", default=None)


@contextmanager
def asked_by(tenant: str | None) -> Iterator[CacheDisclosure]:
    """Within, and in this thread, `CachedEmbeddings` embed what this tenant asks."""
    told = CacheDisclosure(tenant)
    token = _told.set(told)
    try:
        yield told
    finally:
        _told.reset(token)


def who_asks() -> str | None:
    """The tenant of the innermost `asked_by` of this thread; None where nobody says."""
    told = _told.get()
    return told.tenant if told is not None else None


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
        told = _told.get() or CacheDisclosure(None)
        asker = told.asker(key)
        kept = self.cache.get(key, asker)
        if kept is not None and len(kept.vector) == self.dimensions:
            self.tally.count(hit=True)
            told.tell(is_known=kept.is_known_to_asker)
            return kept.vector
        with self._lock:
            making = self._making.get(key)
            mine = Future[Vector]()
            if making is None:
                self._making[key] = mine
        self.tally.count(hit=making is not None)
        vector = self._made(key, text, asker, mine) if making is None else making.result()
        told.tell(is_known=False)
        return vector

    def _made(self, key: str, text: str, asker: str | None, told: "Future[Vector]") -> Vector:
        try:
            vector = self.embeddings.embed(text)
            self.cache.put(key, vector, asker)
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
