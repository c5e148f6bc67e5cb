"""
Handle documents in a knowledge base that have no record: a deleted document may still be found.

If the file is known, a record with status `deleting` is created, so that a run removes the document
and verifies that. A CUSTOM data source doesn't know files, but a search may return the document's.
What no search finds, or has no catalog, is deleted directly, and only while no run has a grant for
the knowledge base: Bedrock reports "busy" to a run that starts meanwhile, and it waits.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from stackroom.access.tenancy import Operator, key_of
from stackroom.model.keys import digest, document_id_of
from stackroom.model.records import (
    Catalog,
    DataSource,
    DataSourceType,
    Document,
    DocumentStatus,
    Receipt,
)
from stackroom.reconciler.audited import Audited
from stackroom.reconciler.discrepancies import Discrepancy, Kind
from stackroom.reconciler.mending import LeftForLater, report_unrepaired
from stackroom.runs.bedrock_calls import Busy, DocumentDetail
from stackroom.runs.evidence import ABSENT, UNDER_WAY
from stackroom.runs.inventory import ListedDocument

_OURS = re.compile(r"doc-[0-9a-f]{24}")
# Results of one Retrieve [API model: numberOfResults]: others may bear the same id as an attribute.
_MOST = 100


@dataclass(frozen=True)
class Orphans:
    context: Audited

    def follow(
        self, source: DataSource, catalog: Catalog | None, listed: ListedDocument
    ) -> Iterator[Discrepancy]:
        """
        Handle one listed document. `catalog` is the only catalog of the data source, if it has one.
        """
        if self._is_passing(listed):
            return
        if catalog is not None and source.type is DataSourceType.S3:
            yield from self._of_catalog(catalog, key_of(listed.identifier))
        elif not is_of_our_form(listed.identifier):
            yield report_unrepaired(
                Kind.INDEXED_WITHOUT_RECORD,
                _where(source, listed),
                remedy="left alone: it is none of ours",
            )
        elif self._is_still(source, listed):
            yield from self._of_nobody(source, listed)

    def surplus(self, source: DataSource, listed: ListedDocument) -> Iterator[Discrepancy]:
        """Handle a document of a catalog in another data source; only CUSTOM ones have these."""
        if not self._is_passing(listed) and self._is_still(source, listed):
            yield from self._deleted(source, listed, why="its catalog lives elsewhere")

    def _of_nobody(self, source: DataSource, listed: ListedDocument) -> Iterator[Discrepancy]:
        operator, document_id = Operator(), listed.identifier
        searched = self.context.knowledge_base(source.knowledge_base_id)
        found = searched.retrieve("document", operator.filter(document_id), _MOST).passages
        origin = operator.origin_of(document_id, found)
        catalog = self.context.catalogs.get(origin.catalog_id) if origin is not None else None
        if origin is not None and catalog is not None:
            yield from self._of_catalog(catalog, catalog.s3_prefix + origin.filename)
        else:
            # A dry run opens no lost catalog again; then it had one.
            unless = ", unless its catalog is opened again" if self.context.mending.dry_run else ""
            yield from self._deleted(source, listed, why=f"it belongs to no catalog{unless}")

    def _of_catalog(self, catalog: Catalog, key: str) -> Iterator[Discrepancy]:
        filename = key.removeprefix(catalog.s3_prefix)
        if self.context.bucket.head(key) is not None:
            return  # what the object lacks, the comparison with the bucket finds
        document = deleting(catalog, filename, at=self.context.mending.now())
        yield from self.context.mending.saved(document, Kind.INDEXED_WITHOUT_RECORD)

    def _deleted(
        self, source: DataSource, listed: ListedDocument, *, why: str
    ) -> Iterator[Discrepancy]:
        yield from self.context.mending.mended(
            Kind.INDEXED_WITHOUT_RECORD,
            _where(source, listed),
            by=partial(self._delete, source, listed),
            remedy=f"deleted from the knowledge base directly, for {why}",
        )

    def _delete(self, source: DataSource, listed: ListedDocument) -> None:
        grants, named = self.context.book.read().grants, [listed.identifier]
        in_use = any(each.knowledge_base_id == source.knowledge_base_id for each in grants)
        token = digest(f"{listed.identifier} {listed.detail.updated_at}")
        if in_use or isinstance(self.context.direct.delete(source, named, token=token), Busy):
            raise LeftForLater("left for the next time: the knowledge base is in use")

    def _is_passing(self, listed: ListedDocument) -> bool:
        reported_at = listed.detail.updated_at
        fresh = reported_at is None or not self.context.mending.is_settled(reported_at)
        return fresh or is_passing(listed.detail)

    def _is_still(self, source: DataSource, listed: ListedDocument) -> bool:
        """Return True if the document is unchanged since; otherwise it may have a record by now."""
        now = self.context.direct.details(source, [listed.identifier])[listed.identifier]
        return now == listed.detail


def deleting(
    catalog: Catalog, filename: str, *, at: datetime, receipt: Receipt | None = None
) -> Document:
    """Return the record by which a run removes the document; its deletion may have a `receipt`."""
    return Document(
        catalog_id=catalog.catalog_id,
        document_id=document_id_of(catalog.catalog_id, filename),
        filename=filename,
        s3_key=catalog.s3_prefix + filename,
        status=DocumentStatus.DELETING,
        uploaded_at=at,
        updated_at=at,
        present_since=at,
        receipt_id=receipt.receipt_id if receipt is not None else None,
    )


def is_of_our_form(identifier: str) -> bool:
    """Return True if it may be the id of one of our documents."""
    return _OURS.fullmatch(identifier) is not None


def is_passing(detail: DocumentDetail) -> bool:
    """Return True if the document is gone, or is being indexed or deleted."""
    return detail.status in ABSENT | UNDER_WAY


def _where(source: DataSource, listed: ListedDocument) -> str:
    return f"{source.knowledge_base_id}/{source.data_source_id}: {listed.identifier}"
