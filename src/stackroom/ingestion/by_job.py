"""
Rounds at a catalog's own data source: one ingestion job takes up all there is.

A round binds what is pending, being deleted or lingering in the index to its job's id; settlement
asks later what became of exactly those. Rejected files come first, in a round without a job.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from stackroom.admission.admission import Admission
from stackroom.clock import utc_now
from stackroom.ingestion.direct_calls import is_of_calls
from stackroom.ingestion.open_work import is_work
from stackroom.ingestion.rounds import busy, started
from stackroom.model import DataSource, Document, DocumentStatus
from stackroom.ports.admission import Grant
from stackroom.ports.documents import Documents
from stackroom.ports.ingestion import Busy, IngestionJobs, Job
from stackroom.runs.progress import Run
from stackroom.settlement.eviction import Eviction
from stackroom.settlement.rounds import eviction_id

_AT_ONCE = 500  # documents that are kept in memory


@dataclass(frozen=True, kw_only=True)
class JobRounds:
    """Safe to retry: the client token names the round, and a second call gets the first's job."""

    documents: Documents
    jobs: IngestionJobs
    eviction: Eviction
    admission: Admission
    now: Callable[[], datetime] = utc_now
    pause: Callable[[float], None] = time.sleep

    def begin(self, run: Run, source: DataSource, grant: Grant, *, served: int) -> Run:
        if left := self._left_behind(run):
            # A job that a broken run or a cut short task left: settle that first. It has served no
            # request, so that the run can't end before it has listed again.
            return started(run, left, served=0)
        if evicted := self._to_evict(run, source):
            return self._evict(run, source, evicted)
        if grant.start_at is not None:
            # At most one interval between two starts, which a waiting state would not make cheaper.
            self.pause(max(0.0, (grant.start_at - self.now()).total_seconds()))
        asked_at = self.now()
        job = self._start(run, source)
        if isinstance(job, Busy):
            return busy(run)
        # What has come since may have missed this job; it has another.
        work = (
            each
            for each in self.documents.open_in(run.worklist_id)
            if (is_work(each) or is_of_calls(each)) and each.updated_at <= asked_at
        )
        while batch := list(islice(work, _AT_ONCE)):
            self.documents.save_all(self._taken_up(each, job) for each in batch)
        self.admission.dispatch()  # the next start can be reserved now
        return started(run, job.job_id, served=served)

    def _left_behind(self, run: Run) -> str | None:
        """The job of documents that a broken run left `indexing`."""
        return next(
            (
                each.ingestion_job_id
                for each in self.documents.open_in(run.worklist_id)
                if each.status is DocumentStatus.INDEXING and not is_of_calls(each)
            ),
            None,
        )

    def _to_evict(self, run: Run, source: DataSource) -> list[Document]:
        """Rejected files, which a job would leave there; a first job may have yet to come."""
        found = (each for each in self.documents.open_in(run.worklist_id) if each.is_to_evict)
        named = list(islice(filter(self.eviction.can_name, found), _AT_ONCE))
        return named if named and self.jobs.is_synced(source) else []

    def _evict(self, run: Run, source: DataSource, wanted: list[Document]) -> Run:
        """Bound first, as for a job; what else there is to do, another round does."""
        round_id = eviction_id(run.epoch, run.progress.round)
        bound = [each for each in wanted if each.ingestion_job_id == round_id]
        others = [each for each in wanted if each.ingestion_job_id != round_id]
        bound += self.documents.save_all(self._evicted(each, round_id) for each in others)
        if self.eviction.ask(source, bound) is not None:
            return busy(run)
        return started(run, round_id, served=0)

    def _evicted(self, document: Document, round_id: str) -> Document:
        """As of now, for it must be out by a deadline."""
        attempts = document.attempts + 1
        changes = {"ingestion_job_id": round_id, "attempts": attempts, "updated_at": self.now()}
        return document.model_copy(update=changes)

    def _start(self, run: Run, source: DataSource) -> Job | Busy:
        description = f"{run.worklist_id} run {run.epoch} round {run.progress.round}"
        job = self.jobs.start(source, token=_token(description), description=description)
        if isinstance(job, Busy):
            # The answer to our own call may have been lost: then the job in the way is ours.
            return self.jobs.running(source, description=description) or job
        return job

    def _taken_up(self, document: Document, job: Job) -> Document:
        taken = document
        if document.status is DocumentStatus.PENDING:
            taken = document.moved(DocumentStatus.INDEXING, at=self.now())
        return taken.model_copy(
            update={"ingestion_job_id": job.job_id, "attempts": document.attempts + 1}
        )


def _token(description: str) -> str:
    # clientToken: 33 to 256 characters [API model]; a SHA-256 in hex has 64.
    return hashlib.sha256(description.encode()).hexdigest()
