"""Queries that go on behind their deadline, so that a store that is stuck gets no more of them."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from stackroom.documents.passages import KnowledgeBase

# As many as one question asks at once. A store that answers in drips keeps each for hours: the
# timeouts of its client are for one read.
_MOST = 20
_REST = 30.0  # seconds from one try to the next, with so many of them


@dataclass
class _Late:
    count: int = 0
    tried_at: float = 0.0


class LateQueries:
    """
    By knowledge base, for a whole process. One that answers in time again is asked as ever, however
    many of its queries are still under way. Safe to use from several threads at once.
    """

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._late: dict[int, _Late] = {}  # by identity, which a query under way keeps alive

    def may_ask(self, knowledge_base: KnowledgeBase) -> bool:
        """Not with as many late as there may be, but for one now and then."""
        with self._lock:
            late = self._late.get(id(knowledge_base))
            if late is None or late.count < _MOST:
                return True
            if self._now() < late.tried_at + _REST:
                return False
            late.tried_at = self._now()
            return True

    def add(self, knowledge_base: KnowledgeBase, query: "Future[Any]") -> None:
        with self._lock:
            late = self._late.setdefault(id(knowledge_base), _Late())
            late.count += 1
            if late.count == _MOST:
                late.tried_at = self._now()

        def over(_: object) -> None:
            with self._lock:
                late.count -= 1
                if late.count == 0 and self._late.get(id(knowledge_base)) is late:
                    del self._late[id(knowledge_base)]

        query.add_done_callback(over)

    def answered(self, knowledge_base: KnowledgeBase) -> None:
        """In time."""
        with self._lock:
            self._late.pop(id(knowledge_base), None)
