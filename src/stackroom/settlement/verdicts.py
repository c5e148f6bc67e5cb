"""
What a knowledge base's word about a document means for its record.

A job that is COMPLETE says nothing of a single document, and a document may still read INDEXED
from before. So a verdict counts only for the version that the round took up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from stackroom.model import UNEXPLAINED_FAILURE, Document, DocumentStatus
from stackroom.ports.ingestion import DocumentDetail, Job, JobState

# Seconds from when Bedrock accepted the job; waiting for a turn has no deadline. The largest job
# allowed (100 GB, 5,000,000 files) is far from a catalog's size.
DEADLINE = 12 * 3600.0
# Of direct calls, whose files are at most 50 MB each.
DIRECT_DEADLINE = 2 * 3600.0
# Of what has been removed until no search finds it: "a few minutes" [Bedrock user guide:
# kb-data-source-sync-ingest]. Then it is removed again, for others wait behind it.
REMOVAL_DEADLINE = 600.0
# Seconds in which what a direct call has brought may not be seen yet.
_UNSEEN = 120.0
MAX_ATTEMPTS = 3
NOT_FOUND = (
    "Bedrock reads the file as indexed, but no search finds it; drop it again to have it read anew"
)
_STILL_THERE = "; an earlier version of it may still be searchable"
# The twelve values of DocumentStatus [API model bedrock-agent, KnowledgeBaseDocumentDetail].
_INDEXED = {"INDEXED"}
UNDER_WAY = {"PENDING", "STARTING", "IN_PROGRESS", "DELETING", "DELETE_IN_PROGRESS"}
_ABSENT = {"NOT_FOUND"}
_CUT_SHORT = {JobState.FAILED, JobState.STOPPED}
_FAILURES = {
    "FAILED": UNEXPLAINED_FAILURE,
    "PARTIALLY_INDEXED": "Bedrock indexed only a part of the file; drop it again to retry",
    "METADATA_PARTIALLY_INDEXED": (
        "Bedrock indexed only a part of the file's attributes; drop it again to retry"
    ),
    "METADATA_UPDATE_FAILED": (
        "Bedrock could not store the file's attributes; drop it again to retry"
    ),
    "IGNORED": "Bedrock does not take this file; save it in another format",
}
KNOWN_STATUSES = _INDEXED | UNDER_WAY | _ABSENT | set(_FAILURES)


class DocumentOutcome(StrEnum):
    INDEXED = "indexed"
    FAILED = "failed"
    GONE = "gone"  # out of the index: the record can go too
    EVICTED = "evicted"  # a rejected file's earlier version is out of the index
    WAIT = "wait"  # not decided yet: ask again
    AGAIN = "again"  # this round said nothing of this version: another round
    LEFT = "left"  # stays as it is, for the next run to try


@dataclass(frozen=True, kw_only=True)
class Verdict:
    outcome: DocumentOutcome
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Settled:
    """One document's end, for the log and the metrics."""

    document: Document
    outcome: DocumentOutcome


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """
    What a round brought to light.

    `blamed` is the job's failure reason that names the document, `finding` what our own inspection
    has against this version; `is_found` asks the knowledge base whether a search finds it.
    """

    detail: DocumentDetail
    job: Job | None
    is_found: Callable[[], bool]
    blamed: str | None = None
    finding: str | None = None
    overdue: bool = False  # the deadline is past
    removal_overdue: bool = False  # so is that of removals, which is shorter


def decide_directly(
    document: Document, evidence: Evidence, *, accepted_at: datetime, at: datetime
) -> Verdict:
    """
    What a direct call made of the document. `accepted_at` is by the knowledge base's own clock:
    whatever it says of an earlier moment is of an earlier version.
    """
    status, said_at = evidence.detail.status, evidence.detail.updated_at
    assert status in KNOWN_STATUSES, f"Bedrock has a document status unknown to us: {status}"
    if document.status is not DocumentStatus.INDEXING:
        return _of_removed(document, evidence)
    early = said_at is not None and said_at < accepted_at
    unseen = status in _ABSENT and not is_overdue(accepted_at, at, _UNSEEN)
    if unseen or ((status in UNDER_WAY or early) and not evidence.overdue):
        return Verdict(outcome=DocumentOutcome.WAIT)
    if status in UNDER_WAY | _ABSENT or early:
        return _again(document, evidence)
    if status in _INDEXED:
        return _of_indexed(document, evidence)
    if _may_be_passing(document, evidence):
        return Verdict(outcome=DocumentOutcome.AGAIN)
    return _failed(document, evidence, evidence.detail.reason or _FAILURES[status])


def _may_be_passing(document: Document, evidence: Evidence) -> bool:
    """A failure that nobody explains may be Bedrock's; no later job tries the document again."""
    explained = evidence.detail.reason or evidence.finding
    tries_left = document.attempts < MAX_ATTEMPTS
    return evidence.detail.status == "FAILED" and not explained and tries_left


def _of_indexed(document: Document, evidence: Evidence) -> Verdict:
    # A file without any text may count as indexed and have not one passage.
    if evidence.finding is not None and not evidence.is_found():
        return _failed(document, evidence, UNEXPLAINED_FAILURE)
    if is_hearsay(document, evidence.detail, evidence.job) and not evidence.is_found():
        return _failed(document, evidence, NOT_FOUND)
    return Verdict(outcome=DocumentOutcome.INDEXED)


def is_hearsay(document: Document, verdict: DocumentDetail, job: Job | None) -> bool:
    """
    Whether `INDEXED` is left from before this job, and we never saw it proved.

    A document whose vectors were refused reads so too [one project's finding], and the jobs that
    find it unchanged don't say it again.
    """
    if verdict.status not in _INDEXED or document.indexed_at is not None or job is None:
        return False
    return verdict.updated_at is None or verdict.updated_at < job.started_at


def _of_removed(document: Document, evidence: Evidence) -> Verdict:
    """What is no longer known may be found for some seconds yet, and then it is not gone."""
    deleting = document.status is DocumentStatus.DELETING
    if evidence.detail.status in _ABSENT and not evidence.is_found():
        return Verdict(outcome=DocumentOutcome.GONE if deleting else DocumentOutcome.EVICTED)
    if not evidence.removal_overdue:
        return Verdict(outcome=DocumentOutcome.WAIT)
    if document.attempts < MAX_ATTEMPTS:
        return Verdict(outcome=DocumentOutcome.AGAIN)
    if deleting:
        return Verdict(outcome=DocumentOutcome.LEFT)
    return Verdict(outcome=DocumentOutcome.FAILED, reason=_still_there(str(document.status_reason)))


def decide(document: Document, evidence: Evidence) -> Verdict:
    if document.status is DocumentStatus.DELETING:
        return _of_deleted(document, evidence)
    if document.lingering and document.status is DocumentStatus.FAILED:
        return _of_lingering(document, evidence)
    return _of_indexing(document, evidence)


def _of_deleted(document: Document, evidence: Evidence) -> Verdict:
    status = evidence.detail.status
    if status in _ABSENT and not evidence.is_found():
        return Verdict(outcome=DocumentOutcome.GONE)
    if status in UNDER_WAY | _ABSENT and evidence.job and not evidence.removal_overdue:
        # One that is no longer known may be found for some seconds yet.
        return Verdict(outcome=DocumentOutcome.WAIT)
    # Never more than `deleting` while Bedrock knows it: nothing else would be the truth.
    return Verdict(
        outcome=DocumentOutcome.AGAIN if document.attempts < MAX_ATTEMPTS else DocumentOutcome.LEFT
    )


def _of_lingering(document: Document, evidence: Evidence) -> Verdict:
    if _went_over(document, evidence.job) and not evidence.is_found():
        return Verdict(outcome=DocumentOutcome.EVICTED)
    if document.attempts < MAX_ATTEMPTS:
        return Verdict(outcome=DocumentOutcome.AGAIN)
    return Verdict(outcome=DocumentOutcome.FAILED, reason=_still_there(str(document.status_reason)))


def _went_over(document: Document, job: Job | None) -> bool:
    """Whether the job has seen the whole prefix since the file was rejected."""
    if job is None or job.state is not JobState.COMPLETE:
        return False
    return job.started_at >= document.updated_at


def _of_indexing(document: Document, evidence: Evidence) -> Verdict:
    status = evidence.detail.status
    assert status in KNOWN_STATUSES, f"Bedrock has a document status unknown to us: {status}"
    if not _is_of_this_version(document, evidence) and not _is_passed_over(document, evidence):
        return _again(document, evidence)
    if status in UNDER_WAY:
        return (
            Verdict(outcome=DocumentOutcome.WAIT)
            if _may_still_change(evidence)
            else _again(document, evidence)
        )
    if evidence.blamed is not None and status in _INDEXED | _ABSENT:
        # The write of its vectors failed, or the job left it out: both show nowhere else.
        return _failed(document, evidence, f"Bedrock: {evidence.blamed}")
    if status in _INDEXED:
        return _of_indexed(document, evidence)
    if status in _ABSENT or (evidence.blamed is None and _fell_with_its_job(evidence)):
        return _again(document, evidence)
    return _failed(document, evidence, evidence.detail.reason or _FAILURES[status])


def _failed(document: Document, evidence: Evidence, reason: str) -> Verdict:
    """Our own finding says more than Bedrock; an earlier version that is still found must show."""
    told = evidence.finding or reason
    stays = document.indexed_at is not None and evidence.is_found()
    return Verdict(outcome=DocumentOutcome.FAILED, reason=_still_there(told) if stays else told)


def _still_there(reason: str) -> str:
    return reason.removesuffix(_STILL_THERE) + _STILL_THERE


def _is_of_this_version(document: Document, evidence: Evidence) -> bool:
    """
    Either the job has written the status, or an earlier one did and this one, having gone over the
    whole bucket to its end, found that nothing has changed since.

    A job that started before this version lay there says nothing of it: a run that adopts such a
    job, after a crash, has newer documents to bind to it.
    """
    said_at, job = evidence.detail.updated_at, evidence.job
    if said_at is None or job is None:
        return evidence.detail.status not in _INDEXED
    if document.present_since is None or job.started_at < document.present_since:
        return False
    by_this_job = said_at >= job.started_at
    unchanged = said_at >= document.present_since and job.state is JobState.COMPLETE
    return by_this_job or unchanged


def _is_passed_over(document: Document, evidence: Evidence) -> bool:
    """
    Whether job after job has gone over all that lies there and found nothing to do.

    Each began after this version lay there, so what is indexed is this version; only its status is
    older than we know the sidecar to be, for it may have been written twice.
    """
    job, present_since = evidence.job, document.present_since
    if job is None or present_since is None or evidence.blamed is not None:
        return False
    said_so_often = evidence.detail.status in _INDEXED and document.attempts >= MAX_ATTEMPTS
    return said_so_often and job.state is JobState.COMPLETE and job.started_at >= present_since


def _may_still_change(evidence: Evidence) -> bool:
    return evidence.job is not None and not evidence.overdue


def _fell_with_its_job(evidence: Evidence) -> bool:
    """Then nothing need be wrong with the file, which another job may well index."""
    cut_short = evidence.job is not None and evidence.job.state in _CUT_SHORT
    return cut_short and evidence.detail.status == "FAILED"


def _again(document: Document, evidence: Evidence) -> Verdict:
    if document.attempts < MAX_ATTEMPTS and not evidence.overdue:
        return Verdict(outcome=DocumentOutcome.AGAIN)
    return _failed(document, evidence, _why_not(evidence))


def _why_not(evidence: Evidence) -> str:
    job = evidence.job
    if evidence.overdue:
        return "the ingestion did not finish in time; drop the file again to retry"
    if job is None or job.state is JobState.COMPLETE:
        return f"{MAX_ATTEMPTS} ingestion jobs did not take the file up; drop it again to retry"
    said = "; ".join(job.failure_reasons) or "Bedrock gave no reason"
    return f"{MAX_ATTEMPTS} ingestion jobs ended {job.state} ({said}); drop it again to retry"


def is_overdue(started_at: datetime, now: datetime, deadline_seconds: float) -> bool:
    return (now - started_at).total_seconds() > deadline_seconds
