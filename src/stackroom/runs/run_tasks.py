"""
The tasks of the state machine that move a run on, except polling (stackroom.runs.polling).

EnsureDataSource creates or reuses the data source of the worklist; AdmitIngestion queues up until
the run is granted its turn; StartIngestion begins a job, or sends direct calls; ReleaseRun ends the
run unless more is open. Each does one short thing and ends: the state machine waits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from itertools import islice
from typing import Protocol

from stackroom.clock import utc_now
from stackroom.errors import (
    DataSourceBroken,
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    RecordChanged,
    RunSuperseded,
)
from stackroom.model.records import (
    Catalog,
    DataSource,
    Document,
    PerSourceType,
    PoolMember,
)
from stackroom.model.repositories import CatalogRegister, Documents
from stackroom.runs.admission import Admission
from stackroom.runs.bedrock_calls import NOT_FOUND
from stackroom.runs.capacity import Slots
from stackroom.runs.evidence import (
    REMOVAL_DEADLINE,
    BedrockEvidence,
    DocumentOutcome,
    Investigation,
    Verdict,
    is_overdue,
    verdict,
)
from stackroom.runs.ledger import Mode
from stackroom.runs.placement import DataSources, Placements, is_named_after
from stackroom.runs.run import MAX_STEPS, DocumentName, Run, RunOutcome, seconds_until_next_try
from stackroom.runs.run_leases import RunLeases, RunRequests, WorklistReader, is_shared
from stackroom.runs.user_caps import UserCaps
from stackroom.runs.verdicts import Settled, TaskResult, VerdictWriter
from stackroom.runs.work_queue import WorkQueue

_NAMED = 100  # documents that are named in a run's progress
_AT_ONCE = 500  # documents that one task proves


class Stage(Enum):
    GONE = auto()
    GOING = auto()  # look again a while later
    STUCK = auto()  # something is left that can't be removed, or is found all the same


@dataclass(frozen=True, kw_only=True)
class Takedown:
    """
    Deletes a catalog together with the data source that it has to itself.

    Deleting the data source removes all that it has indexed in one call. A document's record and
    its receipt follow once a search finds nothing of it; the catalog's own record goes last.
    """

    catalogs: CatalogRegister
    documents: Documents
    slots: Slots
    data_sources: DataSources
    investigation: Investigation
    verdict_writer: VerdictWriter
    pool: Sequence[PoolMember]
    now: Callable[[], datetime] = utc_now

    def step(self, catalog: Catalog) -> tuple[Stage, list[Settled]]:
        """
        Take the next step; return the stage reached and the documents that were removed. Safe to
        repeat.

        An upload to the catalog revokes its deletion, and then this stops: the next run finds the
        catalog without a data source, and gives it one. Raises KnowledgeBaseThrottled, and what a
        search raises.
        """
        catalog_id = catalog.catalog_id
        try:
            if catalog.source is not None:
                # Before it begins to go: nobody may find the catalog placed there after that.
                self.catalogs.clear_data_source(catalog_id)
            # It is found again after a crash by its slot, or else by its name alone.
            members = [member.knowledge_base_id for member in self.pool]
            home = self.slots.holder_of(catalog_id, members)
            homes = [home] if home is not None else members
            if not all(self._is_data_source_gone(each, catalog_id) for each in homes):
                return Stage.GOING, []
            settled, waits = self._prove(catalog, homes)
            if self.documents.page(catalog_id, after=None, limit=1).documents:
                return Stage.GOING if waits else Stage.STUCK, settled
            if home is not None:
                self.slots.free(home, catalog_id)
            self.catalogs.close(catalog)
        except RecordChanged:  # it is being deleted no more
            return Stage.GOING, []
        return Stage.GONE, settled

    def _is_data_source_gone(self, home: str, catalog_id: str) -> bool:
        there = self.data_sources.all(home)
        own = [each for name, each in there.items() if is_named_after(name, catalog_id)]
        return all(self.data_sources.remove(home, each) for each in own)

    def _prove(self, catalog: Catalog, homes: Sequence[str]) -> tuple[list[Settled], bool]:
        """
        Settle the documents that no search finds in any of the knowledge bases. Return them, and
        True if others may follow later.
        """
        documents = list(islice(self.documents.open_in(catalog.catalog_id), _AT_ONCE))
        gone = {each.document_id for each in documents}
        waits = len(documents) == _AT_ONCE
        for home in homes:
            for document, outcome in self._outcomes(catalog, home, documents):
                waits |= outcome is DocumentOutcome.WAIT
                if outcome is not DocumentOutcome.GONE:
                    gone.discard(document.document_id)
        proven = [
            (each, Verdict(outcome=DocumentOutcome.GONE))
            for each in documents
            if each.document_id in gone
        ]
        return self.verdict_writer.write(catalog, proven), waits

    def _outcomes(
        self, catalog: Catalog, home: str, documents: Sequence[Document]
    ) -> list[tuple[Document, DocumentOutcome]]:
        there, at = catalog.model_copy(update={"knowledge_base_id": home}), self.now()
        reports = [(there, each, _data_source_evidence(each, at=at)) for each in documents]
        known = self.investigation.complete(reports)
        return [(document, verdict(document, each).outcome) for _, document, each in known]


def _data_source_evidence(document: Document, *, at: datetime) -> BedrockEvidence:
    """Return the evidence of a document whose data source is gone with all that it had indexed."""
    return BedrockEvidence(
        detail=NOT_FOUND,
        is_removal=True,
        is_out=True,
        is_current=True,
        may_change=not is_overdue(document.updated_at, at, REMOVAL_DEADLINE),
        is_overdue=False,
    )


class Starting(Protocol):
    mode: Mode

    def start(self, run: Run, source: DataSource) -> TaskResult:
        """
        Begin as much as the run is granted; it queues up if others are before it. Safe to retry.
        """


@dataclass(frozen=True, kw_only=True)
class RunTasks:
    """
    The tasks of a run. The worklist of a catalog with its own data source has the catalog's id.
    """

    worklist_reader: WorklistReader
    documents: Documents
    placements: Placements
    starting: PerSourceType[Starting]
    queue: WorkQueue
    admission: Admission
    takedown: Takedown
    caps: UserCaps
    runs: RunLeases
    requests: RunRequests
    now: Callable[[], datetime] = utc_now

    def ensure(self, run: Run) -> TaskResult:
        """
        Create or reuse the catalog's data source, or take it down with a catalog that is to go.
        Safe to retry, because the data source is found by name.
        """
        if run.progress.delay:
            delay = run.progress.delay
            return TaskResult(run=run.with_outcome(RunOutcome.WAITING, wait_seconds=delay, delay=0))
        served = self.runs.renew(run.worklist_id, run.epoch).requested
        if is_shared(run.worklist_id):
            return TaskResult(run=run.with_outcome(RunOutcome.READY))
        worklist = self.worklist_reader.read(run.worklist_id)
        try:
            if (catalog := worklist.to_take_down) is not None:
                return self._take_down(run.with_progress(served=served), catalog)
            return TaskResult(run=self._ensure(run, worklist.catalog))
        except (KnowledgeBaseThrottled, KnowledgeBaseUnavailable):
            return TaskResult(run=_wait(run))  # back-pressure is waited out, never a failure

    def admit(self, run: Run, token: str) -> None:
        """Queue up; the run that grants admission wakes this one with the token. Safe to repeat."""
        self.runs.renew(run.worklist_id, run.epoch, parked=True)
        source = self.worklist_reader.read(run.worklist_id).source
        assert source is not None, "a run queues up where its data source is"
        mode = self.starting.of(source).mode
        # The run knows how many calls it can use when it is admitted.
        calls = self.admission.limits.direct_calls if mode is Mode.DIRECT else 1
        self.admission.enter(run.waiter(source, mode, at=self.now(), calls=calls, token=token))

    def start(self, run: Run) -> TaskResult:
        """Begin what the run is granted. Safe to retry: calls and jobs name their round."""
        # The counter before the list: what is asked for later keeps the run from ending.
        served = self.runs.renew(run.worklist_id, run.epoch).requested
        if run.progress.steps >= MAX_STEPS:
            # Only this run knows what is at work.
            return TaskResult(run=self._wind_up(run, RunOutcome.HAND_OVER, len(run.progress.calls)))
        worklist = self.worklist_reader.read(run.worklist_id)
        if worklist.source is None:
            self.admission.leave(run.worklist_id, run.epoch)
            return TaskResult(run=run.with_outcome(RunOutcome.NOTHING, calls=()))
        if worklist.to_take_down is not None:
            return TaskResult(run=self._wind_up(run, RunOutcome.MORE, run.progress.calls_at_work))
        starting = self.starting.of(worklist.source)
        return starting.start(run.with_progress(served=served), worklist.source)

    def release(self, run: Run) -> Run:
        """
        Check for work once more, and end the run if nothing is open and nobody has asked meanwhile.
        The counter is read first, and the lease goes back only if it is unchanged.

        Only `ensure` processes requests for a catalog that is to go. Safe to retry.
        """
        try:
            served = self.runs.renew(run.worklist_id, run.epoch).requested
        except RunSuperseded:
            if self.runs.has_ended(run.worklist_id, run.epoch):  # an earlier try's answer got lost
                return run.with_outcome(RunOutcome.RELEASED)
            raise
        self.admission.leave(run.worklist_id, run.epoch)
        worklist = self.worklist_reader.read(run.worklist_id)
        if worklist.to_take_down is not None:
            served = run.progress.served
        elif is_shared(run.worklist_id) and worklist.source is None:
            pass  # it waits for its knowledge base to come back to the pool
        elif self.queue.has_work(run):
            return run.with_outcome(RunOutcome.MORE, waits=0)
        is_over = self.runs.leases.release(run.worklist_id, run.epoch, served=served)
        return run.with_outcome(RunOutcome.RELEASED if is_over else RunOutcome.MORE, waits=0)

    def hand_over(self, run: Run) -> Run:
        self.runs.hand_over(run.worklist_id, run.epoch)
        return run.with_outcome(RunOutcome.HANDED_OVER)

    def _ensure(self, run: Run, catalog: Catalog | None) -> Run:
        if catalog is None:
            return run.with_outcome(RunOutcome.NOTHING)
        if next(self.documents.open_in(run.worklist_id, limit=1), None) is None:
            return run.with_outcome(RunOutcome.NOTHING)
        source, is_available = self.placements.ensure(catalog)
        if source.is_shared:
            self.requests.ask(run.worklist_id)  # the run of that data source sees to it
            return run.with_outcome(RunOutcome.NOTHING)
        if is_available:
            return run.with_outcome(RunOutcome.READY, waits=0)
        if run.progress.steps >= MAX_STEPS:
            raise DataSourceBroken(source.data_source_id, "not available after half a day")
        return _wait(run)

    def _wind_up(self, run: Run, outcome: RunOutcome, calls: int) -> Run:
        """
        Return the run that sends nothing more, and ends with that outcome once so many calls are
        over.
        """
        if calls:
            seconds = seconds_until_next_try(run.progress.waits)
            return run.with_outcome(RunOutcome.STARTED, wait_seconds=seconds, is_more=True)
        self.admission.leave(run.worklist_id, run.epoch)
        return run.with_outcome(outcome, calls=())

    def _take_down(self, run: Run, catalog: Catalog) -> TaskResult:
        self.caps.release(catalog.user_id, at=catalog.catalog_id)
        stage, settled = self.takedown.step(catalog)
        moved = run.counted(removed=len(settled))
        if stage is Stage.GOING:
            moved = _wait(moved)
        elif stage is Stage.STUCK:  # the reconciler asks for another run
            left = self.documents.open_in(catalog.catalog_id, limit=_NAMED)
            moved = moved.with_outcome(
                RunOutcome.NOTHING, set_aside=tuple(map(DocumentName.of, left))
            )
        else:
            moved = moved.with_outcome(RunOutcome.NOTHING)
        return TaskResult(run=moved, settled=settled)


def _wait(run: Run) -> Run:
    if run.progress.steps >= MAX_STEPS:
        return run.with_outcome(RunOutcome.HAND_OVER)
    return run.trying_later(RunOutcome.WAITING)
