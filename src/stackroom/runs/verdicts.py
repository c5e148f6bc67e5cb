"""
Turn the evidence of a document into a verdict on its record, and write the verdicts.

The rules are pure, and the same for every type of data source. A job that is COMPLETE proves
nothing of a single document, and a document may still read INDEXED from before. So Bedrock's status
counts only for the version that the round took up.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.errors import RecordChanged
from stackroom.model.records import (
    STILL_ANSWERS,
    UNEXPLAINED_FAILURE,
    Catalog,
    Document,
    DocumentStatus,
    Receipt,
)
from stackroom.model.repositories import Documents, Receipts
from stackroom.runs.evidence import ABSENT, INDEXED, MAX_ATTEMPTS, UNDER_WAY, Evidence, failure_of
from stackroom.text.kept_texts import TextKeeping

NOT_FOUND = (
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


Decided = list[tuple[Document, Verdict]]


@dataclass(frozen=True, kw_only=True)
class Settled:
    """A settled document and its outcome, for the log and the metrics."""

    document: Document
    outcome: DocumentOutcome
    is_found: bool = True

    @property
    def is_indexed(self) -> bool:
        return self.outcome is DocumentOutcome.INDEXED


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
    if evidence.bedrock.is_out and not evidence.is_found():
        return Verdict(outcome=DocumentOutcome.GONE if deleting else DocumentOutcome.EVICTED)
    if evidence.bedrock.may_change:
        return Verdict(outcome=DocumentOutcome.WAIT)
    if document.attempts < MAX_ATTEMPTS:
        return Verdict(outcome=DocumentOutcome.AGAIN)
    if deleting:
        # Never more than `deleting` while Bedrock knows it: nothing else would be the truth.
        return Verdict(outcome=DocumentOutcome.LEFT)
    return Verdict(outcome=DocumentOutcome.FAILED, reason=_still_there(str(document.status_reason)))


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
        return _failed(document, evidence, NOT_FOUND)
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


def _still_there(reason: str) -> str:
    return reason.removesuffix(_STILL_THERE) + _STILL_THERE


@dataclass(frozen=True, kw_only=True)
class VerdictWriter:
    """Writes each document's verdict into its record, and completes the receipts of removals."""

    documents: Documents
    receipts: Receipts
    keeping: TextKeeping
    pace: Pace = REAL_TIME
    now: Callable[[], datetime] = utc_now

    def write(self, catalog: Catalog, decided: Decided) -> list[Settled]:
        """
        Write the verdicts and return the documents that are settled, as saved.

        A document that changed since it was read is left alone. Safe to repeat.
        """
        at = self.now()
        verdicts = {document.document_id: verdict for document, verdict in decided}
        texts = {each.document_id: each.text_ids for each, _ in decided}
        changed = [_after(document, verdict, at, self.pace) for document, verdict in decided]
        settled = []
        for each in self.documents.save_all(each for each in changed if each is not None):
            it = verdicts[each.document_id]
            if texts[each.document_id] - each.text_ids:
                self._tidy(catalog, each)
            if it.outcome is not DocumentOutcome.AGAIN:
                settled.append(Settled(document=each, outcome=it.outcome, is_found=it.is_found))
        gone = []
        for document, verdict in decided:
            if verdict.outcome is DocumentOutcome.LEFT:
                settled.append(Settled(document=document, outcome=DocumentOutcome.LEFT))
            elif verdict.outcome is DocumentOutcome.GONE:
                gone.append(document)
        removed = self._remove(catalog, gone, at)
        return settled + removed

    def _remove(
        self, catalog: Catalog, documents: Iterable[Document], at: datetime
    ) -> list[Settled]:
        removed = []
        for document in documents:
            # Before the record: once that is gone, nobody would come back to complete the receipt.
            self._tidy(catalog, document)
            self._complete_receipt(catalog, document, at)
            try:
                self.documents.remove(document)
            except RecordChanged:
                continue  # it was uploaded again meanwhile, and waits for a round of its own
            removed.append(Settled(document=document, outcome=DocumentOutcome.GONE))
        return removed

    def _tidy(self, catalog: Catalog, document: Document) -> None:
        ids = (catalog.user_id, document.catalog_id, document.document_id)
        self.keeping.tidy(*ids, document.s3_key)

    def _complete_receipt(self, catalog: Catalog, document: Document, at: datetime) -> None:
        if document.receipt_id is None:
            return
        receipt = self.receipts.get(catalog.user_id, document.receipt_id)
        if receipt is not None and _is_of_another_removal(receipt, document):
            # Found again by a reconciler that died before it could say so.
            self.receipts.reopen(receipt, at=document.uploaded_at)
            receipt = self.receipts.get(catalog.user_id, document.receipt_id)
        if receipt is not None and receipt.is_open:
            times = {"not_found_at": at, "unsearchable_since": at}
            done = receipt.model_copy(update={**times, "waited_until": document.unseen_until})
            self.receipts.keep(done)


def _is_of_another_removal(receipt: Receipt, document: Document) -> bool:
    proven = receipt.unsearchable_since
    return proven is not None and proven < document.uploaded_at


_POSTPONED = "Bedrock fails at the moment; the file is tried again by itself, after "
# The length of a pause, in seconds on AWS.
_SHORTEST_PAUSE, _LONGEST_PAUSE = 60.0, 3600.0


def _postponement(document: Document, *, at: datetime, pace: Pace) -> dict[str, object]:
    """Return what changes in the record of a document that is `pending` until it is tried again."""
    since = document.failing_since or at
    shortest, longest = (
        timedelta(seconds=pace.here(each)) for each in (_SHORTEST_PAUSE, _LONGEST_PAUSE)
    )
    retry_at = at + min(max(shortest, at - since), longest)
    return {
        "status_reason": f"{_POSTPONED}{retry_at:%Y-%m-%d %H:%M} UTC",
        "failing_since": since,
        "retry_at": retry_at,
    }


_NOT_INDEXED = {"indexed_at": None, "indexed_text_id": None, "indexed_version_id": None}


def _after(document: Document, verdict: Verdict, at: datetime, pace: Pace) -> Document | None:
    """Return the document with the verdict applied, or None if its record doesn't change."""
    match verdict.outcome:
        case DocumentOutcome.INDEXED:
            return document.moved(DocumentStatus.INDEXED, at=at).model_copy(
                update={
                    "indexed_at": at,
                    "indexed_text_id": document.text_id,
                    "indexed_version_id": document.version_id,
                    "lingering": False,
                    "unseen_until": None if verdict.is_found else document.unseen_until,
                    "title_words": verdict.title_words,
                    "gaps": verdict.gaps,
                }
            )
        case DocumentOutcome.FAILED:
            failed = document.moved(DocumentStatus.FAILED, at=at, reason=verdict.reason)
            changes: dict[str, object] = {} if verdict.keeps_version else {**_NOT_INDEXED}
            changes["lingering"] = verdict.evicts or document.lingering
            return failed.model_copy(update=changes)
        case DocumentOutcome.EVICTED:
            was_found = _NOT_FOUND_ANY_MORE if document.indexed_at is not None else ""
            reason = str(document.status_reason).removesuffix(_STILL_THERE) + was_found
            changes = {"status_reason": reason, "lingering": False, "ingestion_job_id": None}
            return document.model_copy(update={**changes, **_NOT_INDEXED})
        case DocumentOutcome.AGAIN | DocumentOutcome.POSTPONED:
            # Deleting and lingering documents are work as they stand.
            if document.status is not DocumentStatus.INDEXING:
                return None
            # It queues up anew: whatever has not been tried yet comes first.
            again: dict[str, object] = {"opened_at": at, "failing_since": document.failing_since}
            if verdict.outcome is DocumentOutcome.POSTPONED:
                again = _postponement(document, at=at, pace=pace)
            return document.moved(DocumentStatus.PENDING, at=at).model_copy(update=again)
        case DocumentOutcome.WAIT | DocumentOutcome.GONE | DocumentOutcome.LEFT:
            return None
