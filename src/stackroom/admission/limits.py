"""What Bedrock allows the account at a time, and how that is shared out."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, kw_only=True)
class Limits:
    """
    Of the account [AWS General Reference: Amazon Bedrock quotas, none adjustable]: ingestion jobs
    at a time, direct calls (Ingest- and DeleteKnowledgeBaseDocuments) at a time, and seconds
    between two StartIngestionJob (0.1 a second). Of the knowledge bases named in `jobs_in_one`:
    jobs at a time there; any other runs one.
    """

    jobs: int = 5
    direct_calls: int = 10
    seconds_between_starts: float = 10.0
    jobs_in_one: Mapping[str, int] = field(default_factory=dict)

    def jobs_in(self, knowledge_base_id: str) -> int:
        return self.jobs_in_one.get(knowledge_base_id, 1)


# Slots that a run gets though others wait, and for how many it waits if there are fewer. Its
# function waits for its calls, so four at a time cost a quarter of one after the other, and it is
# done sooner. Runs come after each other rather than all beside each other; the last is done no
# later (docs/scaling.md).
WORTHWHILE = 4
ENOUGH = 3
# So much longer large work waits than small, if both do.
PATIENCE = timedelta(minutes=5)
# For so long what a waiter said of its work is believed.
FRESH = timedelta(seconds=10)


def fair_share(slots: int, runs: int) -> int:
    """Of so many slots, for each of so many runs; rounded up, for they don't all use theirs."""
    return max(min(slots, WORTHWHILE), math.ceil(slots / max(1, runs)))
