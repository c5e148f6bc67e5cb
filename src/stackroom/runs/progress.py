"""Where a run stands: what travels through the state machine, and what its choices go by."""

import random
from enum import StrEnum

from pydantic import AwareDatetime, NonNegativeInt

from stackroom.model import Record

# Seconds, whole ones: a Wait state's SecondsPath takes no fractions [Step Functions guide: Wait].
FIRST_WAIT = 5
LONGEST_WAIT = 60
_GROWTH = 1.5
# A history ends at 25,000 events [Step Functions quotas]. A turn is a wait, a task and a choice,
# about a dozen; with a job's own polls until its deadline (750 more) that stays below 21,000.
MAX_STEPS = 1_000


class Outcome(StrEnum):
    """What the state machine chooses by; tests/contract holds it and the ASL together."""

    PLACED = "placed"
    WAITING = "waiting"
    GONE = "gone"
    TURN_OVER = "turn_over"
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


class Progress(Record):
    """Where a run stands; travels through the state machine."""

    outcome: Outcome | None = None
    delay: NonNegativeInt = 0  # seconds to wait before the first state does anything
    wait_seconds: NonNegativeInt = 0
    round: NonNegativeInt = 0
    turn: NonNegativeInt = 0
    polls: NonNegativeInt = 0  # of the present job, or busy answers in a row
    served: NonNegativeInt = 0  # the counter as the present round found it
    job_id: str | None = None  # of a job, or what stands for a round of direct calls
    waiting_since: AwareDatetime | None = None  # the run's place in the queue
    calls: NonNegativeInt = 1  # direct calls that the work takes
    accepted_at: AwareDatetime | None = None  # by the knowledge base's clock, of direct calls


class Run(Record):
    """A live run: the execution that holds the catalog's lease under this epoch."""

    catalog_id: str
    epoch: NonNegativeInt
    progress: Progress = Progress()

    def went(self, outcome: Outcome, **changes: object) -> "Run":
        progress = self.progress.model_copy(
            update={"outcome": outcome, "turn": self.progress.turn + 1, **changes}
        )
        return self.model_copy(update={"progress": progress})


def until_next_look(seconds: float, *, wanted: bool) -> int:
    """
    Seconds before asking again whether what has run for so long is over: in proportion, so that
    the answer is late in proportion, too. `wanted` is whether others wait for it.
    """
    return round(min(max(FIRST_WAIT, seconds * (0.1 if wanted else 0.2)), LONGEST_WAIT))


def waiting_time(turn: int, *, jitter: bool = False) -> int:
    """Seconds before asking again: growing, capped, and apart from others' if `jitter`."""
    wait = min(FIRST_WAIT * _GROWTH ** min(turn, 20), LONGEST_WAIT)
    # Not security: it only keeps waiting runs from asking in step.
    return round(wait * random.uniform(1, 1.5)) if jitter else round(wait)  # noqa: S311
