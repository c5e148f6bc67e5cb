"""What settling a round is about, whatever the type of the data source."""

from dataclasses import dataclass
from datetime import datetime

from stackroom.model import Catalog, DataSource, Document, DocumentStatus
from stackroom.settlement.verdicts import MAX_ATTEMPTS, Decided

# Seconds in which what has been removed must be out of every search: "a few minutes" [Bedrock user
# guide: kb-data-source-sync-ingest]. Then it is removed again, for others wait behind it.
REMOVAL_DEADLINE = 600.0
NEVER_TAKEN_UP = f"{MAX_ATTEMPTS} ingestion jobs did not take the file up; drop it again to retry"


_EVICTION = "evict-"  # no job's id [API model: ten letters and digits]


def eviction_id(epoch: int, number: int) -> str:
    """Of the run's round of that number."""
    return f"{_EVICTION}{epoch}-{number}"


@dataclass(frozen=True, kw_only=True)
class Round:
    """
    What a run has begun, and where: an ingestion job by its id, or an eviction of rejected files by
    what stands for one.
    """

    catalog: Catalog
    source: DataSource
    round_id: str

    @property
    def is_eviction(self) -> bool:
        return self.round_id.startswith(_EVICTION)

    def has(self, document: Document) -> bool:
        """Whether the round has taken the document up, and not settled it."""
        is_bound = document.ingestion_job_id == self.round_id
        match document.status:
            case DocumentStatus.INDEXING | DocumentStatus.DELETING:
                return is_bound
            case DocumentStatus.FAILED:
                return is_bound and document.lingering
            case DocumentStatus.UPLOADING | DocumentStatus.PENDING | DocumentStatus.INDEXED:
                return False  # it waits for another round, or needs none


@dataclass(frozen=True, kw_only=True)
class RoundVerdicts:
    """`unexplained` failures are known from the job's statistics alone."""

    decided: Decided
    unexplained: int = 0


def is_overdue(started_at: datetime, now: datetime, deadline_seconds: float) -> bool:
    return (now - started_at).total_seconds() > deadline_seconds
