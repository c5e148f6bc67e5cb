"""
What the evidence of a document means for its record: the rules, pure, and the same for every
source type.

A job that is COMPLETE says nothing of a single document, and a document may still read INDEXED
from before. So Bedrock's word counts only for the version that the round took up.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from stackroom.admission.demand import is_large
from stackroom.formats import has_places
from stackroom.model import UNEXPLAINED_FAILURE, Document, DocumentStatus
from stackroom.settlement.evidence import Evidence
from stackroom.settlement.statuses import ABSENT, INDEXED, UNDER_WAY, failure_of

MAX_ATTEMPTS = 3
NOT_FOUND = (
    "Bedrock reads the file as indexed, but no search finds it; drop it again to have it read anew"
)
_STILL_THERE = "; an earlier version of it may still be searchable"
_LATE = "the ingestion did not finish in time; drop the file again to retry"


class DocumentOutcome(StrEnum):
    INDEXED = "indexed"
    FAILED = "failed"
    GONE = "gone"  # out of the index: the record can go too
    EVICTED = "evicted"  # a rejected file's owner finds it no more
    WAIT = "wait"  # not decided yet: ask again
    AGAIN = "again"  # nothing was said of this version: another try
    LEFT = "left"  # stays as it is, for the next run to try


@dataclass(frozen=True, kw_only=True)
class Verdict:
    outcome: DocumentOutcome
    reason: str | None = None
    is_found: bool = True  # False of what counts as indexed though no search finds it yet
    is_uninspected: bool = False  # an inspection that never came would have made it tell more


Decided = list[tuple[Document, Verdict]]


@dataclass(frozen=True, kw_only=True)
class Settled:
    """One document's end, for the log and the metrics."""

    document: Document
    outcome: DocumentOutcome
    is_found: bool = True


def verdict(document: Document, evidence: Evidence | None) -> Verdict:
    """Without evidence it is too early for one."""
    if evidence is None:
        return Verdict(outcome=DocumentOutcome.WAIT)
    if evidence.standing.is_removal:
        return _of_removed(document, evidence)
    found = _of_ingested(document, evidence)
    return (
        found if evidence.is_inspected else replace(found, is_uninspected=_lacks(document, found))
    )


def _lacks(document: Document, found: Verdict) -> bool:
    """Whether what an inspection could tell is missing: a reason, or where passages stand."""
    if found.outcome is DocumentOutcome.INDEXED:
        return has_places(document.filename)
    return (found.reason or "").startswith(UNEXPLAINED_FAILURE)


def _of_removed(document: Document, evidence: Evidence) -> Verdict:
    """What is no longer known may be found for some seconds yet, and then it is not gone."""
    deleting = document.status is DocumentStatus.DELETING
    if evidence.standing.is_out and not evidence.is_found():
        return Verdict(outcome=DocumentOutcome.GONE if deleting else DocumentOutcome.EVICTED)
    if evidence.standing.may_change:
        return Verdict(outcome=DocumentOutcome.WAIT)
    if document.attempts < MAX_ATTEMPTS:
        return Verdict(outcome=DocumentOutcome.AGAIN)
    if deleting:
        # Never more than `deleting` while Bedrock knows it: nothing else would be the truth.
        return Verdict(outcome=DocumentOutcome.LEFT)
    return Verdict(outcome=DocumentOutcome.FAILED, reason=_still_there(str(document.status_reason)))


def _of_ingested(document: Document, evidence: Evidence) -> Verdict:
    standing = evidence.standing
    status = standing.detail.status
    if standing.may_change:
        return Verdict(outcome=DocumentOutcome.WAIT)
    unsaid = status in UNDER_WAY or (status in ABSENT and standing.job_failure_reason is None)
    if not standing.is_current or unsaid:
        return _again(document, evidence)
    if standing.job_failure_reason is not None and status in INDEXED | ABSENT:
        # The write of its vectors failed, or the job left it out: both show nowhere else.
        return _failed(document, evidence, f"Bedrock: {standing.job_failure_reason}")
    if status in INDEXED:
        return _of_indexed(document, evidence)
    if _may_be_passing(document, evidence):
        return Verdict(outcome=DocumentOutcome.AGAIN)
    return _failed(document, evidence, standing.detail.reason or failure_of(status))


def _of_indexed(document: Document, evidence: Evidence) -> Verdict:
    """Indexed is what a search finds; what Bedrock says comes some seconds earlier."""
    if evidence.is_found():
        awaited = evidence.awaits_inspection
        return Verdict(outcome=DocumentOutcome.WAIT if awaited else DocumentOutcome.INDEXED)
    if not evidence.is_due:
        return Verdict(outcome=DocumentOutcome.WAIT)
    if evidence.inspection_reason is not None:
        # A file without any text may count as indexed and have not one passage.
        return _failed(document, evidence, UNEXPLAINED_FAILURE)
    if evidence.standing.is_unproven:
        return _failed(document, evidence, NOT_FOUND)
    return Verdict(outcome=DocumentOutcome.INDEXED, is_found=False)


def _may_be_passing(document: Document, evidence: Evidence) -> bool:
    """
    A failure that nobody explains may be Bedrock's; what is final is ours to try again. A large
    document is tried once: its tries take minutes, in which others wait.
    """
    detail = evidence.standing.detail
    explained = detail.reason or evidence.inspection_reason
    tries_left = document.attempts < MAX_ATTEMPTS and not is_large(document)
    return evidence.standing.is_final and detail.status == "FAILED" and not explained and tries_left


def _again(document: Document, evidence: Evidence) -> Verdict:
    standing = evidence.standing
    if document.attempts < MAX_ATTEMPTS and not standing.is_overdue:
        return Verdict(outcome=DocumentOutcome.AGAIN)
    return _failed(
        document, evidence, _LATE if standing.is_overdue else standing.why_never_taken_up
    )


def _failed(document: Document, evidence: Evidence, reason: str) -> Verdict:
    """Our own inspection says more than Bedrock; an earlier version still found must show."""
    told = evidence.inspection_reason or reason
    stays = document.indexed_at is not None and evidence.is_found()
    return Verdict(outcome=DocumentOutcome.FAILED, reason=_still_there(told) if stays else told)


def _still_there(reason: str) -> str:
    return reason.removesuffix(_STILL_THERE) + _STILL_THERE
