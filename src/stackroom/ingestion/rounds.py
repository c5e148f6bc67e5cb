"""What beginning a round is, whatever the type of the data source."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from stackroom.model import Catalog, DataSource, Document
from stackroom.ports.admission import Grant
from stackroom.runs.progress import Run, RunOutcome, waiting_time
from stackroom.settlement.verdicts import Settled


@dataclass
class DirectWork:
    """
    What direct calls have come to within one task; nothing where a job does the work.

    `left` is what has yet to be taken up, `at_work` what is not settled.
    """

    settled: list[Settled] = field(default_factory=list)
    left: int = 0
    at_work: int = 0
    calls_at_work: int = 0
    accepted_at: datetime | None = None
    calls: int = 0
    size: int = 0  # bytes of text that were sent, about
    again: bool = False  # some document needs another round
    passed_over: set[str] = field(default_factory=set)  # documents that are not this run's to do
    refused: bool = False  # Bedrock was busy, and nothing got through


class Rounds(Protocol):
    def begin(
        self,
        run: Run,
        catalog: Catalog,
        source: DataSource,
        grant: Grant,
        documents: Sequence[Document],
        *,
        served: int,
    ) -> tuple[Run, DirectWork]:
        """Take up what is open among all the catalog's documents. Safe to retry."""
        ...


def started(run: Run, round_id: str, *, served: int, accepted_at: datetime | None = None) -> Run:
    """Something is under way that the poller looks at."""
    return run.went(
        RunOutcome.STARTED,
        job_id=round_id,
        served=served,
        round=run.progress.round + 1,
        polls=0,
        wait_seconds=waiting_time(0),
        waiting_since=None,
        accepted_at=accepted_at,
    )


def busy(run: Run) -> Run:
    return run.went(
        RunOutcome.BUSY,
        wait_seconds=waiting_time(run.progress.polls, jitter=True),
        polls=run.progress.polls + 1,
    )
