"""
Questions' vectors kept in Valkey or Redis, for a week, for all processes that embed questions.

    embedding:{provider}:{model}:{dimensions}:{sha256(text)}   {"id": "...", "embedding": [...]}
    asked:{hash of tenant and key}                             the id of the vector it was given

The id names one vector: where that was made anew meanwhile, nobody has been given it before.
"""

import json
import logging
import math
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from stackroom.search.cached_embeddings import WEEK, Kept, Vector


class Breaker:
    """
    Says whether to try: not within `rest` seconds after a failure; then one may, and the others
    only when that one has succeeded. Safe to use from several threads.
    """

    def __init__(self, *, rest: float, now: Callable[[], float] = time.monotonic) -> None:
        self._rest = rest
        self._now = now
        self._lock = Lock()
        self._resting_until = -math.inf
        self._is_failing = False

    @property
    def is_resting(self) -> bool:
        with self._lock:
            return self._now() < self._resting_until

    def may_try(self) -> bool:
        with self._lock:
            now = self._now()
            if now < self._resting_until:
                return False
            if self._is_failing:
                self._resting_until = now + self._rest
        return True

    def succeeded(self) -> None:
        with self._lock:
            self._is_failing, self._resting_until = False, -math.inf

    def failed(self) -> bool:
        """Whether that is news: what was tried before had succeeded."""
        with self._lock:
            is_news, self._is_failing = not self._is_failing, True
            self._resting_until = self._now() + self._rest
        return is_news


logger = logging.getLogger(__name__)

LONGEST = 0.05  # seconds that a question waits for Redis
_REST = 1.0  # seconds without a try after one that failed
# Seconds after which a connection isn't trusted: what lies between drops idle ones without a word,
# and Lambda freezes a process for minutes ("Lambda purges idle connections over time").
# https://docs.aws.amazon.com/lambda/latest/dg/best-practices.html
_IDLE = 30.0
_LENGTH = 0.01  # that a vector's may differ from 1

Command = tuple[str | int, ...]


class RedisEmbeddingCache:
    """
    An `EmbeddingCache` over Redis, which a question never waits for longer than 50 ms.

    A Redis that is down, or slow, or answers with an error or nonsense, has nothing. After it
    failed to answer in time it is left alone for a second, and then one question tries: a dead
    one costs 50 ms a second, not 50 ms a question. What is to be kept is handed over and not waited
    for, so that a question costs no more if that is cut off.

    A thread of its own speaks to Redis, over one connection: the 50 ms hold for all of it, for the
    look-up of a name, for which there is no other limit, a handshake, and an answer that comes in
    drips. A connection that was closed meanwhile, or has been idle for half a minute, is made anew,
    once, within that time.
    """

    def __init__(
        self,
        url: str,
        *,
        longest: float = LONGEST,
        now: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = redis.Redis.from_url(
            url,
            socket_timeout=longest,
            socket_connect_timeout=longest,
            # A connection that was closed is made anew, once; what takes too long already has.
            retry=Retry(NoBackoff(), 1, (redis.ConnectionError,)),
            protocol=2,  # which needs no greeting, and neither does
            driver_info=None,  # who we are
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedding-cache")
        self._longest = longest
        self._breaker = Breaker(rest=_REST, now=now)
        self._clock = clock  # of the wall: it goes on while Lambda holds the process still
        self._used = -math.inf
        self._has_told_errors = False

    def get(self, key: str, asker: str | None = None) -> Kept | None:
        marks = () if asker is None else (("GET", _mark(asker)),)
        value, *given = self._ask(("GET", key), *marks) or (None,)
        found = _read(value)
        if found is None:
            return None
        name, vector = found
        is_known = given == [name.encode()]
        if asker is not None and not is_known:
            self._tell(lambda: [("SETEX", _mark(asker), WEEK, name)])
        return Kept(vector=vector, is_known_to_asker=is_known)

    def put(self, key: str, vector: Vector, asker: str | None = None) -> None:
        def written() -> Sequence[Command]:
            name = secrets.token_hex(8)
            value = json.dumps({"id": name, "embedding": vector})
            marks = () if asker is None else (("SETEX", _mark(asker), WEEK, name),)
            return ("SETEX", key, WEEK, value), *marks

        self._tell(written)

    def answers(self) -> bool:
        """Whether Redis answers in time, for whoever looks after it."""
        answers = self._ask(("PING",))
        return bool(answers) and not isinstance(answers[0], redis.RedisError)

    def close(self) -> None:
        """When what was handed over is done; nothing is found afterwards, and nothing kept."""
        self._thread.shutdown()
        self._client.close()

    def _ask(self, *commands: Command) -> Sequence[Any]:
        """An answer to each, which may be an error that Redis tells; none if it doesn't answer."""
        if not self._breaker.may_try():
            return ()
        try:
            asked = self._thread.submit(self._run, commands)
            try:
                answers = asked.result(timeout=self._longest)
            finally:
                asked.cancel()  # unless it was begun; then what it brings is thrown away
        except Exception as error:  # whatever it is: an answer needs no cache
            if self._breaker.failed():
                told = {"error_type": type(error).__name__}
                logger.warning("the embedding cache doesn't answer", extra=told)
            return ()
        self._breaker.succeeded()
        return answers

    def _tell(self, commands: Callable[[], Sequence[Command]]) -> None:
        """
        Without waiting, not even for the commands to be made: for a vector that takes half a
        millisecond. If it fails, the next who ask find out.
        """
        if not self._breaker.is_resting:
            with suppress(RuntimeError):  # the process is ending
                self._thread.submit(lambda: self._run(commands()))

    def _run(self, commands: Sequence[Command]) -> list[Any]:
        if self._clock() - self._used > _IDLE:
            self._client.connection_pool.disconnect()
        batch: Any = self._client.pipeline(transaction=False)
        for command in commands:
            batch.execute_command(*command)
        answers: list[Any] = batch.execute(raise_on_error=False)
        self._used = self._clock()
        errors = [each for each in answers if isinstance(each, redis.RedisError)]
        if errors and not self._has_told_errors:
            self._has_told_errors = True
            told = {"error_type": type(errors[0]).__name__}
            logger.warning("the embedding cache answers errors", extra=told)
        return answers


def _mark(asker: str) -> str:
    return f"asked:{asker}"


def _read(value: object) -> tuple[str, Vector] | None:
    """What `put` wrote, or None for anything else."""
    if not isinstance(value, bytes):
        return None
    try:
        kept = json.loads(value)
        name, vector = kept["id"], tuple(kept["embedding"])
        is_right = (
            isinstance(name, str)
            and name.isalnum()
            and all(type(each) in (int, float) for each in vector)
            and abs(math.hypot(*vector) - 1) < _LENGTH  # which no NaN is
        )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return (name, vector) if is_right else None
