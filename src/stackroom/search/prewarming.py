"""
Questions that are asked for their own sake, so that an agent's next one finds a warm index.

S3 Vectors answers cold queries in less than a second and warm ones in as little as 100 ms [S3 user
guide: s3-vectors-best-practices]. That a query behind a filter that nothing passes warms an index
is an assumption, and AWS doesn't say when an index cools down: the times that are logged show
whether pre-warming is worth its price. [assumed: index.query-warms]
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from stackroom.access.tenancy import Nobody
from stackroom.documents.passages import KnowledgeBase
from stackroom.errors import RetrievalFailed, StackroomError

_QUESTION = "Is anybody there?"


@dataclass(frozen=True, kw_only=True)
class Prewarming:
    """`pool` is by knowledge base id."""

    pool: Mapping[str, KnowledgeBase]

    def prewarm(self) -> dict[str, int]:
        """
        Ask each knowledge base a question that finds nothing, and return the milliseconds that each
        took, by id.

        They are asked one after the other, because Retrieve's rate is for those who want an answer.
        Raises RetrievalFailed if any failed, after all others have been asked.
        """
        milliseconds: dict[str, int] = {}
        failures: dict[str, str] = {}
        for knowledge_base_id, knowledge_base in self.pool.items():
            started = time.perf_counter()
            try:
                knowledge_base.retrieve(_QUESTION, Nobody().filter(), 1)
            except StackroomError as error:
                failures[knowledge_base_id] = str(error)
            else:
                milliseconds[knowledge_base_id] = round((time.perf_counter() - started) * 1000)
        if failures:
            problem = "; ".join(f"{each}: {why}" for each, why in failures.items())
            raise RetrievalFailed(f"not pre-warmed: {problem}", failures)
        return milliseconds
