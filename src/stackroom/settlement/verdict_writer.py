"""Writing each document's verdict into its record, and completing the receipts of removals."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.errors import RecordChanged
from stackroom.model import UNEXPLAINED_FAILURE, Catalog, Document, DocumentStatus, Receipt
from stackroom.ports.documents import Documents
from stackroom.ports.inspection import InspectionResults
from stackroom.ports.receipts import Receipts
from stackroom.settlement.verdicts import Decided, DocumentOutcome, Settled, Verdict


@dataclass(frozen=True, kw_only=True)
class VerdictWriter:
    documents: Documents
    inspections: InspectionResults
    receipts: Receipts
    now: Callable[[], datetime] = utc_now

    def write(self, catalog: Catalog, decided: Decided) -> list[Settled]:
        """
        What came to its end, as it was saved.

        A document that changed since it was read is left alone. Safe to repeat.
        """
        at = self.now()
        verdicts = {document.document_id: verdict for document, verdict in decided}
        changed = [_after(document, verdict, at) for document, verdict in decided]
        saved = self.documents.save_all(each for each in changed if each is not None)
        settled = [
            _settled(each, verdicts[each.document_id])
            for each in saved
            if verdicts[each.document_id].outcome is not DocumentOutcome.AGAIN
        ]
        settled += [
            Settled(document=document, outcome=DocumentOutcome.LEFT)
            for document, verdict in decided
            if verdict.outcome is DocumentOutcome.LEFT
        ]
        gone = [
            document for document, verdict in decided if verdict.outcome is DocumentOutcome.GONE
        ]
        removed = self._remove(catalog, gone, at)
        return self._explain(settled) + [
            Settled(document=each, outcome=DocumentOutcome.GONE) for each in removed
        ]

    def _explain(self, settled: list[Settled]) -> list[Settled]:
        """
        Give failures without a reason the one that an inspection has found in the meantime.

        The inspection writes its result before it looks at the record, and we look for the result
        after we have written the record: whoever is second sees the other.
        """
        silent = [
            each.document for each in settled if each.document.status_reason == UNEXPLAINED_FAILURE
        ]
        results = self.inspections.results_for(silent) if silent else {}
        reasons = {each: reason for each, reason in results.items() if reason is not None}
        at = self.now()
        told = {
            each.document_id: each
            for each in self.documents.save_all(
                each.moved(
                    DocumentStatus.FAILED, at=at, reason=reasons[each.document_id]
                ).model_copy(update={"uninspected": False})
                for each in silent
                if each.document_id in reasons
            )
        }
        return [
            replace(each, document=told.get(each.document.document_id, each.document))
            for each in settled
        ]

    def _remove(
        self, catalog: Catalog, documents: Iterable[Document], at: datetime
    ) -> list[Document]:
        removed = []
        for document in documents:
            # Before the record: once that is gone, nobody would come back to complete the receipt.
            self._complete_receipt(catalog, document, at)
            try:
                self.documents.remove(document)
            except RecordChanged:
                continue  # it was uploaded again meanwhile, and waits for a round of its own
            removed.append(document)
        return removed

    def _complete_receipt(self, catalog: Catalog, document: Document, at: datetime) -> None:
        if document.receipt_id is None:
            return
        receipt = self.receipts.get(catalog.user_id, document.receipt_id)
        if receipt is not None and _is_of_another_removal(receipt, document):
            # Found again by a reconciler that died before it could say so.
            self.receipts.reopen(receipt, at=document.uploaded_at)
            receipt = self.receipts.get(catalog.user_id, document.receipt_id)
        if receipt is not None and receipt.is_open:
            told = {"not_found_at": at, "unsearchable_since": at}
            done = receipt.model_copy(update={**told, "waited_until": document.unseen_until})
            self.receipts.keep(done)


def _is_of_another_removal(receipt: Receipt, document: Document) -> bool:
    proven = receipt.unsearchable_since
    return proven is not None and proven < document.uploaded_at


def _settled(document: Document, verdict: Verdict) -> Settled:
    return Settled(document=document, outcome=verdict.outcome, is_found=verdict.is_found)


def _after(document: Document, verdict: Verdict, at: datetime) -> Document | None:
    """The document as the verdict leaves it, or None if it stays (or goes) as it is."""
    match verdict.outcome:
        case DocumentOutcome.INDEXED:
            indexed = document.moved(DocumentStatus.INDEXED, at=at)
            return indexed.model_copy(
                update={
                    "indexed_at": at,
                    "lingering": False,
                    "unseen_until": None if verdict.is_found else document.unseen_until,
                    "uninspected": verdict.is_uninspected,
                }
            )
        case DocumentOutcome.FAILED:
            failed = document.moved(DocumentStatus.FAILED, at=at, reason=verdict.reason)
            return failed.model_copy(update={"uninspected": verdict.is_uninspected})
        case DocumentOutcome.EVICTED:
            return document.model_copy(
                update={"lingering": False, "indexed_at": None, "ingestion_job_id": None}
            )
        case DocumentOutcome.AGAIN:
            # Deleting and lingering documents are work as they stand.
            is_ingested = document.status is DocumentStatus.INDEXING
            if not is_ingested:
                return None
            # It queues up anew: whatever has not been tried yet comes first.
            return document.moved(DocumentStatus.PENDING, at=at).model_copy(
                update={"opened_at": at}
            )
        case DocumentOutcome.WAIT | DocumentOutcome.GONE | DocumentOutcome.LEFT:
            return None
