"""Where a run stands: what travels through the state machine, and what its choices go by."""

from enum import StrEnum
from typing import Self

from pydantic import AwareDatetime, NonNegativeInt

from stackroom.model import Record

# A history ends at 25,000 events [Step Functions quotas]. A step is a task, a choice and a wait,
# nine events, and some more where a task is tried again.
MAX_STEPS = 1_000


class RunOutcome(StrEnum):
    """What the state machine chooses by; tests/contract holds it and the ASL together."""

    READY = "ready"  # the data source can be used
    WAITING = "waiting"  # the data source can't be used yet
    QUEUED = "queued"  # others are before it at the knowledge base
    STARTED = "started"
    BUSY = "busy"  # Bedrock is, and nothing is at work
    RUNNING = "running"
    MORE = "more"
    SETTLED = "settled"  # nothing is at work, and nothing known that could be
    NOTHING = "nothing"
    HAND_OVER = "hand_over"
    HANDED_OVER = "handed_over"
    RELEASED = "released"


class DocumentName(Record):
    """A document by its ids; as it was in that `version`, where that matters."""

    catalog_id: str
    document_id: str
    version: int | None = None


class DirectCall(Record):
    """
    A direct call that Bedrock has accepted, `accepted_at` by its clock and `began_at` by ours, and
    what of it is not settled yet. One that is over takes none of the account's calls any more.
    `said_at` is set once Bedrock has said of all that is left that it is indexed, or gone: then a
    search has yet to find it, or to find it no more.
    """

    accepted_at: AwareDatetime
    began_at: AwareDatetime
    documents: tuple[DocumentName, ...]
    size: NonNegativeInt = 0  # bytes of text, about
    is_large: bool = False  # of one large document
    is_removal: bool = False
    is_over: bool = False
    said_at: AwareDatetime | None = None
    failures: NonNegativeInt = 0  # looks in a row that failed


class DocumentCounts(Record):
    """What a run has come to so far, for people who look at an execution, too."""

    sent: NonNegativeInt = 0
    at_work: NonNegativeInt = 0
    indexed: NonNegativeInt = 0
    failed: NonNegativeInt = 0
    removed: NonNegativeInt = 0
    again: NonNegativeInt = 0  # to be tried once more

    @property
    def settled(self) -> int:
        return self.indexed + self.failed + self.removed


class Progress(Record):
    """Where a run stands; travels through the state machine."""

    outcome: RunOutcome | None = None
    documents: DocumentCounts = DocumentCounts()
    wait_seconds: NonNegativeInt = 0
    delay: NonNegativeInt = 0  # seconds to wait before the first state does anything
    round: NonNegativeInt = 0  # of StartIngestion
    steps: NonNegativeInt = 0  # tasks of this execution so far
    waits: NonNegativeInt = 0  # in a row for the same thing
    served: NonNegativeInt = 0  # the counter of requests before the worklist was looked at
    waiting_since: AwareDatetime | None = None  # its position in the queue goes by this
    job_id: str | None = None
    calls: tuple[DirectCall, ...] = ()
    accepted_calls: NonNegativeInt = 0
    is_more: bool = False  # something waits that could be sent if a call were free
    after: str | None = None  # the catalog of the worklist whose turn it was last
    alone: tuple[DocumentName, ...] = ()  # each to be sent in a call of its own
    set_aside: tuple[DocumentName, ...] = ()  # not this run's to do

    @property
    def calls_at_work(self) -> int:
        return sum(not each.is_over for each in self.calls)


class Run(Record):
    """A live run: the execution that holds the worklist's lease under this epoch."""

    worklist_id: str
    epoch: NonNegativeInt
    progress: Progress = Progress()

    def went(self, outcome: RunOutcome, **changes: object) -> Self:
        steps = self.progress.steps + 1
        return self.having(outcome=outcome, steps=steps, **changes)

    def having(self, **changes: object) -> Self:
        return self.model_copy(update={"progress": self.progress.model_copy(update=changes)})

    def counted(self, **more: int) -> Self:
        """With so many documents more of each."""
        now = self.progress.documents
        added = {name: getattr(now, name) + count for name, count in more.items()}
        return self.having(documents=now.model_copy(update=added))
