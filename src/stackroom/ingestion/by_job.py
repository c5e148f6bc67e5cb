"""
By ingestion jobs: what a data source of type S3 takes, and those of MANAGED knowledge bases.

A job takes up all there is under the prefix, tries again what failed before, and gives its failure
reasons for all files together. What is open is bound to its id, and settled by it. A rejected file
stays in the index as nobody's: a job that came after its sidecar has made it so.
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from urllib.parse import quote

from stackroom.clock import utc_now
from stackroom.documents.bucket import DocumentBucket
from stackroom.documents.model import Catalog, DataSource, Document, DocumentStatus
from stackroom.documents.repositories import Catalogs, Documents
from stackroom.ingestion.bedrock_calls import Busy, IngestionJobs, Job, JobState
from stackroom.ingestion.bedrock_evidence import (
    INDEXED,
    JOB_DEADLINE,
    DetailsByUri,
    DocumentEvidence,
    is_overdue,
    job_evidence,
)
from stackroom.ingestion.direct_calls import is_of_calls
from stackroom.ingestion.strategy import Look, Started
from stackroom.quota.grants import Admission
from stackroom.quota.ledger import Mode, Waiter
from stackroom.quota.schedule import PATIENCE
from stackroom.quota.workload import Did, demand_of_job
from stackroom.runs.run import Run, RunOutcome, until_first_look, until_next_try

_AT_ONCE = 500  # documents that are kept in memory
_STOPPING = 3600.0  # seconds of grace for StopIngestionJob, which takes about half a minute


@dataclass(frozen=True, kw_only=True)
class JobLook(Look):
    job: Job | None = None


@dataclass(frozen=True, kw_only=True)
class ByJobs:
    """The worklist of a data source that takes jobs is one catalog's, and named like it."""

    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    jobs: IngestionJobs
    admission: Admission
    now: Callable[[], datetime] = utc_now

    mode = Mode.JOB

    def waiter(self, run: Run, source: DataSource, token: str) -> Waiter:
        demand = demand_of_job(self.documents.open_in(run.worklist_id))
        since = run.progress.waiting_since
        assert since is not None, "set when it was queued"
        return Waiter(
            worklist_id=run.worklist_id,
            epoch=run.epoch,
            knowledge_base_id=source.knowledge_base_id,
            mode=self.mode,
            since=since + (PATIENCE if demand.is_large else timedelta()),
            calls=1,
            token=token,
            size=demand.size,
        )

    def start(self, run: Run, source: DataSource) -> Started:
        """The client token names the round, so that a second try gets the first one's job."""
        if (left := self._left_behind(run)) is not None:
            # Of a run that broke, or a task that was cut short: settle that job first.
            return Started(run=self._began(run, left))
        if next(self.documents.open_in(run.worklist_id, limit=1), None) is None:
            self.admission.leave(run.worklist_id, run.epoch)
            return Started(run=run.went(RunOutcome.NOTHING))
        grant = self.admission.claim(run.worklist_id, run.epoch)
        if grant is None:
            since = run.progress.waiting_since or self.now()
            return Started(run=run.went(RunOutcome.QUEUED, waiting_since=since))
        asked_at = self.now()
        if grant.start_at is not None and grant.start_at > asked_at:
            seconds = math.ceil((grant.start_at - asked_at).total_seconds())
            return Started(run=run.went(RunOutcome.BUSY, wait_seconds=seconds))
        job = self._start(run, source)
        if isinstance(job, Busy):
            waits = run.progress.waits
            seconds = until_next_try(waits, jitter=True)
            busy = run.went(RunOutcome.BUSY, wait_seconds=seconds, waits=waits + 1)
            return Started(run=busy)
        # What has come since may have missed this job; it has another.
        work = (
            each
            for each in self.documents.open_in(run.worklist_id)
            if _is_to_be_taken_up(each) and each.updated_at <= asked_at
        )
        sent = 0
        while batch := list(islice(work, _AT_ONCE)):
            sent += len(self.documents.save_all(self._taken_up(each, job) for each in batch))
        self.admission.dispatch()  # the next start can be reserved now
        return Started(run=self._began(run, job.job_id).counted(sent=sent))

    def look(self, run: Run, source: DataSource) -> JobLook:
        """Stops a job that is past its deadline."""
        assert run.progress.job_id is not None, "a run that waits has a job"
        job = self.jobs.get(source, run.progress.job_id)
        at_work = 0
        if job is not None and job.state is JobState.RUNNING:
            is_given_up = is_overdue(job.started_at, self.now(), JOB_DEADLINE + _STOPPING)
            if is_overdue(job.started_at, self.now(), JOB_DEADLINE) and not is_given_up:
                self.jobs.stop(source, job.job_id)
            at_work = 0 if is_given_up else 1
        return JobLook(
            run=run,
            at_work=at_work,
            began_at=job.started_at if job is not None else None,
            did=self._did(run, job) if job is not None and not at_work else None,
            failed_documents=job.failed_documents if job is not None else 0,
            job=job,
        )

    def evidence(
        self, look: JobLook, source: DataSource
    ) -> tuple[JobLook, Sequence[DocumentEvidence]]:
        """
        And of those that failed before and that the job has indexed after all; else answers would
        show what reads `failed`.
        """
        if look.at_work:
            return look, []
        catalog = self.catalogs.get(look.run.worklist_id)
        assert catalog is not None, "a catalog outlives its runs"
        documents = self._open_or_failed(catalog)
        taken = [each for each in documents if _is_of(look.run, each)]
        failed = [each for each in documents if _is_tried_again(each)]
        said = DetailsByUri(jobs=self.jobs, bucket=self.bucket)
        details = said.of(source, taken + failed)
        indexed_after_all = [each for each in failed if details[each.document_id].status in INDEXED]
        # The job's own count has those again that failed once more.
        failed_anew = look.failed_documents - (len(failed) - len(indexed_after_all))
        # A failure reason may name any file of the catalog.
        reasons = self._failure_reasons(documents, look.job)
        at = self.now()
        return replace(look, failed_documents=max(0, failed_anew)), [
            (
                catalog,
                each,
                job_evidence(
                    each,
                    details[each.document_id],
                    look.job,
                    failure_reason=reasons.get(each.document_id),
                    at=at,
                ),
            )
            for each in taken + indexed_after_all
        ]

    def _open_or_failed(self, catalog: Catalog) -> list[Document]:
        listed = list(self.documents.open_in(catalog.catalog_id))
        failed = self.documents.failed_in(catalog.catalog_id)
        return listed + [each for each in failed if not each.is_open]

    def _left_behind(self, run: Run) -> str | None:
        """The job of documents that are `indexing` though nobody waits for it."""
        return next(
            (
                each.ingestion_job_id
                for each in self.documents.open_in(run.worklist_id)
                if each.status is DocumentStatus.INDEXING and not is_of_calls(each)
            ),
            None,
        )

    def _began(self, run: Run, job_id: str) -> Run:
        return run.went(
            RunOutcome.STARTED,
            job_id=job_id,
            is_more=False,
            round=run.progress.round + 1,
            wait_seconds=until_first_look(self.mode),
            waits=0,
            waiting_since=None,
        )

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

    def _failure_reasons(self, documents: Sequence[Document], job: Job | None) -> dict[str, str]:
        """By document id."""
        uris = {each.document_id: self.bucket.uri_of(each.s3_key) for each in documents}
        named = reasons_by_uri(uris.values(), job.failure_reasons if job else ())
        return {each: named[uri] for each, uri in uris.items() if uri in named}

    def _did(self, run: Run, job: Job) -> Did | None:
        """Of its grant's size, which admission knows: by Bedrock's clock, not by our looks."""
        grant = self.admission.grant_of(run.worklist_id, run.epoch)
        if grant is None:
            return None
        seconds = (job.updated_at - job.started_at).total_seconds()
        return Did(mode=self.mode, size=grant.size, seconds=max(0.0, seconds))


def _is_to_be_taken_up(document: Document) -> bool:
    waits = document.status in (DocumentStatus.PENDING, DocumentStatus.DELETING)
    return waits or document.lingering or is_of_calls(document)


def _is_of(run: Run, document: Document) -> bool:
    """Whether the run's job has taken the document up, and it is not settled."""
    is_bound = document.ingestion_job_id == run.progress.job_id
    if document.status is DocumentStatus.FAILED:
        return is_bound and document.lingering
    return is_bound and document.status in (DocumentStatus.INDEXING, DocumentStatus.DELETING)


def _is_tried_again(document: Document) -> bool:
    """Whether every job tries the failed document again, as Bedrock does with what lies there."""
    failed = document.status is DocumentStatus.FAILED and not document.lingering
    return failed and not document.is_rejected


def _token(description: str) -> str:
    # clientToken: 33 to 256 characters [API model]; a SHA-256 in hex has 64.
    return hashlib.sha256(description.encode()).hexdigest()


# Which files a job's failure reasons name.

_END = r"(?=$|[,;\]'\"\s]|\.(?:\s|$))"


def reasons_by_uri(uris: Iterable[str], reasons: Iterable[str]) -> dict[str, str]:
    """
    The reason that names each URI, of those that any names.

    Give all URIs that there are, not just those of interest: `s3://b/a.txt copy.txt` begins with
    another document's name, and only the longest that fits is meant. A reason that files share
    lists them all at its end; nobody needs to read the others' names.
    """
    reasons = list(reasons)
    if not reasons:
        return {}
    spelled = {spelling: uri for uri in uris for spelling in (quote(uri, safe=":/"), uri)}
    longest_first = sorted(spelled, key=len, reverse=True)
    named = re.compile(f"({'|'.join(map(re.escape, longest_first))}){_END}")
    found: dict[str, str] = {}
    for reason in reasons:
        for match in named.finditer(reason):
            found.setdefault(spelled[match[1]], reason.partition(" [Files:")[0])
    return found
