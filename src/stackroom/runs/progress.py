"""Where a run stands: what travels through the state machine, and what its choices go by."""

import random
from enum import StrEnum

from pydantic import AliasChoices, AwareDatetime, ConfigDict, Field, NonNegativeInt

from stackroom.model import Record

# Seconds, whole ones: a Wait state's SecondsPath takes no fractions [Step Functions guide: Wait].
FIRST_WAIT = 5
LONGEST_WAIT = 60
_GROWTH = 1.5
# A history ends at 25,000 events [Step Functions quotas]. A step is a wait, a task and a choice,
# about a dozen events; with a job's own polls until its deadline (750 more), below 21,000.
MAX_STEPS = 1_000


class RunOutcome(StrEnum):
    """What the state machine chooses by; tests/contract holds it and the ASL together."""

    PLACED = "placed"
    WAITING = "waiting"
    GONE = "gone"
    GRANT_OVER = "turn_over"  # the state machine's word: executions under way go on by it
    STARTED = "started"
    BUSY = "busy"
    NOTHING = "nothing"
    HAND_OVER = "hand_over"
    HANDED_OVER = "handed_over"
    RUNNING = "running"
    OVER = "over"
    SETTLED = "settled"
    UNSETTLED = "unsettled"
    RELEASED = "released"
    MORE = "more"


class CallAtWork(Record):
    """
    A direct call that a task has left to the next: when Bedrock accepted it, by Bedrock's clock,
    and what it has yet to settle, by catalog and document.
    """

    accepted_at: AwareDatetime
    began: AwareDatetime
    documents: tuple[tuple[str, str], ...]
    is_large: bool = False


class Progress(Record):
    """Where a run stands; travels through the state machine."""

    model_config = ConfigDict(serialize_by_alias=True)

    outcome: RunOutcome | None = None
    delay: NonNegativeInt = 0  # seconds to wait before the first state does anything
    wait_seconds: NonNegativeInt = 0
    round: NonNegativeInt = 0
    # Tasks of this execution so far. It travels as `turn`: functions are deployed one by one, and
    # one of before knows no other name. Either is read, so that `steps` can be written one day.
    steps: NonNegativeInt = Field(
        default=0, validation_alias=AliasChoices("steps", "turn"), serialization_alias="turn"
    )
    polls: NonNegativeInt = 0  # of the present job, or busy answers in a row
    served: NonNegativeInt = 0  # the counter as the present round found it
    job_id: str | None = None  # of a job, or what stands for a round of direct calls
    waiting_since: AwareDatetime | None = None  # its position in the queue goes by this
    calls_at_work: tuple[CallAtWork, ...] = ()
    by_job: bool = False  # the next round must be: direct calls could not do it
    # In executions of before, whose functions told it; read by nobody.
    calls: NonNegativeInt = 1
    accepted_at: AwareDatetime | None = None


class Run(Record):
    """A live run: the execution that holds the worklist's lease under this epoch."""

    worklist_id: str
    epoch: NonNegativeInt
    progress: Progress = Progress()

    def went(self, outcome: RunOutcome, **changes: object) -> "Run":
        progress = self.progress.model_copy(
            update={"outcome": outcome, "steps": self.progress.steps + 1, **changes}
        )
        return self.model_copy(update={"progress": progress})


def until_next_look(seconds: float, *, wanted: bool) -> int:
    """
    Seconds before asking again whether what has run for so long is over: in proportion, so that
    the answer is late in proportion, too. `wanted` is whether others wait for it.
    """
    return round(min(max(FIRST_WAIT, seconds * (0.1 if wanted else 0.2)), LONGEST_WAIT))


def waiting_time(polls: int, *, jitter: bool = False) -> int:
    """Seconds before asking again: growing, capped, and apart from others' if `jitter`."""
    wait = min(FIRST_WAIT * _GROWTH ** min(polls, 20), LONGEST_WAIT)
    # Not security: it only keeps waiting runs from asking in step.
    return round(wait * random.uniform(1, 1.5)) if jitter else round(wait)  # noqa: S311
