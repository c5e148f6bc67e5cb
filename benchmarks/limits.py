"""
How soon a burst could be settled at all: docs/scaling.md derives it from Bedrock's limits.

It knows the future and every document's duration, wastes no moment, and pays nothing for knowing.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil

from stackroom_local.simulator.rules import (
    DIRECT_CONCURRENCY,
    DIRECT_DURATION,
    JOB_SHORTEST,
    JOB_STARTING,
    JOBS_PER_ACCOUNT,
    RATES,
)

_PER_CALL = 10  # documents [API model bedrock-agent: KnowledgeBaseDocuments]


@dataclass(frozen=True, kw_only=True)
class Work:
    """A document to index: on which knowledge base, by a job of which catalog, or directly."""

    knowledge_base_id: str
    job_of: str | None
    seconds: float


@dataclass
class _Base:
    jobs: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    direct: float = 0.0
    documents: int = 0

    @property
    def exclusive(self) -> float:
        """One job after another, each with its start and at least its shortest time."""
        return sum(
            max(JOB_SHORTEST.value, JOB_STARTING.value + seconds) for seconds in self.jobs.values()
        )

    @property
    def shared(self) -> float:
        """Of calls, one after another; a call may hold documents of several catalogs."""
        return self.direct + DIRECT_DURATION.value * ceil(self.documents / _PER_CALL)


def bound(works: Iterable[Work]) -> float:
    """Seconds that any scheduler needs for this work."""
    bases: dict[str, _Base] = defaultdict(_Base)
    for work in works:
        base = bases[work.knowledge_base_id]
        if work.job_of is None:
            base.direct += work.seconds
            base.documents += 1
        else:
            base.jobs[work.job_of] += work.seconds
    calls = DIRECT_CONCURRENCY.value
    jobs = sum(len(each.jobs) for each in bases.values())
    direct_calls = sum(ceil(each.documents / _PER_CALL) for each in bases.values())
    return max(
        # A knowledge base has either a job or direct calls at work.
        *(each.exclusive + each.shared / calls for each in bases.values()),
        # The account has five jobs and ten direct calls at work.
        sum(each.exclusive for each in bases.values()) / JOBS_PER_ACCOUNT.value,
        sum(each.shared for each in bases.values()) / calls,
        # Rates: the first of each may come at once.
        (jobs - 1) / RATES["StartIngestionJob"],
        (direct_calls - 1) / RATES["IngestKnowledgeBaseDocuments"],
    )
