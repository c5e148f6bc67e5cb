"""
How far Bedrock's word on a document goes: pure, from what a job, or a direct call, tells.

A job that is COMPLETE says nothing of a single document: every job goes over all that lies under
the prefix, and leaves the status of what it finds unchanged as an earlier one wrote it. After a
direct call the word counts from the moment when Bedrock accepted it, by its own clock.
"""

from datetime import datetime

from stackroom.model import Document, DocumentStatus
from stackroom.ports.ingestion import NOT_FOUND, DocumentDetail, Job, JobState
from stackroom.settlement.evidence import Standing
from stackroom.settlement.statuses import ABSENT, INDEXED, UNDER_WAY
from stackroom.settlement.verdicts import MAX_ATTEMPTS

# Seconds from when Bedrock accepted a job; waiting for a grant has no deadline. The largest job
# allowed (100 GB, 5,000,000 files) is far from a catalog's size.
JOB_DEADLINE = 12 * 3600.0
# Seconds from when it accepted a direct call, whose files are at most 50 MB each.
_CALL_DEADLINE = 2 * 3600.0
# Seconds on AWS in which what a direct call has brought may not be seen: neither by
# GetKnowledgeBaseDocuments nor by a search. That it happens is measured by a user (rules
# document.unseen, retrieve.filtered-lag); how long, nobody has told. [assumed: document.unseen]
UNSEEN = 120.0
# Seconds in which what has been removed must be out of every search: "a few minutes" [Bedrock user
# guide: kb-data-source-sync-ingest]. Then it is removed again, for others wait behind it.
# [assumed: deletion.searches]
REMOVAL_DEADLINE = 600.0
_CUT_SHORT = {JobState.FAILED, JobState.STOPPED}
_NEVER_TAKEN_UP = f"{MAX_ATTEMPTS} ingestion jobs did not take the file up; drop it again to retry"


def after_job(
    document: Document,
    detail: DocumentDetail,
    job: Job | None,
    *,
    failure_reason: str | None,
    at: datetime,
) -> Standing:
    """`job` is None if Bedrock doesn't know it any more; `failure_reason` names the document."""
    told = _is_of_this_version(document, detail, job) or _is_passed_over(
        document, detail, job, failure_reason
    )
    return Standing(
        detail=detail,
        is_removal=document.status is DocumentStatus.DELETING or document.is_to_evict,
        is_out=_went_over(document, job) if document.is_to_evict else detail.status in ABSENT,
        by_owner=document.is_to_evict,
        is_current=told and not _fell_with_its_job(detail, job, failure_reason),
        may_change=job is not None and _may_change(document, detail, job, told=told, at=at),
        is_unproven=_is_unproven(document, detail, job),
        is_overdue=job is not None and is_overdue(job.started_at, at, JOB_DEADLINE),
        why_never_taken_up=_why_never_taken_up(job),
        job_failure_reason=failure_reason,
    )


def after_call(
    document: Document, detail: DocumentDetail, *, accepted_at: datetime, at: datetime
) -> Standing:
    """
    No later call tries a document again unless we do. Of one whose ingestion may be on its way in,
    seen by nobody, NOT_FOUND says nothing yet.
    """
    removal = document.status is not DocumentStatus.INDEXING
    # What was deleted while a call ingested it: nobody has asked Bedrock yet to remove it.
    is_asked_for = not removal or document.attempts > 0
    early = detail.updated_at is not None and detail.updated_at < accepted_at
    overdue = is_overdue(accepted_at, at, _CALL_DEADLINE)
    if removal and is_asked_for:
        is_on_its_way = early or detail.status in UNDER_WAY | ABSENT
        may_change = is_on_its_way and not is_overdue(accepted_at, at, REMOVAL_DEADLINE)
    else:
        unseen = detail.status in ABSENT and not is_overdue(accepted_at, at, UNSEEN)
        may_change = unseen or ((detail.status in UNDER_WAY or early) and not overdue)
    return Standing(
        detail=detail,
        is_removal=removal,
        is_out=is_asked_for and detail.status in ABSENT and not may_turn_up(document, at),
        is_current=not early,
        may_change=may_change,
        is_final=True,
        is_overdue=overdue,
        why_never_taken_up=_NEVER_TAKEN_UP,
    )


def after_data_source(document: Document, *, at: datetime) -> Standing:
    """Of a document whose data source is gone, with all that it had in the index."""
    return Standing(
        detail=NOT_FOUND,
        is_removal=True,
        is_out=True,
        is_current=True,
        may_change=not is_overdue(document.updated_at, at, REMOVAL_DEADLINE),
        is_overdue=False,
        why_never_taken_up=_NEVER_TAKEN_UP,
    )


def may_turn_up(document: Document, at: datetime) -> bool:
    """Whether an ingestion of it may be at work that shows nowhere."""
    return document.unseen_until is not None and at < document.unseen_until


def is_overdue(started_at: datetime, now: datetime, deadline_seconds: float) -> bool:
    return (now - started_at).total_seconds() > deadline_seconds


def _may_change(
    document: Document, detail: DocumentDetail, job: Job, *, told: bool, at: datetime
) -> bool:
    if document.status is DocumentStatus.DELETING:
        # One that is no longer known may be found for some seconds yet.
        overdue = is_overdue(job.updated_at, at, REMOVAL_DEADLINE)
        return detail.status in UNDER_WAY | ABSENT and not overdue
    if document.is_to_evict:
        return False  # the job has gone over it, or another must
    return told and detail.status in UNDER_WAY and not is_overdue(job.started_at, at, JOB_DEADLINE)


def _went_over(document: Document, job: Job | None) -> bool:
    """Whether the job has seen the whole prefix since the file was rejected."""
    if job is None or job.state is not JobState.COMPLETE:
        return False
    return job.started_at >= document.updated_at


def _is_of_this_version(document: Document, detail: DocumentDetail, job: Job | None) -> bool:
    """
    Either the job has written the status, or an earlier one did and this one, having gone over the
    whole bucket to its end, found that nothing has changed since.

    A job that started before this version lay there says nothing of it: a run that adopts such a
    job, after a crash, has newer documents to bind to it.
    """
    said_at = detail.updated_at
    if said_at is None or job is None:
        return detail.status not in INDEXED
    if document.present_since is None or job.started_at < document.present_since:
        return False
    by_this_job = said_at >= job.started_at
    unchanged = said_at >= document.present_since and job.state is JobState.COMPLETE
    return by_this_job or unchanged


def _is_passed_over(
    document: Document, detail: DocumentDetail, job: Job | None, failure_reason: str | None
) -> bool:
    """
    Whether job after job has gone over all that lies there and found nothing to do.

    Each began after this version lay there, so what is indexed is this version; only its status is
    older than we know the sidecar to be, for it may have been written twice.
    """
    present_since = document.present_since
    if job is None or present_since is None or failure_reason is not None:
        return False
    said_so_often = detail.status in INDEXED and document.attempts >= MAX_ATTEMPTS
    return said_so_often and job.state is JobState.COMPLETE and job.started_at >= present_since


def _fell_with_its_job(detail: DocumentDetail, job: Job | None, failure_reason: str | None) -> bool:
    """Then nothing need be wrong with the file, which another job may well index."""
    cut_short = job is not None and job.state in _CUT_SHORT
    return cut_short and detail.status == "FAILED" and failure_reason is None


def _is_unproven(document: Document, detail: DocumentDetail, job: Job | None) -> bool:
    """
    Whether `INDEXED` is left from before this job, and no search has ever proved it.

    A document whose vectors were refused reads so too [one project's finding], and the jobs that
    find it unchanged don't say it again.
    """
    if detail.status not in INDEXED or document.indexed_at is not None or job is None:
        return False
    return detail.updated_at is None or detail.updated_at < job.started_at


def _why_never_taken_up(job: Job | None) -> str:
    if job is None or job.state is JobState.COMPLETE:
        return _NEVER_TAKEN_UP
    said = "; ".join(job.failure_reasons) or "Bedrock gave no reason"
    return f"{MAX_ATTEMPTS} ingestion jobs ended {job.state} ({said}); drop it again to retry"
