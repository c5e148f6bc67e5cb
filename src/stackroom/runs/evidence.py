"""
The evidence of each document, gathered once from every source.

Bedrock's status of the document comes first, with its limits. A job that is COMPLETE proves nothing
of a single document: every job goes over all files under the prefix, and leaves the status of
unchanged ones as an earlier job wrote it. After a direct call the status counts from the moment
when Bedrock accepted the call, by its own clock. Our own inspection and searches complete the
evidence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Self

from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.model.records import (
    SERVICE_FAILURE,
    UNEXPLAINED_FAILURE,
    Catalog,
    Document,
    DocumentStatus,
)
from stackroom.model.repositories import Inspected, InspectionResults
from stackroom.runs.bedrock_calls import NOT_FOUND, DocumentDetail, Job, JobState
from stackroom.runs.search_check import SearchCheck
from stackroom.text.gaps import UNREAD

# Bedrock's DocumentStatus, sorted by what it means for us: the twelve values [API model
# bedrock-agent, KnowledgeBaseDocumentDetail].
INDEXED = frozenset({"INDEXED"})
UNDER_WAY = frozenset({"PENDING", "STARTING", "IN_PROGRESS", "DELETING", "DELETE_IN_PROGRESS"})
ABSENT = frozenset({"NOT_FOUND"})
# The reasons that we give if Bedrock gives none.
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
    """Return True if the index may hold passages of a document with that status, now or soon."""
    return status not in _WITHOUT_PASSAGES


def failure_of(status: str) -> str:
    """
    Return the failure with that reason. An unknown one concerns its own document, not the whole
    round.
    """
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
# document.unseen, retrieve.filtered-lag); how long, nobody has told. A document that is sent again
# while it is at work starts anew, so this is longer than any ingestion that was seen: 330 s, of a
# PDF of 1.5 MB [Boise-State-Development/agentcore-public-stack, PR 901, 2026]. Not longer than
# REMOVAL_DEADLINE, because a removal waits for it, too. [assumed: document.unseen]
UNSEEN = 600.0
# Seconds in which what has been removed must be out of every search: "a few minutes" [Bedrock user
# guide: kb-data-source-sync-ingest]. Then it is removed again, because others wait for it.
# [assumed: deletion.searches]
REMOVAL_DEADLINE = 600.0
_CUT_SHORT = {JobState.FAILED, JobState.STOPPED}
_NEVER_TAKEN_UP = f"{MAX_ATTEMPTS} ingestion jobs did not take the file up; drop it again to retry"


@dataclass(frozen=True, kw_only=True)
class BedrockEvidence:
    """
    Bedrock's report on a document, compared with what the run did with it.

    `is_removal`: the document was to be removed. `is_out`: it is out of the index, if no search
    finds it. `is_current`: the report is about this version. `may_change`: ask again later.
    `is_unproven`: INDEXED may be left from before. `is_final`: Bedrock does not try it again by
    itself. `is_overdue`: it is past its deadline. `by_owner`: it counts as out once its owner's
    searches find nothing of it, though it stays in the index as nobody's.
    """

    detail: DocumentDetail
    is_removal: bool
    is_out: bool
    is_current: bool
    may_change: bool
    is_overdue: bool
    why_never_taken_up: str = _NEVER_TAKEN_UP  # the reason, should it not be tried again
    fell_with_job: bool = False  # which was cut short without a reason
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


def call_evidence(
    document: Document, detail: DocumentDetail, *, accepted_at: datetime, at: datetime
) -> BedrockEvidence:
    """
    Return the evidence that a direct call's report gives of a document.

    No later call tries a document again unless we do. While an ingestion may be on its way that
    Bedrock doesn't show yet, NOT_FOUND proves nothing.
    """
    removal = document.status is not DocumentStatus.INDEXING
    # For a document that was deleted while a call ingested it, nobody has asked Bedrock yet to
    # remove it.
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
    )


def data_source_evidence(document: Document, *, at: datetime) -> BedrockEvidence:
    """Return the evidence of a document whose data source is gone with all that it had indexed."""
    return BedrockEvidence(
        detail=NOT_FOUND,
        is_removal=True,
        is_out=True,
        is_current=True,
        may_change=not is_overdue(document.updated_at, at, REMOVAL_DEADLINE),
        is_overdue=False,
    )


def may_turn_up(document: Document, at: datetime) -> bool:
    """Return True if an ingestion of the document may be at work that Bedrock doesn't show."""
    return document.unseen_until is not None and at < document.unseen_until


def is_overdue(started_at: datetime, now: datetime, deadline_seconds: float) -> bool:
    return (now - started_at).total_seconds() > deadline_seconds


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
        return _NEVER_TAKEN_UP
    reasons = "; ".join(job.failure_reasons) or "Bedrock gave no reason"
    return f"{MAX_ATTEMPTS} ingestion jobs ended {job.state} ({reasons}); drop it again to retry"


# Failures that Bedrock gives no reason for: whose fault they are, and whether they are tried again.
# A file that our own inspection reads well fails through no fault of its own, so it is postponed
# rather than failed: for a day, with pauses as long as Bedrock has failed over it so far.
_FAILS_ALONE = (
    "Bedrock failed over the file for a day, while it took others, and gave no reason; "
    "save it in another way, then drop it again"
)
_PATIENCE = 86_400.0  # seconds on AWS


@dataclass(frozen=True, kw_only=True)
class Unexplained:
    """
    The way to treat a document's failure that nobody explains.

    `is_together`: Bedrock fails over several documents at once and accepts none. `reason` is
    recorded once the failure `may_be_postponed` no more.
    """

    reason: str = UNEXPLAINED_FAILURE
    may_be_postponed: bool = False
    is_together: bool = False

    @classmethod
    def of(
        cls,
        catalog: Catalog,
        document: Document,
        inspected: Inspected | None,
        statuses: Sequence[str],
        *,
        at: datetime,
        pace: Pace,
    ) -> Self:
        """
        Return the treatment of the document's unexplained failure. `statuses` are Bedrock's
        statuses of all documents in the same poll; `inspected` is None once the result has expired.
        """
        since = document.failing_since or at
        reads_well = _reads_well(inspected) if inspected else document.text_id is not None
        patience = timedelta(seconds=pace.here(_PATIENCE))
        is_alone = catalog.indexed_at is not None and catalog.indexed_at > since
        sound = _FAILS_ALONE if is_alone else SERVICE_FAILURE
        return cls(
            reason=sound if reads_well else UNEXPLAINED_FAILURE,
            may_be_postponed=reads_well and at - since < patience,
            is_together=statuses.count("FAILED") > 1 and "INDEXED" not in statuses,
        )


NOT_POSTPONED = Unexplained()


def _reads_well(inspected: Inspected) -> bool:
    return inspected.reason is None and UNREAD not in inspected.gaps


# Documents that one task proves by searches; the others wait for the next task.
_MOST_PROVED = 500
# Seconds on AWS from Bedrock's word until a search should find the document: "the passages of a
# document that is INDEXED were found 3.4 s later" (rule job.searchable-lag), users of S3 Vectors
# saw longer. Of a file that our inspection has something against, nobody waits as long.
# [assumed: retrieve.filtered-lag]
FOUND_WITHIN, _DOUBTED = 60.0, 10.0


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """
    All evidence of one document.

    `inspected` is our own inspection's result for this version. `is_found` asks the knowledge base
    whether a search finds it, and `is_due` is True if a search should by now; `is_earlier_found`
    asks for the version that was indexed before.
    """

    bedrock: BedrockEvidence
    is_found: Callable[[], bool]
    is_earlier_found: Callable[[], bool]
    is_due: bool = True
    inspected: Inspected = field(default_factory=Inspected)
    unexplained: Unexplained = NOT_POSTPONED


@dataclass(frozen=True, kw_only=True)
class Investigation:
    """Completes Bedrock's reports with our own inspections and searches."""

    inspections: InspectionResults
    search_check: SearchCheck
    pace: Pace = REAL_TIME
    now: Callable[[], datetime] = utc_now

    def complete(
        self, reports: Sequence[DocumentEvidence]
    ) -> list[tuple[Catalog, Document, Evidence | None]]:
        """
        Return the evidence of each document; None for one whose searches are left to a later task.
        Raises what a search raises.
        """
        now, later = _share(reports)
        results = self.inspections.results_for([document for _, document, _ in now])
        searches = _Searches(self.search_check, now)
        statuses = [report.detail.status for _, _, report in now]
        known: list[tuple[Catalog, Document, Evidence | None]] = []
        for catalog, document, report in now:
            found = results.get(document.document_id)
            # A result is kept for a month; after that, the record has what it said.
            inspected = found or Inspected(title_words=document.title_words, gaps=document.gaps)
            evidence = Evidence(
                bedrock=report,
                is_found=partial(searches.is_found, catalog, document),
                is_earlier_found=partial(searches.is_earlier_found, catalog, document),
                is_due=self._is_due(report, is_doubted=inspected.reason is not None),
                inspected=inspected,
                unexplained=Unexplained.of(
                    catalog, document, found, statuses, at=self.now(), pace=self.pace
                ),
            )
            known.append((catalog, document, evidence))
        return known + [(catalog, document, None) for catalog, document, _ in later]

    def _is_due(self, report: BedrockEvidence, *, is_doubted: bool) -> bool:
        reported_at = report.detail.updated_at
        if reported_at is None:
            return True
        seconds = self.pace.here(_DOUBTED if is_doubted else FOUND_WITHIN)
        return self.now() - reported_at >= timedelta(seconds=seconds)


class _Searches:
    """Searches for documents, which run together when the first result is asked for."""

    def __init__(self, search_check: SearchCheck, reports: Sequence[DocumentEvidence]) -> None:
        self._search_check = search_check
        self._removed: dict[str, list[Document]] = {}  # by catalog
        self._indexed: dict[str, tuple[Catalog, Document]] = {}  # these by document
        for catalog, document, report in reports:
            if document.should_be_absent and not report.by_owner:
                self._removed.setdefault(catalog.catalog_id, []).append(document)
            elif report.detail.status in INDEXED:
                self._indexed[document.document_id] = (catalog, document)
        self._left: dict[str, set[str]] = {}
        self._found: dict[str, bool] = {}

    def is_found(self, catalog: Catalog, document: Document) -> bool:
        """
        Return True if a search finds the document. For one to be removed, passages of any owner
        count; for any other, those that its owner finds.
        """
        if document in self._removed.get(catalog.catalog_id, ()):
            return document.document_id in self._left_of(catalog)
        if document.document_id not in self._found:
            is_one_of_many = document.document_id in self._indexed
            self._ask(list(self._indexed.values()) if is_one_of_many else [(catalog, document)])
        return self._found[document.document_id]

    def is_earlier_found(self, catalog: Catalog, document: Document) -> bool:
        earlier = document.model_copy(update={"text_id": document.indexed_text_id})
        return bool(self._search_check.found([(catalog, earlier)]))

    def _ask(self, documents: Sequence[tuple[Catalog, Document]]) -> None:
        found = self._search_check.found(documents)
        self._found |= {each.document_id: each.document_id in found for _, each in documents}

    def _left_of(self, catalog: Catalog) -> set[str]:
        if catalog.catalog_id not in self._left:
            removed = self._removed[catalog.catalog_id]
            self._left[catalog.catalog_id] = self._search_check.left(catalog, removed)
        return self._left[catalog.catalog_id]


def _share(
    reports: Sequence[DocumentEvidence],
) -> tuple[list[DocumentEvidence], list[DocumentEvidence]]:
    """Split documents into those to decide on now and those that a later task decides on."""
    now: list[DocumentEvidence] = []
    later: list[DocumentEvidence] = []
    proved = 0
    for each in reports:
        _, document, report = each
        needs = document.should_be_absent or report.detail.status in INDEXED
        proved += needs
        (later if needs and proved > _MOST_PROVED else now).append(each)
    return now, later
