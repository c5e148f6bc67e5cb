"""
What Bedrock says of documents, by our own ids, and how far its word goes.

A job that is COMPLETE says nothing of a single document: every job goes over all that lies under
the prefix, and leaves the status of what it finds unchanged as an earlier one wrote it. After a
direct call the word counts from the moment when Bedrock accepted it, by its own clock.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from stackroom.documents.bucket import DocumentBucket
from stackroom.documents.keys import Location, locate, unplaced_id_of
from stackroom.documents.model import (
    UNEXPLAINED_FAILURE,
    Catalog,
    DataSource,
    Document,
    DocumentStatus,
    PerSourceType,
)
from stackroom.ingestion.bedrock_calls import (
    NOT_FOUND,
    DirectDocuments,
    DocumentDetail,
    IngestionJobs,
    Job,
    JobState,
)

# Bedrock's DocumentStatus, sorted by what it means for us: the twelve values [API model
# bedrock-agent, KnowledgeBaseDocumentDetail].
INDEXED = frozenset({"INDEXED"})
UNDER_WAY = frozenset({"PENDING", "STARTING", "IN_PROGRESS", "DELETING", "DELETE_IN_PROGRESS"})
ABSENT = frozenset({"NOT_FOUND"})
# With what we tell if Bedrock gives no reason.
FAILURES = {
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
# Nothing of the document is in the index.
_WITHOUT_PASSAGES = ABSENT | {"FAILED", "IGNORED"}
KNOWN_STATUSES = INDEXED | UNDER_WAY | ABSENT | FAILURES.keys()


def may_be_found(status: str) -> bool:
    """Whether the index may hold passages of a document of that status, now or soon."""
    return status not in _WITHOUT_PASSAGES


def failure_of(status: str) -> str:
    """One that we don't know is its own document's affair, and not the whole round's."""
    return FAILURES.get(
        status,
        f"Bedrock gives the file a status that Stackroom doesn't know, {status}; tell your "
        "operator, and drop it again to retry",
    )


MAX_ATTEMPTS = 3
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


@dataclass(frozen=True, kw_only=True)
class BedrockEvidence:
    """
    How what Bedrock says of a document stands to what the run did with it.

    `is_removal`: it was to be removed. `is_out`: it is out of the index, if no search finds it.
    `is_current`: what is said is of this version. `may_change`: ask again later. `is_unproven`:
    INDEXED may be left from before. `is_final`: Bedrock does not try it again by itself.
    `is_overdue`: past its deadline. `by_owner`: out is what its owner finds no more, though it
    stays there as nobody's.
    """

    detail: DocumentDetail
    is_removal: bool
    is_out: bool
    is_current: bool
    may_change: bool
    is_overdue: bool
    why_never_taken_up: str  # the reason, should it not be tried again
    is_unproven: bool = False
    is_final: bool = False
    by_owner: bool = False
    job_failure_reason: str | None = None  # the one that names the document


DocumentEvidence = tuple[Catalog, Document, BedrockEvidence]


def job_evidence(
    document: Document,
    detail: DocumentDetail,
    job: Job | None,
    *,
    failure_reason: str | None,
    at: datetime,
) -> BedrockEvidence:
    """`job` is None if Bedrock doesn't know it any more; `failure_reason` names the document."""
    told = _is_of_this_version(document, detail, job) or _is_passed_over(
        document, detail, job, failure_reason
    )
    return BedrockEvidence(
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


def call_evidence(
    document: Document, detail: DocumentDetail, *, accepted_at: datetime, at: datetime
) -> BedrockEvidence:
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
    return BedrockEvidence(
        detail=detail,
        is_removal=removal,
        is_out=is_asked_for and detail.status in ABSENT and not may_turn_up(document, at),
        is_current=not early,
        may_change=may_change,
        is_final=True,
        is_overdue=overdue,
        why_never_taken_up=_NEVER_TAKEN_UP,
    )


def data_source_evidence(document: Document, *, at: datetime) -> BedrockEvidence:
    """Of a document whose data source is gone, with all that it had in the index."""
    return BedrockEvidence(
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


class Details(Protocol):
    """
    What Bedrock says: an S3 data source knows a document by its object's URI, a CUSTOM one by the
    id that we gave it.
    """

    def of(self, source: DataSource, documents: Iterable[Document]) -> dict[str, DocumentDetail]:
        """By document id; what it doesn't know reads NOT_FOUND. Raises KnowledgeBaseThrottled."""
        ...

    def document_id(self, identifier: str) -> str:
        """Our id of what the data source lists as that."""
        ...


@dataclass(frozen=True, kw_only=True)
class DetailsByUri:
    jobs: IngestionJobs
    bucket: DocumentBucket

    def of(self, source: DataSource, documents: Iterable[Document]) -> dict[str, DocumentDetail]:
        uris = {each.document_id: self.bucket.uri_of(each.s3_key) for each in documents}
        said = self.jobs.details(source, uris.values()) if uris else {}
        return {document_id: said.get(uri, NOT_FOUND) for document_id, uri in uris.items()}

    def document_id(self, identifier: str) -> str:
        key = key_of(self.bucket, identifier)
        location = locate(key)
        return location.document_id if isinstance(location, Location) else unplaced_id_of(key)


@dataclass(frozen=True, kw_only=True)
class DetailsById:
    direct: DirectDocuments

    def of(self, source: DataSource, documents: Iterable[Document]) -> dict[str, DocumentDetail]:
        ids = [each.document_id for each in documents]
        said = self.direct.details(source, ids) if ids else {}
        return {each: said.get(each, NOT_FOUND) for each in ids}

    def document_id(self, identifier: str) -> str:
        return identifier


def key_of(bucket: DocumentBucket, uri: str) -> str:
    return uri.removeprefix(bucket.uri_of(""))


def details_by(
    *, jobs: IngestionJobs, direct: DirectDocuments, bucket: DocumentBucket
) -> PerSourceType[Details]:
    return PerSourceType(
        s3=DetailsByUri(jobs=jobs, bucket=bucket), custom=DetailsById(direct=direct)
    )
