"""Write verdicts into the records of documents, and complete the receipts of removals."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.errors import RecordChanged
from stackroom.model.records import Catalog, Document, DocumentStatus, Receipt
from stackroom.model.repositories import Documents, Receipts
from stackroom.runs.evidence import DocumentEvidence, DocumentOutcome, Verdict
from stackroom.runs.ledger import CompletedWork
from stackroom.runs.run import Run
from stackroom.text.kept_texts import TextKeeping

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


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """
    The result of one task.

    `failures` are, by catalog id, errors that leave something to a later run; `calls` are direct
    calls that the task began; `unexplained` counts failures known from a job's statistics alone.
    """

    run: Run
    settled: Sequence[Settled] = ()
    failures: dict[str, Exception] = field(default_factory=dict)
    calls: int = 0
    unexplained: int = 0


@dataclass(frozen=True, kw_only=True)
class PollResult:
    """
    The result of one poll of a run's work.

    `run` is its new state. `at_work` counts the jobs or calls at work; the youngest of them, or of
    what is not settled yet, began at `began_at`. `evidence` is that of each document that Bedrock
    has decided on. `is_more` is True if something that waits can be sent now; `completed` is the
    work that has finished.
    """

    run: Run
    at_work: int
    evidence: Sequence[DocumentEvidence] = ()
    began_at: datetime | None = None
    is_more: bool = False
    completed: CompletedWork | None = None
    failed_documents: int = 0  # by a job's own count
    failures: dict[str, Exception] = field(default_factory=dict)


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
        before = {document.document_id: document for document, _ in decided}
        changed = [_after(document, verdict, at, self.pace) for document, verdict in decided]
        settled = []
        for each in self.documents.save_all(each for each in changed if each is not None):
            it = verdicts[each.document_id]
            if _leaves_a_text(before[each.document_id], each):
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


def _leaves_a_text(before: Document, after: Document) -> bool:
    """Return True if some text may be unneeded now, also that of a file that was deleted."""
    is_out = before.lingering and not after.lingering
    return is_out or bool(before.text_ids - after.text_ids)


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
            changes = {
                "status_reason": verdict.reason,
                "lingering": False,
                "ingestion_job_id": None,
            }
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
