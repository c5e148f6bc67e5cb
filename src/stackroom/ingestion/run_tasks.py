"""
The tasks of the state machine that move a run on, round after round, until nothing is left to do.

ensure_data_source places the catalog, admit queues up, start begins a round (by_job or direct), the
poller follows it (stackroom.settlement), and release ends the run unless more was asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from stackroom.admission.admission import Admission
from stackroom.admission.demand import DEMANDS
from stackroom.admission.limits import PATIENCE
from stackroom.clock import utc_now
from stackroom.errors import DataSourceBroken, KnowledgeBaseThrottled
from stackroom.ingestion.endings import Endings
from stackroom.ingestion.rounds import DirectWork, Rounds
from stackroom.model import Catalog, CatalogStatus, PerSourceType
from stackroom.ports.admission import Waiter
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.runs.leases import Runs
from stackroom.runs.placement import Placement, Placements
from stackroom.runs.progress import MAX_STEPS, Run, RunOutcome, waiting_time
from stackroom.runs.teardown import Teardown


@dataclass(frozen=True, kw_only=True)
class RunTasks:
    catalogs: Catalogs
    documents: Documents
    placements: Placements
    admission: Admission
    rounds: PerSourceType[Rounds]
    endings: Endings
    teardown: Teardown
    runs: Runs
    now: Callable[[], datetime] = utc_now

    def ensure_data_source(self, run: Run) -> Run:
        if run.progress.delay:
            return run.went(RunOutcome.WAITING, wait_seconds=run.progress.delay, delay=0)
        # The counter before the list: what is asked for later makes the release fail.
        served = self.runs.renew(run.catalog_id, run.epoch).requested
        catalog = self.catalogs.get(run.catalog_id)
        if catalog is None:
            return run.went(RunOutcome.GONE, served=served)
        if not list(self.documents.open_in(run.catalog_id, limit=1)):
            return self._finish(run, catalog, served)
        return self._place(run, catalog)

    def admit(self, run: Run, token: str) -> None:
        """Queue up; whoever grants admission wakes the run with the token. Safe to repeat."""
        self.runs.renew(run.catalog_id, run.epoch, parked=True)
        catalog = self.catalogs.get(run.catalog_id)
        assert catalog is not None, "a catalog outlives its runs"
        source = catalog.source
        assert source is not None, "a run queues up where its catalog is placed"
        assert run.progress.waiting_since is not None, "set when the catalog was placed"
        demand = DEMANDS.of(source)
        want = demand.of(list(self.documents.open_in(run.catalog_id)))
        self.admission.enter(
            Waiter(
                catalog_id=run.catalog_id,
                epoch=run.epoch,
                knowledge_base_id=source.knowledge_base_id,
                mode=demand.mode,
                since=run.progress.waiting_since + (PATIENCE if want.is_large else timedelta()),
                calls=want.calls,
                token=token,
                size=want.size,
                is_large=want.is_large,
            )
        )

    def start(self, run: Run) -> tuple[Run, DirectWork]:
        """
        Take up what there is to do, and what came of it if that shows already. Safe to retry.
        """
        if run.progress.steps >= MAX_STEPS:
            self.admission.leave(run.catalog_id, run.epoch)
            return run.went(RunOutcome.HAND_OVER), DirectWork()
        served = self.runs.renew(run.catalog_id, run.epoch).requested
        catalog = self.catalogs.get(run.catalog_id)
        if catalog is None or (source := catalog.source) is None:
            return self.endings.nothing(run, served), DirectWork()
        work = list(self.documents.open_in(run.catalog_id))
        if not work:  # an earlier try of this task has done it all
            self.admission.leave(run.catalog_id, run.epoch)
            return self.endings.done(run, served), DirectWork()
        calls = DEMANDS.of(source).of(work).calls
        grant = self.admission.claim(run.catalog_id, run.epoch, calls=calls)
        if grant is None or grant.knowledge_base_id != source.knowledge_base_id:
            # It came too late for its grant. Its position in the queue is as good as it was.
            return run.went(RunOutcome.GRANT_OVER), DirectWork()
        return self.rounds.of(source).begin(run, catalog, source, grant, work, served=served)

    def release(self, run: Run) -> Run:
        released = self.runs.release(run.catalog_id, run.epoch, served=run.progress.served)
        return run.went(
            RunOutcome.RELEASED if released else RunOutcome.MORE,
            polls=0,
            job_id=None,
            waiting_since=None,
        )

    def hand_over(self, run: Run) -> Run:
        self.runs.hand_over(run.catalog_id, run.epoch)
        return run.went(RunOutcome.HANDED_OVER)

    def _place(self, run: Run, catalog: Catalog) -> Run:
        try:
            placement, source = self.placements.ensure(catalog)
        except KnowledgeBaseThrottled:
            return _wait(run)  # back-pressure is waited out, never a failure
        if placement is Placement.WAITING:
            if run.progress.steps >= MAX_STEPS:
                raise DataSourceBroken(source.data_source_id, "not available after half a day")
            return _wait(run)
        return run.went(
            RunOutcome.PLACED,
            polls=0,
            # Its position in the queue, however often the next task is repeated.
            waiting_since=run.progress.waiting_since or self.now(),
        )

    def _finish(self, run: Run, catalog: Catalog, served: int) -> Run:
        """Nothing to do, unless it is to go and is empty now."""
        if catalog.status is not CatalogStatus.DELETING:
            self.endings.settle_status(run)
            return self.endings.nothing(run, served)
        if not self.endings.is_emptied(run):  # what is left can't be removed; its owner may retry
            return self.endings.nothing(run, served)
        try:
            gone = self.teardown.step(catalog)
        except KnowledgeBaseThrottled:
            gone = False
        return run.went(RunOutcome.GONE, served=served) if gone else _wait(run)


def _wait(run: Run) -> Run:
    if run.progress.steps >= MAX_STEPS:
        return run.went(RunOutcome.HAND_OVER)
    polls = run.progress.polls
    return run.went(RunOutcome.WAITING, wait_seconds=waiting_time(polls), polls=polls + 1)
