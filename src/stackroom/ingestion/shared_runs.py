"""
Runs of shared data sources: admitted, at work by direct calls, and over when nothing is open.

All catalogs on the shared data source of a knowledge base have one run, which goes on within one
task for as long as that may take. It is admitted there and then if nobody is before it; else the
state machine waits for its turn and comes back here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from stackroom.admission.admission import Admission
from stackroom.admission.demand import BATCH
from stackroom.admission.rates import Did
from stackroom.clock import utc_now
from stackroom.errors import KnowledgeBaseThrottled, RunSuperseded
from stackroom.ingestion.catalog_looks import CatalogLooks
from stackroom.ingestion.direct_calls import Call, round_id_of
from stackroom.ingestion.direct_round import DirectPorts, DirectRound
from stackroom.ingestion.handing_on import handed_on, taken_over
from stackroom.ingestion.lanes import SPARE
from stackroom.ingestion.rounds import DirectWork, busy
from stackroom.ingestion.shared_work import SharedWork
from stackroom.model import (
    Catalog,
    CatalogStatus,
    DataSource,
    DataSourceType,
    PoolMember,
)
from stackroom.ports.admission import Mode, Waiter
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.worklists import Worklists
from stackroom.runs.leases import Runs
from stackroom.runs.progress import MAX_STEPS, Run, RunOutcome
from stackroom.runs.teardown import Teardown
from stackroom.runs.worklists import home_of


@dataclass(frozen=True, kw_only=True)
class SharedRuns:
    catalogs: Catalogs
    documents: Documents
    worklists: Worklists
    admission: Admission
    runs: Runs
    ports: DirectPorts
    teardown: Teardown
    pool: Sequence[PoolMember]
    now: Callable[[], datetime] = utc_now

    def go_on(self, run: Run) -> tuple[Run, DirectWork]:
        """Safe to retry: a call that is sent again with the same documents is the same call."""
        if run.progress.steps >= MAX_STEPS:
            self.admission.leave(run.worklist_id, run.epoch)
            return run.went(RunOutcome.HAND_OVER), DirectWork()
        began = self.now()
        try:
            served = self.runs.renew(run.worklist_id, run.epoch).requested
        except RunSuperseded:
            if not self.runs.has_ended(run.worklist_id, run.epoch):
                raise
            # The answer of the task that released it got lost.
            return run.went(RunOutcome.RELEASED), DirectWork()
        source = self._source(run)
        if source is None:  # its catalogs stay where they are, and wait until it is back
            return self._released(run, served), DirectWork()
        work = SharedWork(
            looks=CatalogLooks(
                worklist_id=run.worklist_id,
                worklists=self.worklists,
                catalogs=self.catalogs,
                documents=self.documents,
                finish=self._finish,
            ),
            beside=self.ports.beside,
        )
        calls = taken_over(run.progress.calls_at_work, work, self.documents, at=self.now())
        grant = self.admission.claim(run.worklist_id, run.epoch, calls=self._limit)
        if grant is None:
            if not work.fill(BATCH) and not calls:
                return self._released(run, served), DirectWork()
            grant = self.admission.enter_at_once(self.waiter(run, source, work))
            if grant is None and not calls:
                return self._queued(run), DirectWork()
        round_ = DirectRound(
            ports=self._ports(calls),
            source=source,
            grant=grant,
            round_id=round_id_of(run),
            work=work,
            began=began,
            served=served,
            requested=lambda: self.runs.requested(run.worklist_id),
            calls=calls,
        )
        return self._after(run, round_, round_.go_on())

    def admit(self, run: Run, token: str) -> None:
        """Queue up; whoever grants admission wakes the run with the token. Safe to repeat."""
        source = self._source(run)
        assert source is not None, "a run queues up at a knowledge base of the pool"
        assert run.progress.waiting_since is not None, "set when it was not admitted at once"
        self.admission.enter(_waiter(run, source, self._limit, token, run.progress.waiting_since))

    def waiter(self, run: Run, source: DataSource, work: SharedWork) -> Waiter:
        calls = min(self._limit, work.waiting + SPARE)
        return _waiter(run, source, calls, "", run.progress.waiting_since or self.now())

    def _source(self, run: Run) -> DataSource | None:
        """Where the run ingests; None if that is in the pool no more."""
        home = home_of(run.worklist_id, self.pool)
        return None if home is None else _source_of(home)

    def _ports(self, calls: Sequence[Call]) -> DirectPorts:  # noqa: ARG002 - for other sources
        """`calls` are those at work."""
        return self.ports

    @property
    def _limit(self) -> int:
        return self.admission.limits.direct_calls

    def _after(self, run: Run, round_: DirectRound, work: DirectWork) -> tuple[Run, DirectWork]:
        work.failures = round_.work.failures
        if round_.calls:
            return self._more(run, round_), work
        if work.refused:
            # It queues up again in its old position after a while: others may get through.
            self.admission.leave(run.worklist_id, run.epoch)
            return busy(run), work
        if round_.lanes.grant is None and work.left:
            self.admission.leave(run.worklist_id, run.epoch)
            return self._queued(run, again=True), work
        if work.left:
            return self._more(run, round_), work
        if work.took is not None and work.calls:
            # By our clock, as everything that admission measures; of an average call.
            seconds = self.ports.pace.here(work.took)
            did = Did(mode=Mode.SHARED, size=work.size // work.calls, seconds=seconds)
            self.admission.finish(run.worklist_id, run.epoch, did=did)
        return self._released(run, round_.served), work

    def _released(self, run: Run, served: int) -> Run:
        self.admission.leave(run.worklist_id, run.epoch)
        is_over = self.runs.release(run.worklist_id, run.epoch, served=served)
        outcome = RunOutcome.RELEASED if is_over else RunOutcome.MORE
        return run.went(outcome, waiting_since=None, calls_at_work=(), round=run.progress.round + 1)

    def _queued(self, run: Run, *, again: bool = False) -> Run:
        """Behind those who came before it; or, once others are due, behind all who wait now."""
        since = None if again else run.progress.waiting_since
        return run.went(
            RunOutcome.PLACED,
            waiting_since=since or self.now(),
            calls_at_work=(),
            round=run.progress.round + 1,
        )

    def _more(self, run: Run, round_: DirectRound) -> Run:
        """The next task goes on where time was up."""
        return run.went(
            RunOutcome.MORE,
            calls_at_work=handed_on(round_.calls),
            waiting_since=run.progress.waiting_since,
            round=run.progress.round + 1,
        )

    def _finish(self, catalog: Catalog) -> bool:
        """Nothing is open in it any more; False if there is something to do yet, a while later."""
        if catalog.status is not CatalogStatus.DELETING:
            self.catalogs.settle_status(catalog.catalog_id, at=self.now())
            return True
        if self.documents.page(catalog.catalog_id, after=None, limit=1).documents:
            return True  # what is left can't be removed; its owner may retry
        try:
            return self.teardown.step(catalog)
        except KnowledgeBaseThrottled:
            return False


def _source_of(home: PoolMember) -> DataSource:
    return DataSource(
        knowledge_base_id=home.knowledge_base_id,
        data_source_id=home.data_source_id,
        type=DataSourceType.CUSTOM,
    )


def _waiter(run: Run, source: DataSource, calls: int, token: str, since: datetime) -> Waiter:
    return Waiter(
        worklist_id=run.worklist_id,
        epoch=run.epoch,
        knowledge_base_id=source.knowledge_base_id,
        mode=Mode.SHARED,
        since=since,
        calls=calls,
        token=token,
    )
