"""Find deleted documents by search, whatever the knowledge base lists."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from stackroom.model.records import Catalog, Document, Receipt
from stackroom.reconciler.audited import Audited, Piece
from stackroom.reconciler.discrepancies import BETWEEN, Discrepancy, Kind
from stackroom.reconciler.index_orphans import deleting
from stackroom.reconciler.mending import isolate_failures


@dataclass(frozen=True)
class DeletionAudit:
    """
    Audit of the text of deleted documents.

    A search has proven each deletion, and its receipt says when. An ingestion that was under way
    unseen may add the text again after that, so each proven deletion is searched for once more,
    five documents at a time. That is one search for five deletions, and as many again for those of
    the last hour, which the next round also checks; the proof itself took at least as many.

    The latest proof comes first: if a file was deleted twice, that is the one that no longer holds.

    Catalogs that are gone are skipped: their deletion has searched all of them, and the comparison
    with the index finds what a knowledge base lists of them.

    A step is a page of receipts.
    """

    context: Audited

    def step(self, cursor: str | None) -> Piece:
        page = self.context.receipts.proven(cursor)
        due = [each for each in page.items if self._is_due(each)]
        yield from isolate_failures(f"{len(due)} deleted documents", self._of(due))
        return page.next

    def _is_due(self, receipt: Receipt) -> bool:
        proven = receipt.unsearchable_since
        return proven is not None and self.context.mending.is_settled(proven)

    def _of(self, due: Sequence[Receipt]) -> Iterator[Discrepancy]:
        catalogs = {
            each: self.context.catalogs.get(each) for each in {each.catalog_id for each in due}
        }
        gone = [
            (receipt, catalog, self._record(catalog, receipt))
            for receipt in due
            if (catalog := catalogs[receipt.catalog_id]) is not None
            and catalog.source is not None
            and self.context.documents.get(catalog.catalog_id, receipt.document_id) is None
        ]
        found = self.context.search_check.found((catalog, record) for _, catalog, record in gone)
        for receipt, _, record in gone:
            if record.document_id in found:
                yield from isolate_failures(record.s3_key, self._again(receipt, record))
        for receipt in due:
            if receipt.document_id not in found and self._is_for_the_last_time(receipt):
                self.context.receipts.end_checks(receipt)

    def _record(self, catalog: Catalog, receipt: Receipt) -> Document:
        return deleting(catalog, receipt.filename, at=self.context.mending.now(), receipt=receipt)

    def _again(self, receipt: Receipt, record: Document) -> Iterator[Discrepancy]:
        if self.context.bucket.head(record.s3_key) is not None:
            return  # what the object lacks, the comparison with the bucket finds
        yield from self.context.mending.mended(
            Kind.FOUND_AFTER_DELETION, record.s3_key, by=partial(self._remove, receipt, record)
        )

    def _remove(self, receipt: Receipt, record: Document) -> None:
        """Save the record first: if another record exists by now, the receipt stays as it is."""
        self.context.documents.save(record)
        self.context.receipts.reopen(receipt, at=record.updated_at)
        self.context.requests.ask(record.catalog_id)

    def _is_for_the_last_time(self, receipt: Receipt) -> bool:
        proven = receipt.unsearchable_since
        is_old = proven is not None and self.context.mending.now() - proven >= BETWEEN
        return is_old and not self.context.mending.dry_run
