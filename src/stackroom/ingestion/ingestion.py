"""
A run's way through its rounds: one turn after another until nothing is left to do.

A round takes up what is pending, being deleted or lingering in the index, and binds it to its
job's id; settlement asks later what became of exactly those. On a shared data source
direct calls stand in for the job (ingestion.direct).
"""

import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from stackroom.admission.admission import Admission
from stackroom.clock import utc_now
from stackroom.errors import DataSourceBroken, KnowledgeBaseThrottled
from stackroom.ingestion.direct import BATCH, DirectIngestion, Turn
from stackroom.model import (
    Catalog,
    CatalogStatus,
    DataSource,
    DataSourceType,
    Document,
    DocumentStatus,
)
from stackroom.ports.admission import Grant, Mode, Waiter
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.ingestion import Busy, IngestionJobs, Job
from stackroom.runs.leases import Runs
from stackroom.runs.placement import Placement, Placements
from stackroom.runs.progress import MAX_STEPS, Run, RunOutcome, waiting_time
from stackroom.runs.teardown import Teardown
from stackroom.runs.totals import update_totals


@dataclass(frozen=True, kw_only=True)
class Ingestion:
    catalogs: Catalogs
    documents: Documents
    jobs: IngestionJobs
    placements: Placements
    admission: Admission
    direct: DirectIngestion
    teardown: Teardown
    runs: Runs
    now: Callable[[], datetime] = utc_now
    pause: Callable[[float], None] = time.sleep

    def ensure_data_source(self, run: Run) -> Run:
        if run.progress.delay:
            return run.went(RunOutcome.WAITING, wait_seconds=run.progress.delay, delay=0)
        # The counter before the list: what is asked for later makes the release fail.
        served = self.runs.renew(run.catalog_id, run.epoch).requested
        catalog = self.catalogs.get(run.catalog_id)
        if catalog is None:
            return run.went(RunOutcome.GONE, served=served)
        documents = list(self.documents.of_catalog(run.catalog_id))
        if not any(map(_is_open, documents)):
            return self._finish(run, catalog, documents, served)
        try:
            placement, source = self.placements.ensure(catalog)
        except KnowledgeBaseThrottled:
            return self._wait(run)  # back-pressure is waited out, never a failure
        if placement is Placement.WAITING:
            if run.progress.steps >= MAX_STEPS:
                raise DataSourceBroken(source.data_source_id, "not available after half a day")
            return self._wait(run)
        self._update_totals(run, documents, CatalogStatus.INDEXING)
        return run.went(
            RunOutcome.PLACED,
            polls=0,
            # Its place in the queue, however often the next task is repeated.
            waiting_since=run.progress.waiting_since or self.now(),
            calls=_calls(documents),
        )

    def admit(self, run: Run, token: str) -> None:
        """Queue up for a turn; whoever grants it wakes the run with the token. Safe to repeat."""
        self.runs.renew(run.catalog_id, run.epoch, parked=True)
        catalog = self.catalogs.get(run.catalog_id)
        assert catalog is not None, "a catalog outlives its runs"
        source = catalog.source
        assert source is not None, "a run queues up where its catalog is placed"
        assert run.progress.waiting_since is not None, "set when the catalog was placed"
        self.admission.enter(
            Waiter(
                catalog_id=run.catalog_id,
                epoch=run.epoch,
                knowledge_base_id=source.knowledge_base_id,
                mode=_mode(source),
                since=run.progress.waiting_since,
                calls=run.progress.calls if _mode(source) is Mode.SHARED else 1,
                token=token,
            )
        )

    def start(self, run: Run) -> tuple[Run, Turn]:
        """
        Take up what there is to do, and what came of it if that shows already. Safe to retry.
        """
        if run.progress.steps >= MAX_STEPS:
            self.admission.leave(run.catalog_id, run.epoch)
            return run.went(RunOutcome.HAND_OVER), Turn()
        served = self.runs.renew(run.catalog_id, run.epoch).requested
        catalog = self.catalogs.get(run.catalog_id)
        if catalog is None or (source := catalog.source) is None:
            return self._nothing(run, served), Turn()
        documents = list(self.documents.of_catalog(run.catalog_id))
        if not any(map(_is_open, documents)):  # an earlier try of this task has done it all
            return self._done(run, documents, served), Turn()
        grant = self.admission.claim(run.catalog_id, run.epoch, calls=_calls(documents))
        if grant is None or grant.knowledge_base_id != source.knowledge_base_id:
            # It came too late for its turn. Its place in the queue is as good as it was.
            return run.went(RunOutcome.GRANT_OVER, calls=_calls(documents)), Turn()
        if source.type is DataSourceType.CUSTOM:
            return self._directly(run, catalog, grant, documents, served=served)
        return self._by_job(run, source, grant, documents, served=served), Turn()

    def _by_job(
        self, run: Run, source: DataSource, grant: Grant, documents: list[Document], *, served: int
    ) -> Run:
        """Safe to retry: the client token names the round, and a second call gets the first's."""
        if left := _left_behind(documents):
            # A job that a broken run or a cut short task left: settle that first. It has served no
            # request, so that the run can't end before it has listed again.
            return self._started(run, left, served=0)
        if grant.start_at is not None:
            # At most one interval between two starts, which a waiting state would not make cheaper.
            self.pause(max(0.0, (grant.start_at - self.now()).total_seconds()))
        job = self._start_job(run, source)
        if isinstance(job, Busy):
            return self._busy(run)
        self.documents.save_all(self._taken_up(each, job) for each in documents if _is_work(each))
        self.admission.dispatch()  # the next start can be reserved now
        return self._started(run, job.job_id, served)

    def _directly(
        self,
        run: Run,
        catalog: Catalog,
        grant: Grant,
        documents: list[Document],
        *,
        served: int,
    ) -> tuple[Run, Turn]:
        source = catalog.source
        assert source is not None, "the run has queued up there"
        round_id = f"direct-{run.epoch}-{run.progress.round}"
        turn = self.direct.work(catalog, source, grant, filter(_is_open, documents), round_id)
        if turn.at_work:
            # The turn is kept while calls are at work, and what else there is waits for them.
            if not turn.calls_at_work:
                self.admission.leave(run.catalog_id, run.epoch)
            moved = self._started(run, round_id, 0 if turn.left or turn.again else served)
            progress = moved.progress.model_copy(update={"accepted_at": turn.accepted_at})
            return moved.model_copy(update={"progress": progress}), turn
        if turn.refused:
            # Others may get through elsewhere. It queues up again in its old place, after a while.
            self.admission.leave(run.catalog_id, run.epoch)
            return self._busy(run), turn
        self.admission.leave(run.catalog_id, run.epoch)
        left = list(self.documents.of_catalog(run.catalog_id))
        waiting = any(_is_open(each) for each in left if each.document_id not in turn.passed_over)
        if not waiting:
            return self._done(run, left, served), turn
        self._update_totals(run, left, CatalogStatus.INDEXING)
        # To the end of the queue: whoever waited meanwhile comes first.
        next_turn = run.went(
            RunOutcome.GRANT_OVER,
            waiting_since=self.now(),
            calls=_calls(left),
            round=run.progress.round + 1,
            polls=0,
        )
        return next_turn, turn

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

    def _finish(self, run: Run, catalog: Catalog, documents: list[Document], served: int) -> Run:
        """Nothing to do, unless it is to go and is empty now."""
        if catalog.status is not CatalogStatus.DELETING:
            self._update_totals(run, documents, CatalogStatus.READY)
            return self._nothing(run, served)
        if documents:  # what is left can't be removed; its owner may retry
            return self._nothing(run, served)
        try:
            gone = self.teardown.step(catalog)
        except KnowledgeBaseThrottled:
            gone = False
        return run.went(RunOutcome.GONE, served=served) if gone else self._wait(run)

    def _done(self, run: Run, documents: list[Document], served: int) -> Run:
        self._update_totals(run, documents, CatalogStatus.READY)
        # An emptied catalog may be one to take apart: having served no request, the run looks.
        return self._nothing(run, served if documents else 0)

    def _nothing(self, run: Run, served: int) -> Run:
        self.admission.leave(run.catalog_id, run.epoch)
        return run.went(RunOutcome.NOTHING, served=served, waiting_since=None, polls=0)

    def _wait(self, run: Run) -> Run:
        if run.progress.steps >= MAX_STEPS:
            return run.went(RunOutcome.HAND_OVER)
        polls = run.progress.polls
        return run.went(RunOutcome.WAITING, wait_seconds=waiting_time(polls), polls=polls + 1)

    def _busy(self, run: Run) -> Run:
        return run.went(
            RunOutcome.BUSY,
            wait_seconds=waiting_time(run.progress.polls, jitter=True),
            polls=run.progress.polls + 1,
        )

    def _start_job(self, run: Run, source: DataSource) -> Job | Busy:
        description = f"{run.catalog_id} run {run.epoch} round {run.progress.round}"
        job = self.jobs.start(source, token=_token(description), description=description)
        if isinstance(job, Busy):
            # The answer to our own call may have been lost: then the job in the way is ours.
            return self.jobs.running(source, description=description) or job
        return job

    def _started(self, run: Run, job_id: str, served: int) -> Run:
        return run.went(
            RunOutcome.STARTED,
            job_id=job_id,
            served=served,
            round=run.progress.round + 1,
            polls=0,
            wait_seconds=waiting_time(0),
            waiting_since=None,
            accepted_at=None,
        )

    def _taken_up(self, document: Document, job: Job) -> Document:
        taken = document
        if document.status is DocumentStatus.PENDING:
            taken = document.moved(DocumentStatus.INDEXING, at=self.now())
        return taken.model_copy(
            update={"ingestion_job_id": job.job_id, "attempts": document.attempts + 1}
        )

    def _update_totals(self, run: Run, documents: list[Document], status: CatalogStatus) -> None:
        update_totals(self.catalogs, run.catalog_id, documents, status, at=self.now())


def _is_work(document: Document) -> bool:
    return document.lingering or document.status in (
        DocumentStatus.PENDING,
        DocumentStatus.DELETING,
    )


def _is_open(document: Document) -> bool:
    """To be taken up, or taken up by a round that never came to its end."""
    return _is_work(document) or document.status is DocumentStatus.INDEXING


def _calls(documents: Iterable[Document]) -> int:
    """Direct calls that the catalog's work takes."""
    return max(1, -(-sum(map(_is_open, documents)) // BATCH))


def _mode(source: DataSource) -> Mode:
    return Mode.SHARED if source.type is DataSourceType.CUSTOM else Mode.EXCLUSIVE


def _left_behind(documents: list[Document]) -> str | None:
    """The job of documents that a broken run left `indexing`."""
    return next(
        (each.ingestion_job_id for each in documents if each.status is DocumentStatus.INDEXING),
        None,
    )


def _token(description: str) -> str:
    # clientToken: 33 to 256 characters [API model]; a SHA-256 in hex has 64.
    return hashlib.sha256(description.encode()).hexdigest()
