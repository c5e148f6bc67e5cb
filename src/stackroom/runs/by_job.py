"""Ingestion by jobs, for data sources of type S3 and those of MANAGED knowledge bases."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from stackroom.clock import utc_now
from stackroom.concurrency import chunks
from stackroom.model.bucket import DocumentBucket
from stackroom.model.keys import digest
from stackroom.model.records import DataSource, Document, DocumentStatus
from stackroom.model.repositories import Catalogs, Documents
from stackroom.model.usage import Call, UsageBook, count_ingested
from stackroom.runs.admission import Admission
from stackroom.runs.bedrock_calls import (
    NOT_FOUND,
    Busy,
    DocumentDetail,
    IngestionJobs,
    Job,
    JobState,
)
from stackroom.runs.direct_calls import is_of_calls
from stackroom.runs.evidence import (
    ABSENT,
    INDEXED,
    MAX_ATTEMPTS,
    NEVER_TAKEN_UP,
    REMOVAL_DEADLINE,
    UNDER_WAY,
    BedrockEvidence,
    DocumentEvidence,
    is_overdue,
)
from stackroom.runs.ledger import CompletedWork, Mode
from stackroom.runs.run import Run, RunOutcome, seconds_until_first_poll, seconds_until_next_try
from stackroom.runs.user_caps import UserCaps
from stackroom.runs.verdicts import PollResult, TaskResult
from stackroom.runs.work_queue import with_nothing_to_do

# Seconds from when Bedrock accepted a job; waiting for a grant has no deadline. The largest job
# allowed (100 GB, 5,000,000 files) is far from a catalog's size.
JOB_DEADLINE = 12 * 3600.0
_AT_ONCE = 500  # documents that are kept in memory
_MOST_CHECKED = 100  # documents, for one that is due: those that Bedrock failed over come last
_STOPPING = 3600.0  # seconds of grace for StopIngestionJob, which takes about half a minute


@dataclass(frozen=True, kw_only=True)
class ByJobs:
    """
    Ingests with jobs. The worklist of such a data source belongs to one catalog and has its id.
    """

    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    jobs: IngestionJobs
    admission: Admission
    caps: UserCaps
    usage: UsageBook
    now: Callable[[], datetime] = utc_now

    mode = Mode.JOB

    def start(self, run: Run, source: DataSource) -> TaskResult:
        """
        Start the round's job. The client token names the round, so a second try gets the same job.
        """
        if (left := self._left_behind(run)) is not None:
            # A run that broke, or a task that was cut short, left it: settle that job first.
            return TaskResult(run=self._began(run, left))
        catalog = self.catalogs.get(run.worklist_id)
        assert catalog is not None, "a catalog outlives its runs"
        self.caps.hold_back_from_job(catalog)
        due = [
            each.retry_at for each in self.documents.open_in(run.worklist_id, limit=_MOST_CHECKED)
        ]
        next_try = None if None in due else min(filter(None, due), default=None)
        if not due or (next_try is not None and next_try > self.now()):
            self.admission.leave(run.worklist_id, run.epoch)
            return TaskResult(run=with_nothing_to_do(run, next_try, self.now()))
        grant = self.admission.claim(run.worklist_id, run.epoch)
        if grant is None:
            since = run.progress.waiting_since or self.now()
            return TaskResult(run=run.with_outcome(RunOutcome.QUEUED, waiting_since=since))
        asked_at = self.now()
        if grant.start_at is not None and grant.start_at > asked_at:
            seconds = math.ceil((grant.start_at - asked_at).total_seconds())
            return TaskResult(run=run.with_outcome(RunOutcome.BUSY, wait_seconds=seconds))
        job = self._start(run, source)
        if isinstance(job, Busy):
            waits = run.progress.waits
            seconds = seconds_until_next_try(waits, jitter=True)
            busy = run.with_outcome(RunOutcome.BUSY, wait_seconds=seconds, waits=waits + 1)
            return TaskResult(run=busy)
        # Documents that came since may have missed this job; they have another.
        work = (
            each
            for each in self.documents.open_in(run.worklist_id)
            if _is_to_be_taken_up(each) and each.updated_at <= asked_at
        )
        sent = 0
        users = {catalog.catalog_id: catalog.user_id}
        for number, some in enumerate(chunks(work, of=_AT_ONCE)):
            taking = [self._taken_up(each, job) for each in some]
            ingested = (each for each in taking if each.status is DocumentStatus.INDEXING)
            # Before: of what is bound to a job nobody looks again whether it was counted.
            call = Call(job.job_id, str(number))
            count_ingested(self.usage, users, ingested, at=asked_at, call=call)
            sent += len(self.documents.save_all(taking))
        self.admission.dispatch()  # the next start can be reserved now
        return TaskResult(run=self._began(run, job.job_id).counted(sent=sent))

    def poll(self, run: Run, source: DataSource) -> PollResult:
        """Poll the run's job, and stop a job that is past its deadline."""
        assert run.progress.job_id is not None, "a run that waits has a job"
        job = self.jobs.get(source, run.progress.job_id)
        if job is not None and job.state is JobState.RUNNING:
            is_given_up = is_overdue(job.started_at, self.now(), JOB_DEADLINE + _STOPPING)
            if is_overdue(job.started_at, self.now(), JOB_DEADLINE) and not is_given_up:
                self.jobs.stop(source, job.job_id)
            if not is_given_up:
                return PollResult(run=run, at_work=1, began_at=job.started_at)
        evidence, failed_documents = self._evidence(run, source, job)
        return PollResult(
            run=run,
            at_work=0,
            evidence=evidence,
            began_at=job.started_at if job is not None else None,
            completed=_completed_work(job, evidence) if job is not None else None,
            failed_documents=failed_documents,
        )

    def _evidence(
        self, run: Run, source: DataSource, job: Job | None
    ) -> tuple[list[DocumentEvidence], int]:
        """
        Return the evidence of each document of the run, and how many more the job counts as failed.

        This includes documents that failed before and that the job has indexed after all; otherwise
        answers would show documents that are `failed`.
        """
        catalog = self.catalogs.get(run.worklist_id)
        assert catalog is not None, "a catalog outlives its runs"
        listed = list(self.documents.open_in(catalog.catalog_id))
        listed += (
            each for each in self.documents.failed_in(catalog.catalog_id) if not each.is_open
        )
        taken = [each for each in listed if _is_of(run, each)]
        failed = [each for each in listed if _is_retried_by_jobs(each)]
        # A failure reason may name any file of the catalog.
        uris = {each.document_id: self.bucket.uri_of(each.s3_key) for each in listed}
        reasons = reasons_by_uri(uris.values(), job.failure_reasons if job else ())
        asked = [uris[each.document_id] for each in taken + failed]
        by_uri = self.jobs.details(source, asked) if asked else {}
        details = {document_id: by_uri.get(uri, NOT_FOUND) for document_id, uri in uris.items()}
        indexed_after_all = [each for each in failed if details[each.document_id].status in INDEXED]
        # The job's own count has those again that failed once more.
        counted = job.failed_documents if job is not None else 0
        failed_anew = counted - (len(failed) - len(indexed_after_all))
        at = self.now()
        return [
            (
                catalog,
                each,
                _job_evidence(
                    each,
                    details[each.document_id],
                    job,
                    failure_reason=reasons.get(uris[each.document_id]),
                    at=at,
                ),
            )
            for each in taken + indexed_after_all
        ], max(0, failed_anew)

    def _left_behind(self, run: Run) -> str | None:
        """Return the job of documents that are `indexing` without a run that waits for it."""
        for each in self.documents.open_in(run.worklist_id):
            if each.status is DocumentStatus.INDEXING and not is_of_calls(each):
                return each.ingestion_job_id
        return None

    def _began(self, run: Run, job_id: str) -> Run:
        return run.with_outcome(
            RunOutcome.STARTED,
            job_id=job_id,
            is_more=False,
            round=run.progress.round + 1,
            wait_seconds=seconds_until_first_poll(self.mode),
            waits=0,
            waiting_since=None,
        )

    def _start(self, run: Run, source: DataSource) -> Job | Busy:
        description = f"{run.worklist_id} run {run.epoch} round {run.progress.round}"
        token = digest(description)
        job = self.jobs.start(source, token=token, description=description)
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


def _completed_work(job: Job, evidence: Iterable[DocumentEvidence]) -> CompletedWork:
    """Return the time that Bedrock took for the job, by its clock."""
    seconds = (job.updated_at - job.started_at).total_seconds()
    size = sum(document.text_size for _, document, _ in evidence)
    return CompletedWork(mode=Mode.JOB, size=size, seconds=max(0.0, seconds))


def _is_to_be_taken_up(document: Document) -> bool:
    waits = document.status in (DocumentStatus.PENDING, DocumentStatus.DELETING)
    return waits or document.lingering or is_of_calls(document)


def _is_of(run: Run, document: Document) -> bool:
    """Return True if the run's job has taken the document up and it is not settled yet."""
    is_bound = document.ingestion_job_id == run.progress.job_id
    if document.status is DocumentStatus.FAILED:
        return is_bound and document.lingering
    return is_bound and document.status in (DocumentStatus.INDEXING, DocumentStatus.DELETING)


def _is_retried_by_jobs(document: Document) -> bool:
    """
    Return True if every job tries the failed document again, as Bedrock does with files that are
    still there.
    """
    failed = document.status is DocumentStatus.FAILED and not document.lingering
    return failed and not document.is_rejected


# The evidence that a job gives of a document. A job that is COMPLETE proves nothing of a single
# one: every job goes over all files under the prefix, and leaves the status of unchanged ones as an
# earlier job wrote it. So Bedrock's status counts only for the version that the round took up.

_CUT_SHORT = {JobState.FAILED, JobState.STOPPED}


def _job_evidence(
    document: Document,
    detail: DocumentDetail,
    job: Job | None,
    *,
    failure_reason: str | None,
    at: datetime,
) -> BedrockEvidence:
    """
    Return the evidence that a job gives of a document. `job` is None if Bedrock doesn't know it any
    more; `failure_reason` is the one that names the document.
    """
    is_this_version = _is_of_this_version(document, detail, job) or _is_passed_over(
        document, detail, job, failure_reason
    )
    return BedrockEvidence(
        detail=detail,
        is_removal=document.status is DocumentStatus.DELETING or document.is_to_evict,
        is_out=_saw_whole_prefix(document, job)
        if document.is_to_evict
        else detail.status in ABSENT,
        by_owner=document.is_to_evict,
        is_current=is_this_version and not _fell_with_its_job(detail, job, failure_reason),
        may_change=job is not None
        and _may_change(document, detail, job, is_this_version=is_this_version, at=at),
        is_unproven=_is_unproven(document, detail, job),
        is_overdue=job is not None and is_overdue(job.started_at, at, JOB_DEADLINE),
        why_never_taken_up=_why_never_taken_up(job),
        fell_with_job=job is not None and job.state in _CUT_SHORT and not job.failure_reasons,
        job_failure_reason=failure_reason,
    )


def _may_change(
    document: Document, detail: DocumentDetail, job: Job, *, is_this_version: bool, at: datetime
) -> bool:
    if document.status is DocumentStatus.DELETING:
        # A document that is no longer known may still be found for some seconds.
        overdue = is_overdue(job.updated_at, at, REMOVAL_DEADLINE)
        return detail.status in UNDER_WAY | ABSENT and not overdue
    if document.is_to_evict:
        return False  # the job has gone over it, or another must
    return (
        is_this_version
        and detail.status in UNDER_WAY
        and not is_overdue(job.started_at, at, JOB_DEADLINE)
    )


def _saw_whole_prefix(document: Document, job: Job | None) -> bool:
    """Return True if the job has seen the whole prefix since the file was rejected."""
    if job is None or job.state is not JobState.COMPLETE:
        return False
    return job.started_at >= document.updated_at


def _is_of_this_version(document: Document, detail: DocumentDetail, job: Job | None) -> bool:
    """
    Return True if Bedrock's status is about this version of the document.

    Either the job has written the status, or an earlier job did and this one, having gone over the
    whole bucket to its end, found that nothing has changed since. A job that started before this
    version was uploaded proves nothing of it: a run that adopts such a job, after a crash, has
    newer documents to bind to it.
    """
    reported_at = detail.updated_at
    if reported_at is None or job is None:
        return detail.status not in INDEXED
    if document.present_since is None or job.started_at < document.present_since:
        return False
    by_this_job = reported_at >= job.started_at
    unchanged = reported_at >= document.present_since and job.state is JobState.COMPLETE
    return by_this_job or unchanged


def _is_passed_over(
    document: Document, detail: DocumentDetail, job: Job | None, failure_reason: str | None
) -> bool:
    """
    Return True if job after job has gone over all files there and found nothing to do.

    Each began after this version was uploaded, so the index holds this version; only its status is
    older than we know the sidecar to be, which may have been written twice.
    """
    present_since = document.present_since
    if job is None or present_since is None or failure_reason is not None:
        return False
    reported_so_often = detail.status in INDEXED and document.attempts >= MAX_ATTEMPTS
    return reported_so_often and job.state is JobState.COMPLETE and job.started_at >= present_since


def _fell_with_its_job(detail: DocumentDetail, job: Job | None, failure_reason: str | None) -> bool:
    """
    Return True if the document failed because its job was cut short. Nothing need be wrong with the
    file, and another job may well index it.
    """
    cut_short = job is not None and job.state in _CUT_SHORT
    return cut_short and detail.status == "FAILED" and failure_reason is None


def _is_unproven(document: Document, detail: DocumentDetail, job: Job | None) -> bool:
    """
    Return True if `INDEXED` is left from before this job and no search has ever proved it.

    A document whose vectors were refused has that status, too [one project's finding], and later
    jobs that find it unchanged don't report the refusal again.
    """
    if detail.status not in INDEXED or document.indexed_at is not None or job is None:
        return False
    return detail.updated_at is None or detail.updated_at < job.started_at


def _why_never_taken_up(job: Job | None) -> str:
    if job is None or job.state is JobState.COMPLETE:
        return NEVER_TAKEN_UP
    reasons = "; ".join(job.failure_reasons) or "Bedrock gave no reason"
    return f"{MAX_ATTEMPTS} ingestion jobs ended {job.state} ({reasons}); drop it again to retry"


# The files that a job's failure reasons name.

_END = r"(?=$|[,;\]'\"\s]|\.(?:\s|$))"


def reasons_by_uri(uris: Iterable[str], reasons: Iterable[str]) -> dict[str, str]:
    """
    Return the failure reason that names each URI, for the URIs that a reason names.

    Pass all URIs of the catalog, not only those of interest: `s3://b/a.txt copy.txt` begins with
    another document's name, and only the longest match counts. A reason that files share lists them
    all at its end; that list is cut off, because nobody needs to read the others' names.
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
