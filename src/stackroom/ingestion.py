"""
A run's way through its rounds: one ingestion job after another until nothing is left to do.

A round takes up what is pending, being deleted or lingering in the index, and binds it to its
job's id; `stackroom.settlement` asks later what became of exactly those.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.errors import DataSourceBroken, KnowledgeBaseThrottled
from stackroom.model import CatalogStatus, Document, DocumentStatus
from stackroom.placement import NO_SLOT, Placement, Placements, source_of
from stackroom.ports import Busy, Catalogs, DataSource, Documents, IngestionJobs, Job
from stackroom.progress import MAX_TURNS, Outcome, Run, waiting_time
from stackroom.runs import MAX_FAILURES, Runs
from stackroom.verdicts import Fate, Settled


@dataclass(frozen=True, kw_only=True)
class Ingestion:
    catalogs: Catalogs
    documents: Documents
    jobs: IngestionJobs
    placements: Placements
    runs: Runs
    now: Callable[[], datetime] = utc_now

    def ensure_data_source(self, run: Run) -> Run:
        if run.progress.delay:
            return run.went(Outcome.WAITING, wait_seconds=run.progress.delay, delay=0)
        lease = self.runs.renew(run.catalog_id, run.epoch)
        catalog = self.catalogs.get(run.catalog_id)
        if catalog is None:
            return run.went(Outcome.GONE, served=lease.requested)
        try:
            placement = self.placements.ensure(catalog)
        except KnowledgeBaseThrottled:
            placement = Placement.WAITING  # back-pressure is waited out, never a failure
        if placement is Placement.WAITING and run.progress.turn >= MAX_TURNS:
            raise DataSourceBroken(str(catalog.data_source_id), "not available after half a day")
        polls = run.progress.polls
        return run.went(
            Outcome(placement.value),
            wait_seconds=waiting_time(polls),
            polls=polls + 1 if placement is Placement.WAITING else 0,
        )

    def refuse(self, run: Run) -> tuple[Run, list[Settled]]:
        """Fail what waits for a data source that is not to be had."""
        lease = self.runs.renew(run.catalog_id, run.epoch)
        documents = list(self.documents.of_catalog(run.catalog_id))
        waiting = [each for each in documents if each.status is DocumentStatus.PENDING]
        settled = self._fail(waiting, NO_SLOT)
        for document in documents:
            if document.status is DocumentStatus.DELETING:
                self.documents.remove(document)  # it never was in any index
                settled.append(Settled(document=document, fate=Fate.GONE))
        self._summarise(run.catalog_id, CatalogStatus.FAILED, documents)
        return run.went(Outcome.REFUSED, served=lease.requested), settled

    def start(self, run: Run) -> Run:
        """
        Take up what there is to do, with one job. Safe to retry: the client token names the round,
        so that a second call gets the first one's job.
        """
        if run.progress.turn >= MAX_TURNS:
            return run.went(Outcome.HAND_OVER)
        # The counter before the list: what is asked for later makes the release fail.
        served = self.runs.renew(run.catalog_id, run.epoch).requested
        catalog = self.catalogs.get(run.catalog_id)
        if catalog is None or (source := source_of(catalog)) is None:
            return run.went(Outcome.NOTHING, served=served)
        documents = list(self.documents.of_catalog(run.catalog_id))
        if left := _left_behind(documents):
            # A job that a broken run or a cut short task left: settle that first. It has served no
            # request, so that the run can't end before it has listed again.
            return self._started(run, left, served=0)
        work = [document for document in documents if _is_work(document)]
        self._summarise(
            run.catalog_id, CatalogStatus.INDEXING if work else CatalogStatus.READY, documents
        )
        if not work:
            return run.went(Outcome.NOTHING, served=served)
        job = self._start_job(run, source)
        if isinstance(job, Busy):
            return run.went(
                Outcome.BUSY,
                wait_seconds=waiting_time(run.progress.polls, jitter=True),
                polls=run.progress.polls + 1,
            )
        self.documents.save_all(self._taken_up(document, job) for document in work)
        return self._started(run, job.job_id, served)

    def release(self, run: Run) -> Run:
        released = self.runs.release(run.catalog_id, run.epoch, served=run.progress.served)
        return run.went(Outcome.RELEASED if released else Outcome.MORE, polls=0, job_id=None)

    def hand_over(self, run: Run) -> Run:
        self.runs.hand_over(run.catalog_id, run.epoch)
        return run.went(Outcome.HANDED_OVER)

    def record_failure(self, catalog_id: str, epoch: int, error: str) -> list[Settled]:
        """
        A run broke: another follows, later each time, and in the end its documents fail.

        Documents wait meanwhile, for a run mostly breaks over what a person mends soon.
        """
        lease = self.runs.held_by(catalog_id, epoch)
        if lease is None:
            return []  # another messenger of the same failure was first
        documents = list(self.documents.of_catalog(catalog_id))
        self._summarise(catalog_id, CatalogStatus.FAILED, documents)
        if lease.failures + 1 < MAX_FAILURES:
            self.runs.recover(lease)
            return []
        # Before the lease moves: a retry of this must still find it, and the documents.
        settled = self._fail(filter(_is_waiting, documents), _broken(error))
        if not self.runs.release(catalog_id, epoch, served=lease.requested):
            self.runs.recover(lease)  # more was dropped meanwhile
        return settled

    def sweep(self) -> tuple[list[str], list[Settled]]:
        """Follow every run that ended without a word; answers the names of those."""
        silent = self.runs.silent()
        why = "an execution that ended silently"
        settled = [
            each
            for lease in silent
            for each in self.record_failure(lease.catalog_id, lease.epoch, why)
        ]
        return [lease.execution_name for lease in silent], settled

    def _start_job(self, run: Run, source: DataSource) -> Job | Busy:
        description = f"{run.catalog_id} run {run.epoch} round {run.progress.round}"
        job = self.jobs.start(source, token=_token(description), description=description)
        if isinstance(job, Busy):
            # The answer to our own call may have been lost: then the job in the way is ours.
            return self.jobs.running(source, description=description) or job
        return job

    def _started(self, run: Run, job_id: str, served: int) -> Run:
        return run.went(
            Outcome.STARTED,
            job_id=job_id,
            served=served,
            round=run.progress.round + 1,
            polls=0,
            wait_seconds=waiting_time(0),
        )

    def _taken_up(self, document: Document, job: Job) -> Document:
        taken = document
        if document.status is DocumentStatus.PENDING:
            taken = document.moved(DocumentStatus.INDEXING, at=self.now())
        return taken.model_copy(
            update={"ingestion_job_id": job.job_id, "attempts": document.attempts + 1}
        )

    def _fail(self, documents: Iterable[Document], reason: str) -> list[Settled]:
        at = self.now()
        failed = self.documents.save_all(
            document.moved(DocumentStatus.FAILED, at=at, reason=reason) for document in documents
        )
        return [Settled(document=each, fate=Fate.FAILED) for each in failed]

    def _summarise(self, catalog_id: str, status: CatalogStatus, documents: list[Document]) -> None:
        count, size = totals(documents)
        self.catalogs.summarise(catalog_id, status=status, count=count, size=size, at=self.now())


def totals(documents: Iterable[Document]) -> tuple[int, int]:
    """How many documents a catalog has, and their bytes; what is being deleted counts no more."""
    sizes = [each.size for each in documents if each.status is not DocumentStatus.DELETING]
    return len(sizes), sum(sizes)


def _is_work(document: Document) -> bool:
    return document.lingering or document.status in (
        DocumentStatus.PENDING,
        DocumentStatus.DELETING,
    )


def _is_waiting(document: Document) -> bool:
    return document.status in (DocumentStatus.PENDING, DocumentStatus.INDEXING)


def _left_behind(documents: list[Document]) -> str | None:
    """The job of documents that a broken run left `indexing`."""
    return next(
        (each.ingestion_job_id for each in documents if each.status is DocumentStatus.INDEXING),
        None,
    )


def _token(description: str) -> str:
    # clientToken: 33 to 256 characters [API model]; a SHA-256 in hex has 64.
    return hashlib.sha256(description.encode()).hexdigest()


def _broken(error: str) -> str:
    return (
        f"the ingestion run broke {MAX_FAILURES} times, the last time with {error}; once your "
        "operator has mended it, drop the file again"
    )
