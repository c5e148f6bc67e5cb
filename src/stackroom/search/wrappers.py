"""Knowledge bases that wrap another: restrict, guard or pace it, or rerank its passages."""

import logging
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, Unavailable
from stackroom.model.filters import AllOf, Filter
from stackroom.model.passages import KnowledgeBase, Passage, Reranker, Retrieved

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Narrowed:
    """A knowledge base that always adds the condition `always` to a search."""

    knowledge_base: KnowledgeBase
    always: Filter

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        demanded = (*_demands(self.always), *_demands(condition))
        whole = demanded[0] if len(demanded) == 1 else AllOf(demanded)
        return self.knowledge_base.retrieve(query, whole, limit, deadline=deadline)


def _demands(condition: Filter | None) -> tuple[Filter, ...]:
    """Return the conditions in as few levels as possible: nested AND groups are flattened."""
    if condition is None:
        return ()
    return condition.conditions if isinstance(condition, AllOf) else (condition,)


@dataclass(frozen=True)
class Guarded:
    """
    A knowledge base whose questions pass a guardrail first, for stores without one.

    `lets_through` is the guardrail's decision. Passages are not shown to it, as in Bedrock's
    Retrieve. If the guardrail fails, nothing is searched and its error is raised.
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


# A caller gets 20 at most, and some are merged. Bedrock charges by the hundred documents of a query
# [Amazon Bedrock pricing], so that this is one unit, and half of it is time.
_RANKED = 50


@dataclass(frozen=True)
class Reranked:
    """
    A knowledge base whose passages a model orders that reads question and passage together.

    If the model fails, the order stays as it was and a notice says so. The best `most` are kept;
    None keeps all.
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
            notices = f"{found.notice}; {notice}" if found.notice else notice
            return replace(found, passages=found.passages[: self.most], notice=notices)
        ranked = _in_order(best, relevances)[: self.most]
        return replace(found, passages=ranked, is_reranked=True)


def _in_order(passages: Sequence[Passage], relevances: Sequence[float]) -> tuple[Passage, ...]:
    ranked = [
        replace(passage, relevance=relevance)
        for passage, relevance in zip(passages, relevances, strict=True)
    ]
    return tuple(sorted(ranked, key=lambda passage: -(passage.relevance or 0.0)))


# Limit the rate of questions to a knowledge base: a question waits briefly, or is refused.
#
# Each process asks at the rate that AWS allows the account, without knowing of other processes. If
# AWS throttles a question all the same, it is repeated after growing pauses while the caller's
# deadline allows; then the caller is told when to try again.

# Seconds that a question waits at most. A function that waits is paid for: a flood that gets ten
# answers a second keeps twenty of them waiting.
PATIENCE = 2.0
_FIRST_PAUSE = 0.2  # seconds, at most, before a throttled question is asked again


class TokenBucket:
    """
    A token bucket for one process: one second's questions at once, more as it refills.

    Several knowledge bases may share it, and several threads may use it at once.
    """

    def __init__(
        self,
        operation: str,
        per_second: float,
        *,
        elapsed: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.operation = operation
        self.per_second = per_second
        self._elapsed = elapsed
        self._sleep = sleep
        self._full_at = -math.inf
        self._lock = Lock()

    def until(self, deadline: Deadline) -> float:
        """Return the time at which a question that arrives now stops waiting."""
        return self._elapsed() + min(PATIENCE, deadline.left())

    def take(self, until: float) -> None:
        """
        Wait for a question's turn. Raises KnowledgeBaseThrottled at once if that is after `until`.
        """
        with self._lock:
            now = self._elapsed()
            full_at = max(self._full_at, now) + 1 / self.per_second
            wait = max(0.0, full_at - now - max(1.0, 1 / self.per_second))
            self._require(wait, now, until)
            self._full_at = full_at
        self._sleep(wait)

    def refused(self, times: int, until: float) -> None:
        """
        Wait after AWS has refused a question `times` times. Raises KnowledgeBaseThrottled at once
        if that takes longer than `until`.
        """
        pause = random.uniform(0, _FIRST_PAUSE * 2**times)  # noqa: S311 - not security
        with self._lock:
            now = self._elapsed()
            self._full_at = max(self._full_at, now + 1)  # AWS knows that nothing is left
            self._require(pause, now, until)
        self._sleep(pause)

    def _require(self, wait: float, now: float, until: float) -> None:
        if now + wait > until:
            # Those who were sent away together are not to come back together.
            longest = max(wait, PATIENCE) * random.uniform(1, 2)  # noqa: S311 - not security
            raise KnowledgeBaseThrottled(self.operation, retry_after=math.ceil(longest))


@dataclass(frozen=True)
class Paced:
    """
    A `KnowledgeBase` that asks another at the rate of the bucket.

    With `repeats_failures`, a failure other than a throttle is repeated once, for stores whose
    client doesn't retry.
    """

    knowledge_base: KnowledgeBase
    bucket: TokenBucket
    repeats_failures: bool = False

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        until = self.bucket.until(deadline)
        throttles, may_fail = 0, self.repeats_failures
        while True:
            self.bucket.take(until)
            try:
                return self.knowledge_base.retrieve(query, condition, limit, deadline=deadline)
            except KnowledgeBaseThrottled as error:
                if error.retry_after is not None:
                    raise  # another such one, further down, has sent it away
                self.bucket.refused(throttles, until)
                throttles += 1
            except KnowledgeBaseUnavailable:
                if not may_fail or deadline.has_passed:
                    raise
                may_fail = False
