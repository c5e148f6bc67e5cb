"""
The evidence of each document, and the verdict on it.

What Bedrock says comes first, as evidence of the version that the round took up: a job's report
(runs/by_job.py), or a direct call's (runs/polling.py). Our own inspection and searches complete the
evidence. The rules that turn it into a verdict are pure, and the same for every type of data
source.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Self

from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.model.records import (
    SERVICE_FAILURE,
    STILL_ANSWERS,
    UNEXPLAINED_FAILURE,
    Catalog,
    Document,
    DocumentStatus,
)
from stackroom.model.repositories import Inspected, InspectionResults
from stackroom.runs.bedrock_calls import DocumentDetail
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
NEVER_TAKEN_UP = f"{MAX_ATTEMPTS} ingestion jobs did not take the file up; drop it again to retry"


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
    why_never_taken_up: str = NEVER_TAKEN_UP  # the reason, should it not be tried again
    fell_with_job: bool = False  # which was cut short without a reason
    is_unproven: bool = False
    is_final: bool = False
    by_owner: bool = False
    job_failure_reason: str | None = None  # the one that names the document


DocumentEvidence = tuple[Catalog, Document, BedrockEvidence]


def is_overdue(started_at: datetime, now: datetime, deadline_seconds: float) -> bool:
    return (now - started_at).total_seconds() > deadline_seconds


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


FOUND_BY_NO_SEARCH = (
    "Bedrock reads the file as indexed, but no search finds it; drop it again to have it read anew"
)
_NOT_FOUND_ANY_MORE = "; the version before it is not found any more"
_STILL_THERE = "; an earlier version of it may still be searchable"
_LATE = "the ingestion did not finish in time; drop the file again to retry"


class DocumentOutcome(StrEnum):
    INDEXED = "indexed"
    FAILED = "failed"
    GONE = "gone"  # out of the index: the record can go too
    EVICTED = "evicted"  # a rejected file's owner finds it no more
    WAIT = "wait"  # not decided yet: ask again
    AGAIN = "again"  # nothing was said of this version: another try
    POSTPONED = "postponed"  # Bedrock fails: another try later
    LEFT = "left"  # stays as it is, for the next run to try


@dataclass(frozen=True, kw_only=True)
class Verdict:
    outcome: DocumentOutcome
    reason: str | None = None
    is_found: bool = True  # False of what counts as indexed though no search finds it yet
    keeps_version: bool = True  # False of what failed if no search finds a version before it
    evicts: bool = False  # True of what failed if the index may hold what nobody may find
    title_words: str = ""
    gaps: tuple[str, ...] = ()


def verdict(document: Document, evidence: Evidence | None) -> Verdict:
    """Return the verdict on a document; without evidence it is too early for one."""
    if evidence is None:
        return Verdict(outcome=DocumentOutcome.WAIT)
    if evidence.bedrock.is_removal:
        return _of_removed(document, evidence)
    found = _of_ingested(document, evidence)
    inspected = evidence.inspected
    return replace(found, title_words=inspected.title_words, gaps=inspected.gaps)


def _of_removed(document: Document, evidence: Evidence) -> Verdict:
    """
    Return the verdict on a removal. Searches may find a deleted document for some more seconds, and
    then it is not gone.
    """
    deleting = document.status is DocumentStatus.DELETING
    reason = str(document.status_reason).removesuffix(_STILL_THERE)
    if evidence.bedrock.is_out and not evidence.is_found():
        if deleting:
            return Verdict(outcome=DocumentOutcome.GONE)
        was_found = _NOT_FOUND_ANY_MORE if document.indexed_at is not None else ""
        return Verdict(outcome=DocumentOutcome.EVICTED, reason=reason + was_found)
    if evidence.bedrock.may_change:
        return Verdict(outcome=DocumentOutcome.WAIT)
    if document.attempts < MAX_ATTEMPTS:
        return Verdict(outcome=DocumentOutcome.AGAIN)
    if deleting:
        # Never more than `deleting` while Bedrock knows it: nothing else would be the truth.
        return Verdict(outcome=DocumentOutcome.LEFT)
    return Verdict(outcome=DocumentOutcome.FAILED, reason=reason + _STILL_THERE)


def _of_ingested(document: Document, evidence: Evidence) -> Verdict:
    report = evidence.bedrock
    status = report.detail.status
    if report.may_change:
        return Verdict(outcome=DocumentOutcome.WAIT)
    is_undecided = status in UNDER_WAY or (status in ABSENT and report.job_failure_reason is None)
    if not report.is_current or is_undecided:
        return _again(document, evidence)
    if report.job_failure_reason is not None and status in INDEXED | ABSENT:
        # The write of its vectors failed, or the job left it out: both show nowhere else.
        return _failed(document, evidence, f"Bedrock: {report.job_failure_reason}")
    if status in INDEXED:
        return _of_indexed(document, evidence)
    if status == "FAILED" and not (report.detail.reason or evidence.inspected.reason):
        return _of_unexplained(document, evidence)
    return _failed(document, evidence, report.detail.reason or failure_of(status))


def _of_indexed(document: Document, evidence: Evidence) -> Verdict:
    """
    Return the verdict on a document that Bedrock reports as indexed, some seconds before searches
    find it.
    """
    if evidence.is_found():
        return Verdict(outcome=DocumentOutcome.INDEXED)
    if not evidence.is_due:
        return Verdict(outcome=DocumentOutcome.WAIT)
    if evidence.inspected.reason is not None:
        # A file without any text may count as indexed and have not one passage.
        return _failed(document, evidence, UNEXPLAINED_FAILURE)
    if evidence.bedrock.is_unproven:
        return _failed(document, evidence, FOUND_BY_NO_SEARCH)
    return Verdict(outcome=DocumentOutcome.INDEXED, is_found=False)


def _of_unexplained(document: Document, evidence: Evidence) -> Verdict:
    """
    Return the verdict on a failure that nobody explains and that may be Bedrock's. A final one is
    ours to try again.

    A few tries follow at once, except for a large document, whose tries take minutes in which
    others wait, and while Bedrock fails over several documents.
    """
    is_first = document.failing_since is None and document.attempts < MAX_ATTEMPTS
    is_quick = is_first and not document.is_large and not evidence.unexplained.is_together
    if evidence.bedrock.is_final and is_quick:
        return Verdict(outcome=DocumentOutcome.AGAIN)
    return _postponed(document, evidence, evidence.unexplained.reason)


def _postponed(document: Document, evidence: Evidence, reason: str) -> Verdict:
    """
    Postpone the document; it fails for that reason once it has been postponed for long enough.
    """
    if evidence.unexplained.may_be_postponed:
        return Verdict(outcome=DocumentOutcome.POSTPONED)
    return _failed(document, evidence, reason)


def _again(document: Document, evidence: Evidence) -> Verdict:
    report = evidence.bedrock
    if document.attempts < MAX_ATTEMPTS and not report.is_overdue:
        return Verdict(outcome=DocumentOutcome.AGAIN)
    if report.is_overdue:
        return _failed(document, evidence, _LATE)
    settle = _postponed if report.fell_with_job else _failed
    return settle(document, evidence, report.why_never_taken_up)


def _failed(document: Document, evidence: Evidence, reason: str) -> Verdict:
    """
    Return the verdict of failure, with our own inspection's reason before Bedrock's. A search
    decides about the earlier version, once what was replaced should be out of the index.
    """
    message = evidence.inspected.reason or reason
    if document.indexed_at is None:
        return Verdict(outcome=DocumentOutcome.FAILED, reason=message)
    stays = evidence.is_earlier_found()
    if stays and not evidence.is_due:
        return Verdict(outcome=DocumentOutcome.WAIT)
    message += STILL_ANSWERS if stays else _NOT_FOUND_ANY_MORE
    return Verdict(outcome=DocumentOutcome.FAILED, reason=message, keeps_version=stays)


def of_illegible(document: Document) -> Verdict:
    """
    Return the verdict on a file that is not sent. Text that an earlier reader, or Bedrock's, took
    from the same version is text that nobody sees, and goes; an earlier version stays.
    """
    reason, indexed_at = str(document.illegible), document.indexed_at
    if indexed_at is None:
        return Verdict(outcome=DocumentOutcome.FAILED, reason=reason)
    evicts = document.indexed_text_id is None or indexed_at >= document.uploaded_at
    message = reason if evicts else reason + STILL_ANSWERS
    return Verdict(outcome=DocumentOutcome.FAILED, reason=message, evicts=evicts)


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
