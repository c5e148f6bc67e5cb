"""What a search found, put in order by a model that reads question and passage together."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import Unavailable
from stackroom.filters import Filter
from stackroom.ports.retrieval import KnowledgeBase, Passage, Reranker, Retrieved

logger = logging.getLogger(__name__)

# Who asks gets 20 at most, and some are merged. Bedrock charges by the hundred documents of a query
# [Amazon Bedrock pricing], so that this is one unit, and half of it is time.
_RANKED = 50


@dataclass(frozen=True)
class Reranked:
    """
    A `KnowledgeBase` in front of another.

    If the model doesn't answer, the order stays as it was, and a notice says so: an answer in
    another order is better than none. The best `most` are kept; None keeps all.
    """

    knowledge_base: KnowledgeBase
    reranker: Reranker
    most: int | None = None

    # A002: the port's name
    def retrieve(
        self,
        query: str,
        filter: Filter | None,  # noqa: A002
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,
    ) -> Retrieved:
        found = self.knowledge_base.retrieve(query, filter, limit, deadline=deadline)
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
