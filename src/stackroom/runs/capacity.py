"""
The limits of a knowledge base of the pool, by its type, and of the account.

The numbers are AWS's, none of them adjustable [AWS General Reference: Amazon Bedrock endpoints and
quotas, rows "(Knowledge Bases)" and "(Managed Knowledge Bases)"; user guide: kb-managed-quotas].
AWS leaves two things about MANAGED knowledge bases open, and these are our assumptions:

- A job and direct calls exclude each other in the whole knowledge base, as in one of type VECTOR.
  "Don't submit an IngestKnowledgeBaseDocuments and StartIngestionJob request at the same time" says
  the user guide (kb-direct-ingestion), and names no type. If it allows more, waiting costs time and
  nothing else (stackroom.runs.admission). [assumed: managed.direct-or-job]
- The account's five jobs, its ten direct calls and its ten seconds between two starts bind them,
  too, unless the deployment is configured otherwise (stackroom.runs.admission).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from stackroom.model.records import CatalogDataSources, PoolMember

if TYPE_CHECKING:
    from stackroom.runs.ledger import Ledger


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """
    A knowledge base's capacity: `own_sources` data sources for catalogs, besides the shared one,
    and `jobs` that run at a time.
    """

    own_sources: int
    jobs: int


CAPACITIES: Mapping[str, Capacity] = {
    "BEDROCK": Capacity(own_sources=4, jobs=1),  # of 5 data sources
    "MANAGED": Capacity(own_sources=199, jobs=50),  # of 200 data sources
}


# Searches a second, where more is throttled: Retrieve's in an account, and in a MANAGED knowledge
# base (600 a minute) [as above]. S3 Vectors takes "hundreds" of QueryVectors an index
# [https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-best-practices.html]; Titan V2
# makes the vectors of 6,000 questions a minute and account, and ends first.
RETRIEVES = 20.0
MANAGED_RETRIEVES = 10.0
INDEX_QUERIES = 100.0


def capacity_of(member: PoolMember) -> Capacity:
    """Return a member's capacity; it has no own data sources if all its catalogs share one."""
    capacity = CAPACITIES[member.type]
    if member.catalog_data_sources is CatalogDataSources.SHARED:
        return replace(capacity, own_sources=0)
    return capacity


class Slots(Protocol):
    """
    The slots of each knowledge base for catalogs' own data sources, and the catalogs that hold
    them.
    """

    def holders(self, knowledge_base_id: str) -> frozenset[str]:
        """Return the catalogs that hold a slot."""

    def take(self, knowledge_base_id: str, catalog_id: str, *, limit: int) -> bool: ...

    def holder_of(self, catalog_id: str, knowledge_base_ids: Iterable[str]) -> str | None: ...

    def free(self, knowledge_base_id: str, catalog_id: str) -> None:
        """
        Free a slot, because the catalog's data source is gone or can't be made. Safe to repeat.
        """

    def sharing(self, knowledge_base_id: str) -> int:
        """
        Return about how many catalogs joined the shared data source: precise enough to spread new
        ones.
        """

    def count_sharing(self, knowledge_base_id: str) -> None:
        """Count one more catalog that joined the shared data source."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """
    The account's limits [AWS General Reference: Amazon Bedrock quotas, none adjustable]: concurrent
    ingestion jobs, concurrent direct calls (Ingest- and DeleteKnowledgeBaseDocuments), and seconds
    between two StartIngestionJob (0.1 a second). `jobs_in_one` has the concurrent jobs of the
    knowledge bases it names; any other runs one.
    """

    jobs: int = 5
    direct_calls: int = 10
    seconds_between_starts: float = 10.0
    jobs_in_one: Mapping[str, int] = field(default_factory=dict)

    def jobs_in(self, knowledge_base_id: str) -> int:
        return self.jobs_in_one.get(knowledge_base_id, 1)

    def free_calls(self, ledger: "Ledger") -> int:
        return self.direct_calls - sum(each.slots for each in ledger.direct)

    def share(self, runs: int) -> int:
        """Return the direct calls for each of so many runs, rounded up: not all use theirs."""
        return math.ceil(self.direct_calls / max(1, runs))
