"""
How far Bedrock's word on a document goes after an ingestion job: pure, from what the job tells.

Every job goes over all that lies under the prefix, and leaves the status of what it finds unchanged
as an earlier one wrote it.
"""

from datetime import datetime

from stackroom.model import Document, DocumentStatus
from stackroom.ports.ingestion import DocumentDetail, Job, JobState
from stackroom.settlement.evidence import Standing
from stackroom.settlement.rounds import NEVER_TAKEN_UP, REMOVAL_DEADLINE, is_overdue
from stackroom.settlement.statuses import ABSENT, INDEXED, UNDER_WAY, may_be_found
from stackroom.settlement.verdicts import MAX_ATTEMPTS

# Seconds from when Bedrock accepted the job; waiting for a grant has no deadline. The largest job
# allowed (100 GB, 5,000,000 files) is far from a catalog's size.
DEADLINE = 12 * 3600.0
# Seconds in which what a direct call does may not be seen yet.
_UNSEEN = 120.0
_CUT_SHORT = {JobState.FAILED, JobState.STOPPED}


def standing(
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
        is_overdue=job is not None and is_overdue(job.started_at, at, DEADLINE),
        why_never_taken_up=_why_never_taken_up(job),
        job_failure_reason=failure_reason,
    )


def standing_of_evicted(document: Document, detail: DocumentDetail, *, at: datetime) -> Standing:
    """Of a rejected file that Bedrock was asked to delete when its record was written last."""
    is_out = not may_be_found(detail.status)
    # One that is no longer known may be found for some seconds yet.
    is_going = is_out or detail.status in UNDER_WAY
    overdue = is_overdue(document.updated_at, at, REMOVAL_DEADLINE if is_going else _UNSEEN)
    return Standing(
        detail=detail,
        is_removal=True,
        is_out=is_out,
        is_current=True,
        may_change=not overdue,
        is_overdue=overdue,
        why_never_taken_up=NEVER_TAKEN_UP,
    )


def _may_change(
    document: Document, detail: DocumentDetail, job: Job, *, told: bool, at: datetime
) -> bool:
    if document.status is DocumentStatus.DELETING:
        # One that is no longer known may be found for some seconds yet.
        overdue = is_overdue(job.updated_at, at, REMOVAL_DEADLINE)
        return detail.status in UNDER_WAY | ABSENT and not overdue
    if document.is_to_evict:
        return False  # the job has gone over it, or another must
    return told and detail.status in UNDER_WAY and not is_overdue(job.started_at, at, DEADLINE)


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
        return NEVER_TAKEN_UP
    said = "; ".join(job.failure_reasons) or "Bedrock gave no reason"
    return f"{MAX_ATTEMPTS} ingestion jobs ended {job.state} ({said}); drop it again to retry"
