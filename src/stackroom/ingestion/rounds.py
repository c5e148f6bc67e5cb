"""What beginning a round is, whatever the type of the data source."""

from dataclasses import dataclass, field

from stackroom.runs.progress import Run, RunOutcome, waiting_time
from stackroom.settlement.verdicts import Settled


@dataclass
class DirectWork:
    """
    What direct calls have come to within one task; nothing where a job does the work.

    `left` is what has yet to be taken up, `at_work` what is not settled. `took` is the seconds of
    AWS's time that the last call of small documents took.
    """

    settled: list[Settled] = field(default_factory=list)
    left: int = 0
    at_work: int = 0
    calls_at_work: int = 0
    calls: int = 0
    size: int = 0  # bytes of text that were sent, about
    took: float | None = None
    refused: bool = False  # Bedrock was busy, and nothing got through
    # Of catalogs that were set aside for a later run, by their ids.
    failures: dict[str, Exception] = field(default_factory=dict)


def started(run: Run, round_id: str, *, served: int) -> Run:
    """Something is under way that the poller looks at."""
    return run.went(
        RunOutcome.STARTED,
        job_id=round_id,
        served=served,
        round=run.progress.round + 1,
        polls=0,
        wait_seconds=waiting_time(0),
        waiting_since=None,
    )


def busy(run: Run) -> Run:
    return run.went(
        RunOutcome.BUSY,
        wait_seconds=waiting_time(run.progress.polls, jitter=True),
        polls=run.progress.polls + 1,
    )
