"""
Equal questions under way at once, asked once: within a process that has threads.

Lambda gives a process one request at a time, and no two queries of a request are equal. So this is
for agents' processes, which call tools side by side. Shared between functions, a question and its
answer of 100 KB would cost a hundred write units, for a search of S3 Vectors that costs less than
one of them, and the same tenant would have to ask the same within the third of a second that an
answer takes.
"""

from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass, field
from threading import Lock

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.filters import Filter
from stackroom.ports.retrieval import KnowledgeBase, Retrieved
from stackroom.retrieval.embeddings import who_asks

# Who asks, the question, the whole filter as it is written (to Python, 1 equals true), the limit.
# Equal filters find the same, and yet no answer goes from one user to another.
_Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Coalesced:
    """
    A `KnowledgeBase` in front of another. Who asks what is being asked gets the same answer; if
    there is none, for what reason ever, they ask themselves.

    Where it isn't said who asks (`retrieval.embeddings.asked_by`), or nothing is filtered, each
    question is asked on its own.
    """

    knowledge_base: KnowledgeBase
    _under_way: dict[_Key, "Future[Retrieved]"] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    # A002: the port's name
    def retrieve(
        self,
        query: str,
        filter: Filter | None,  # noqa: A002
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,
    ) -> Retrieved:
        asker = who_asks()
        if asker is None or filter is None:
            return self.knowledge_base.retrieve(query, filter, limit, deadline=deadline)
        key = (asker, query, repr(filter), limit)
        own = Future[Retrieved]()
        with self._lock:
            others = self._under_way.setdefault(key, own)
        if others is not own:
            found = _answer_of(others, deadline)
            if found is not None:
                return found
            deadline.check("Retrieve")
            return self.knowledge_base.retrieve(query, filter, limit, deadline=deadline)
        try:
            found = self.knowledge_base.retrieve(query, filter, limit, deadline=deadline)
            own.set_result(found)
        finally:
            with self._lock:
                del self._under_way[key]
            own.cancel()  # of no effect on one that is answered
        return found


def _answer_of(asked: "Future[Retrieved]", deadline: Deadline) -> Retrieved | None:
    """None if it fails, which the other's deadline may be the reason of, or takes too long."""
    left = deadline.left()
    try:
        # An endless wait has no timeout: threading takes no infinity.
        return asked.result(None if deadline == NO_DEADLINE else left)
    except (CancelledError, NotInTime):
        return None
