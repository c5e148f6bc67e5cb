"""
Text of deleted documents that a search finds after all, whatever the knowledge base lists.

A search has proven each deletion, and its receipt says when. What an ingestion has under way where
nothing tells of it may come in after that: so what was proven is looked for once more, by a search
for five documents at a time. One search in five deletions, then, and at most as many again for
those of the last hour, which the next round looks for, too: the proof itself took no fewer.

The latest proof first: of a file that was deleted twice it is the one that no longer holds, and it
is the removal's that follows.

Of a catalog that is gone nothing is looked for: its takedown has searched all of it, and what its
knowledge base lists of it the comparison with the index finds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from stackroom.ingestion.search_check import SearchCheck
from stackroom.model import Catalog, Document, Receipt
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.receipts import ProvenReceipts
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Step
from stackroom.reconciler.mending import Mending
from stackroom.reconciler.orphans import deleting
from stackroom.reconciler.rounds import BETWEEN
from stackroom.runs.run_requests import RunRequests


@dataclass(frozen=True, kw_only=True)
class DeletionAudit:
    """A step is a page of receipts."""

    receipts: ProvenReceipts
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    requests: RunRequests
    search_check: SearchCheck
    mending: Mending

    def step(self, cursor: str | None) -> Step:
        page = self.receipts.proven(cursor)
        due = [each for each in page.items if self._is_due(each)]
        yield from self.mending.apart(f"{len(due)} deleted documents", self._of(due))
        return page.next

    def _is_due(self, receipt: Receipt) -> bool:
        proven = receipt.unsearchable_since
        return proven is not None and self.mending.is_settled(proven)

    def _of(self, due: Sequence[Receipt]) -> Iterator[Discrepancy]:
        catalogs = {each: self.catalogs.get(each) for each in {each.catalog_id for each in due}}
        gone = [
            (receipt, catalog, self._record(catalog, receipt))
            for receipt in due
            if (catalog := catalogs[receipt.catalog_id]) is not None
            and catalog.source is not None
            and self.documents.get(catalog.catalog_id, receipt.document_id) is None
        ]
        found = self.search_check.found((catalog, record) for _, catalog, record in gone)
        for receipt, _, record in gone:
            if record.document_id in found:
                again = self._again(receipt, record)
                yield from self.mending.apart(record.s3_key, again)
        for receipt in due:
            if receipt.document_id not in found and self._is_for_the_last_time(receipt):
                self.receipts.let_go(receipt)

    def _record(self, catalog: Catalog, receipt: Receipt) -> Document:
        return deleting(catalog, receipt.filename, at=self.mending.now(), receipt=receipt)

    def _again(self, receipt: Receipt, record: Document) -> Iterator[Discrepancy]:
        if self.bucket.head(record.s3_key) is not None:
            return  # what the object lacks, the comparison with the bucket finds
        yield from self.mending.mended(
            Kind.FOUND_AFTER_DELETION, record.s3_key, by=partial(self._remove, receipt, record)
        )

    def _remove(self, receipt: Receipt, record: Document) -> None:
        """The record first: where another one was made meanwhile, the receipt stays as it is."""
        self.documents.save(record)
        self.receipts.reopen(receipt, at=record.updated_at)
        self.requests.ask(record.catalog_id)

    def _is_for_the_last_time(self, receipt: Receipt) -> bool:
        proven = receipt.unsearchable_since
        is_old = proven is not None and self.mending.now() - proven >= BETWEEN
        return is_old and not self.mending.dry_run
