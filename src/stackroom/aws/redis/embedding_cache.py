"""
Cache questions' vectors in Valkey or Redis for a week, shared by all processes.

    embedding:{provider}:{model}:{dimensions}:{sha256(text)}     {"embedding": [...]}
"""

import json
import logging
import math
import time
from collections.abc import Callable
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from stackroom.search.cached_embeddings import WEEK, Vector

logger = logging.getLogger(__name__)

LONGEST = 0.05  # seconds that a question waits for Redis
_REST = 1.0  # seconds without a try after one that failed
_LENGTH = 0.01  # that a vector's may differ from 1


class RedisEmbeddingCache:
    """
    An `EmbeddingCache` over Redis, which a question waits for at most 50 ms: half of it to connect,
    half for an answer. The look-up of its name, and an answer that comes in drips, have no limit.

    A Redis that is down, or slow, or answers with an error or nonsense, counts as empty. After it
    failed to answer in time it is left alone for a second.
    """

    def __init__(
        self, url: str, *, longest: float = LONGEST, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._client: Any = redis.Redis.from_url(
            url,
            socket_timeout=longest / 2,
            socket_connect_timeout=longest / 2,
            # A connection that was closed is made anew, once; what takes too long already has.
            retry=Retry(NoBackoff(), 1, (redis.ConnectionError,)),
            protocol=2,  # which needs no greeting, and neither does
            driver_info=None,  # who we are
        )
        self._now = now
        self._resting_until = -math.inf
        self._has_failed = False  # since it last answered

    def get(self, key: str) -> Vector | None:
        return _read(self._answer(lambda: self._client.get(key)))

    def put(self, key: str, vector: Vector) -> None:
        value = json.dumps({"embedding": vector})
        self._answer(lambda: self._client.execute_command("SETEX", key, WEEK, value))

    def _answer(self, command: Callable[[], Any]) -> Any:
        """Return what Redis answers in time, and None otherwise."""
        if self._now() < self._resting_until:
            return None
        try:
            answer = command()
        except Exception as error:  # whatever it is: an answer needs no cache
            if not isinstance(error, redis.ResponseError):  # which came in time
                self._resting_until = self._now() + _REST
            if not self._has_failed:
                extra = {"error_type": type(error).__name__}
                logger.warning("the embedding cache doesn't answer", extra=extra)
            self._has_failed = True
            return None
        self._has_failed = False
        return answer


def _read(value: object) -> Vector | None:
    """Return the vector that `put` wrote, or None for anything else."""
    if not isinstance(value, bytes):
        return None
    try:
        vector = tuple(json.loads(value)["embedding"])
        is_right = (
            all(type(each) in (int, float) for each in vector)
            and abs(math.hypot(*vector) - 1) < _LENGTH  # which no NaN is
        )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return vector if is_right else None
