"""
Knowledge bases in front of others: equal questions asked once, part of one alone, behind a
guardrail, put in order by a model. rate_limiter has one more.
"""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass, field, replace
from threading import Lock

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.documents.filters import AllOf, Filter
from stackroom.documents.passages import KnowledgeBase, Passage, Reranker, Retrieved
from stackroom.errors import Unavailable
from stackroom.search.cached_embeddings import who_asks

logger = logging.getLogger(__name__)

# Who asks, the question, the whole filter as it is written (to Python, 1 equals true), the limit.
# Equal filters find the same, and yet no answer goes from one user to another.
_Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Coalesced:
    """
    Equal questions under way at once, asked once: within a process that has threads. Who asks what
    is being asked gets the same answer; if there is none, for what reason ever, they ask
    themselves. Where it isn't said who asks (`cached_embeddings.asked_by`), or nothing is filtered,
    each question is asked on its own.

    Lambda gives a process one request at a time, and no two queries of a request are equal. So this
    is for agents' processes, which call tools side by side. Shared between functions, a question
    and its answer of 100 KB would cost a hundred write units, for a search of S3 Vectors that costs
    less than one of them, and the same tenant would have to ask the same within the third of a
    second that an answer takes.
    """

    knowledge_base: KnowledgeBase
    _under_way: dict[_Key, "Future[Retrieved]"] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        asker = who_asks()
        if asker is None or condition is None:
            return self.knowledge_base.retrieve(query, condition, limit, deadline=deadline)
        key = (asker, query, repr(condition), limit)
        own = Future[Retrieved]()
        with self._lock:
            others = self._under_way.setdefault(key, own)
        if others is not own:
            found = _answer_of(others, deadline)
            if found is not None:
                return found
            deadline.check("Retrieve")
            return self.knowledge_base.retrieve(query, condition, limit, deadline=deadline)
        try:
            found = self.knowledge_base.retrieve(query, condition, limit, deadline=deadline)
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


@dataclass(frozen=True)
class Narrowed:
    """Only a part of it is searched, whoever asks: it is never asked without `always`."""

    knowledge_base: KnowledgeBase
    always: Filter

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        demanded = (*_demands(self.always), *_demands(condition))
        whole = demanded[0] if len(demanded) == 1 else AllOf(demanded)
        return self.knowledge_base.retrieve(query, whole, limit, deadline=deadline)


def _demands(condition: Filter | None) -> tuple[Filter, ...]:
    """In as few levels as possible: what is demanded together needs no group in a group."""
    if condition is None:
        return ()
    return condition.conditions if isinstance(condition, AllOf) else (condition,)


@dataclass(frozen=True)
class Guarded:
    """
    Questions pass a guardrail first, for stores that know of none. `lets_through` is what it says;
    passages are not shown to it, as Bedrock's Retrieve doesn't show them.

    Where it can't be asked nothing is searched: what it raises is raised.
    """

    knowledge_base: KnowledgeBase
    lets_through: Callable[[str], bool]

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        deadline.check("ApplyGuardrail")
        if not self.lets_through(query):
            return Retrieved(passages=(), guardrail_action="INTERVENED")
        return self.knowledge_base.retrieve(query, condition, limit, deadline=deadline)


# Who asks gets 20 at most, and some are merged. Bedrock charges by the hundred documents of a query
# [Amazon Bedrock pricing], so that this is one unit, and half of it is time.
_RANKED = 50


@dataclass(frozen=True)
class Reranked:
    """
    What was found, put in order by a model that reads question and passage together.

    If the model doesn't answer, the order stays as it was, and a notice says so: an answer in
    another order is better than none. The best `most` are kept; None keeps all.
    """

    knowledge_base: KnowledgeBase
    reranker: Reranker
    most: int | None = None

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        found = self.knowledge_base.retrieve(query, condition, limit, deadline=deadline)
        best = [passage for passage in found.passages[:_RANKED] if passage.text]
        if not best:
            return found
        try:
            deadline.check("Rerank")
            relevances = self.reranker.rank(query, [passage.text for passage in best])
        except Unavailable as error:
            logger.warning("passages stay in the order of the search: %s", error)
            notice = f"not reranked: {error}"
            told = f"{found.notice}; {notice}" if found.notice else notice
            return replace(found, passages=found.passages[: self.most], notice=told)
        ranked = _in_order(best, relevances)[: self.most]
        return replace(found, passages=ranked, is_reranked=True)


def _in_order(passages: Sequence[Passage], relevances: Sequence[float]) -> tuple[Passage, ...]:
    ranked = [
        replace(passage, relevance=relevance)
        for passage, relevance in zip(passages, relevances, strict=True)
    ]
    return tuple(sorted(ranked, key=lambda passage: -(passage.relevance or 0.0)))
