"""
What one knowledge base of the pool takes, by its type.

The numbers are AWS's, none of them adjustable [AWS General Reference: Amazon Bedrock endpoints and
quotas, rows "(Knowledge Bases)" and "(Managed Knowledge Bases)"; user guide: kb-managed-quotas].
Of MANAGED knowledge bases AWS leaves two things open, and these are our assumptions:

- A job and direct calls exclude each other in the whole knowledge base, as in one of type VECTOR.
  "Don't submit an IngestKnowledgeBaseDocuments and StartIngestionJob request at the same time" says
  the user guide (kb-direct-ingestion), and names no type. If it allows more, waiting costs time and
  nothing else (stackroom.runs.admission). [assumed: managed.direct-or-job]
- The account's five jobs, its ten direct calls and its ten seconds between two starts bind them,
  too, unless the deployment is configured otherwise (stackroom.runs.admission).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from stackroom.model.records import CatalogDataSources, PoolMember


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """`own_sources` are for catalogs, beside the shared data source; `jobs` run at a time."""

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
    """With no place for catalogs' own data sources where all are to share one."""
    capacity = CAPACITIES[member.type]
    if member.catalog_data_sources is CatalogDataSources.SHARED:
        return replace(capacity, own_sources=0)
    return capacity
