"""
A run's progress and waiting times: what travels through the state machine and decides its choices.
"""

import random
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Self

from pydantic import AwareDatetime, NonNegativeInt

from stackroom.model.records import DataSource, Document, Record
from stackroom.runs.ledger import CompletedWork, Mode, Waiter

# A history ends at 25,000 events [Step Functions quotas]. A step is a task, a choice and a wait,
# nine events, and some more where a task is tried again.
MAX_STEPS = 1_000
BATCH = 10  # documents of an Ingest- or DeleteKnowledgeBaseDocuments call [API model]


class RunOutcome(StrEnum):
    """
    The outcomes by which the state machine chooses; tests/contract keeps them in step with the ASL.
    """

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
    """
    A document's ids and, if that matters, its `version`. `refused_after` counts the calls of the
    run that Bedrock had accepted before the start in which it refused the document in a call of its
    own.
    """

    catalog_id: str
    document_id: str
    version: int | None = None
    refused_after: NonNegativeInt | None = None

    @classmethod
    def of(cls, document: Document) -> Self:
        return cls(
            catalog_id=document.catalog_id,
            document_id=document.document_id,
            version=document.version,
        )


class DirectCall(Record):
    """
    A direct call that Bedrock has accepted, with the documents that are not settled yet.

    It was `accepted_at` by Bedrock's clock and `began_at` by ours. One that is over takes none of
    the account's calls any more. `said_at` is set once Bedrock has reported all remaining documents
    as indexed or gone; then a search has yet to find them, or no longer find them.
    """

    accepted_at: AwareDatetime
    began_at: AwareDatetime
    documents: tuple[DocumentName, ...]
    size: NonNegativeInt = 0  # bytes of text, about
    size_ahead: NonNegativeInt = 0  # of the calls that were at work when it was sent
    is_large: bool = False  # of one large document
    is_removal: bool = False
    is_probe: bool = False  # of what Bedrock has failed over
    is_over: bool = False
    said_at: AwareDatetime | None = None
    failures: NonNegativeInt = 0  # looks in a row that failed

    @property
    def since(self) -> datetime:
        """Return when its present wait began, for Bedrock or for a search."""
        return self.said_at or self.began_at

    @property
    def completed_work(self) -> CompletedWork | None:
        """
        Return the time that Bedrock took, by its clock, for all bytes that it worked on during the
        call: calls share the capacity that reads and embeds them. None if the call says nothing
        about small ingestions, as a removal does.
        """
        if self.is_removal or self.is_large or self.said_at is None:
            return None
        seconds = (self.said_at - self.accepted_at).total_seconds()
        return CompletedWork(
            mode=Mode.DIRECT, size=self.size + self.size_ahead, seconds=max(0.0, seconds)
        )


class DocumentCounts(Record):
    """A run's counts of documents so far, also for people who read an execution."""

    sent: NonNegativeInt = 0
    at_work: NonNegativeInt = 0
    indexed: NonNegativeInt = 0
    failed: NonNegativeInt = 0
    removed: NonNegativeInt = 0
    again: NonNegativeInt = 0  # to be tried once more
    postponed: NonNegativeInt = 0  # to be tried once Bedrock may have recovered

    @property
    def settled(self) -> int:
        return self.indexed + self.failed + self.removed


class RunProgress(Record):
    """A run's progress, which travels through the state machine."""

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
    # Of the documents that Bedrock fails over, one at a time is tried, none before `probe_at`; and
    # all that it failed over before `recovered_at`, when it took one of them.
    probe_at: AwareDatetime | None = None
    recovered_at: AwareDatetime | None = None

    @property
    def calls_at_work(self) -> int:
        return sum(not each.is_over for each in self.calls)

    @property
    def large_at_work(self) -> int:
        return sum(each.is_large and not each.is_over for each in self.calls)


class Run(Record):
    """A live run: the execution that holds the worklist's lease under this epoch."""

    worklist_id: str
    epoch: NonNegativeInt
    progress: RunProgress = RunProgress()

    @property
    def log_fields(self) -> dict[str, Any]:
        """The progress for a log line: counts, without document ids."""
        progress = self.progress.model_dump(mode="json", exclude={"calls", "alone", "set_aside"})
        return {**progress, "calls_at_work": self.progress.calls_at_work}

    def with_outcome(self, outcome: RunOutcome, **changes: object) -> Self:
        steps = self.progress.steps + 1
        return self.with_progress(outcome=outcome, steps=steps, **changes)

    def trying_later(self, outcome: RunOutcome) -> Self:
        waits = self.progress.waits
        seconds = seconds_until_next_try(waits)
        return self.with_outcome(outcome, wait_seconds=seconds, waits=waits + 1)

    def with_progress(self, **changes: object) -> Self:
        return self.model_copy(update={"progress": self.progress.model_copy(update=changes)})

    def waiter(
        self, source: DataSource, mode: Mode, *, at: datetime, calls: int = 1, token: str = ""
    ) -> Waiter:
        """
        Return the entry with which the run queues up at its knowledge base, in the position that it
        had.
        """
        return Waiter(
            worklist_id=self.worklist_id,
            epoch=self.epoch,
            knowledge_base_id=source.knowledge_base_id,
            mode=mode,
            since=self.progress.waiting_since or at,
            calls=calls,
            token=token,
        )

    def counted(self, **more: int) -> Self:
        """Return the run with its counts increased."""
        now = self.progress.documents
        added = {name: getattr(now, name) + count for name, count in more.items()}
        return self.with_progress(documents=now.model_copy(update=added))


# The time that a run waits before its next poll; after a call that Bedrock refused,
# runs/direct_calls.py decides. Bedrock sends no event when it is done [facts of rule job.no-event],
# so the run has to ask. Work that has run for long is polled less often, in proportion: the answer
# is late in proportion, too. Waits are whole seconds, because a Wait state's SecondsPath takes no
# fractions [Step Functions guide: Wait], and those of our own functions are the same everywhere:
# only AWS's pace differs on a laptop.
_FIRST = {Mode.DIRECT: 2.0, Mode.JOB: 10.0}  # seconds on AWS, of direct calls and of a job
_LEAST = {Mode.DIRECT: 1.0, Mode.JOB: 5.0}
_LONGEST = 60.0
_IN_PROPORTION = 0.2
# Waits for something else that has to change before the run can go on.
_FIRST_WAIT, _GROWTH = 2.0, 1.5
# Until what Bedrock failed over is tried again: a run waits for so long by itself, and takes up at
# each poll what has come meanwhile. What has longer to wait, the reconciler asks for.
LONGEST_RETRY_WAIT = timedelta(minutes=5)
BETWEEN_TRIES = 10  # seconds


def seconds_until_first_poll(mode: Mode) -> int:
    """Return the seconds from the beginning of work to its first poll."""
    return round(_FIRST[mode])


def seconds_until_next_poll(mode: Mode, age: float) -> int:
    """Return the seconds to the next poll of work that began `age` seconds ago."""
    return round(min(max(_LEAST[mode], age * _IN_PROPORTION), _LONGEST))


def seconds_until_next_try(waits: int, *, jitter: bool = False) -> int:
    """
    Return the seconds to the next try after `waits` in a row. With `jitter`, waiting runs don't ask
    in step.
    """
    wait = min(_FIRST_WAIT * _GROWTH ** min(waits, 20), _LONGEST)
    # Not security: it only keeps waiting runs apart.
    return round(wait * random.uniform(1, 1.5)) if jitter else round(wait)  # noqa: S311
