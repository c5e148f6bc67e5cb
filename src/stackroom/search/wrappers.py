"""
Knowledge bases that wrap another: restrict it to a part, guard it, or rerank its passages.

rate_limiter has one more.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import Unavailable
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
