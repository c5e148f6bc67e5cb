"""
Asking knowledge bases that nobody asks, so that an agent's next question doesn't find them cold.

An S3 Vectors index answers a cold query in less than a second and a warm one in about 100 ms. AWS
tells neither when an index cools down nor a way to keep it warm; that any query does, also one
whose filter matches nothing, is our assumption, and the times that are logged show whether it
holds. https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-best-practices.html
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stackroom.clock import utc_now
from stackroom.errors import Unavailable
from stackroom.ports.retrieval import KnowledgeBase, Questions
from stackroom.tenancy import Nobody

_QUESTION = "Is anybody there?"


@dataclass(frozen=True, kw_only=True)
class Prewarmed:
    """By knowledge base id: how long an answer took, and why there was none."""

    milliseconds: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Prewarming:
    """`idle` is for how long nobody must have asked, and how often this is run."""

    pool: Mapping[str, KnowledgeBase]
    questions: Questions
    idle: timedelta
    now: Callable[[], datetime] = utc_now

    def prewarm(self) -> Prewarmed:
        """
        Ask each knowledge base that may be idle, one after the other: Retrieve's quota is for
        those who want to know something. Nothing is raised for one that fails, or read of one that
        answers.
        """
        milliseconds: dict[str, int] = {}
        failures: dict[str, str] = {}
        for knowledge_base_id, knowledge_base in self._idle().items():
            started = time.perf_counter()
            try:
                knowledge_base.retrieve(_QUESTION, Nobody().filter(), 1)
            except Unavailable as error:
                failures[knowledge_base_id] = str(error)
            else:
                milliseconds[knowledge_base_id] = round((time.perf_counter() - started) * 1000)
        return Prewarmed(milliseconds=milliseconds, failures=failures)

    def _idle(self) -> Mapping[str, KnowledgeBase]:
        """
        Of several knowledge bases it isn't known which one agents have asked, so all of them are
        asked: a figure for each would cost more in a month than all these questions.
        """
        if len(self.pool) > 1:
            return self.pool
        now = self.now()
        return {} if self.questions.any_between(now - self.idle, now) else self.pool
