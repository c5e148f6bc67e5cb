"""
What the knowledge bases list against the records, both ways, as many documents as fit at a time.

A data source lists its documents in an order of its own, and a CUSTOM one by our ids alone, which
don't tell the catalog; so the records are read beside each window of ids. Whatever looks wrong is
asked for again by itself before anything is done: both sides go on changing meanwhile.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from stackroom.audits.discrepancies import Discrepancy, Kind, Step
from stackroom.audits.listings import Cursor, Listings, Unlisted, where
from stackroom.audits.mending import Mending
from stackroom.audits.orphans import Orphans
from stackroom.audits.window import Window
from stackroom.model import Catalog, DataSource, Document, DocumentStatus, PerSourceType
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.ingestion import NOT_FOUND, DocumentDetail
from stackroom.ports.inventory import Inventory, ListedDocument
from stackroom.settlement.details import Details
from stackroom.settlement.search_check import SearchCheck

# DocumentStatus [API model bedrock-agent]
_AS_IT_SHOULD_BE = frozenset({"INDEXED", "PENDING", "STARTING", "IN_PROGRESS"})


@dataclass(frozen=True, kw_only=True)
class IndexAudit:
    inventory: Inventory
    catalogs: Catalogs
    documents: Documents
    listings: Listings
    orphans: Orphans
    details: PerSourceType[Details]
    search_check: SearchCheck
    mending: Mending

    def step(self, cursor: str | None) -> Step:
        at = Cursor.model_validate_json(cursor) if cursor else Cursor()
        try:
            listing = self.listings.next(at)
        except Unlisted as unlisted:
            yield Discrepancy.not_compared(unlisted.what, unlisted.__cause__ or unlisted)
            return unlisted.following
        if listing is not None and listing.window is not None:
            compared = self._compare(listing.source, listing.catalog, listing.window)
            yield from self.mending.apart(where(listing.source), compared)
        return self.listings.after(at, listing)

    def _compare(
        self, source: DataSource, catalog: Catalog | None, window: Window[ListedDocument]
    ) -> Iterator[Discrepancy]:
        """`catalog` is the one that has the data source to itself."""
        listed_at = self.mending.now()
        records = self._records(catalog)
        for catalog_id, documents in groupby(records, key=lambda each: each.catalog_id):
            home = self.catalogs.get(catalog_id)
            lives_in = home.source if home is not None else None
            for document in documents:
                if not window.covers(document.document_id):
                    continue
                listed = window.pop(document.document_id)
                said = listed.detail if listed is not None else NOT_FOUND
                # Of a document that changed since it was listed, the listing tells nothing.
                if not self.mending.is_settled(document.updated_at, by=listed_at):
                    continue
                if home is not None and lives_in == source and _suspicion(document, said):
                    found = self._mend(home, source, document)
                    yield from self.mending.apart(document.s3_key, found)
                elif lives_in not in (None, source) and listed is not None:
                    found = self.orphans.surplus(source, listed)
                    yield from self.mending.apart(listed.identifier, found)
        for listed in window.values():
            found = self.orphans.follow(source, catalog, listed)
            yield from self.mending.apart(listed.identifier, found)

    def _records(self, catalog: Catalog | None) -> Iterator[Document]:
        if catalog is not None:
            yield from self.documents.of_catalog(catalog.catalog_id)
            return
        cursor, more = None, True
        while more:
            page = self.inventory.records(cursor)
            yield from (each for each in page.items if isinstance(each, Document))
            cursor, more = page.next, page.next is not None

    def _mend(
        self, catalog: Catalog, source: DataSource, document: Document
    ) -> Iterator[Discrepancy]:
        now = self.documents.get(document.catalog_id, document.document_id)
        if now is None or now.version != document.version:
            return
        details = self.details.of(source).of(source, [document])
        kind = _suspicion(document, details[document.document_id])
        if kind is Kind.INDEXED_AFTER_ALL and not self.search_check.found(catalog, [document]):
            return
        if kind is not None:
            yield from self.mending.run_again(document, kind)


def _suspicion(document: Document, said: DocumentDetail) -> Kind | None:
    if document.status is DocumentStatus.INDEXED:
        return None if said.status in _AS_IT_SHOULD_BE else Kind.MISSING_FROM_INDEX
    if document.status is DocumentStatus.FAILED and _was_indexed_since(document, said):
        return Kind.INDEXED_AFTER_ALL
    return None


def _was_indexed_since(document: Document, said: DocumentDetail) -> bool:
    """What the knowledge base said before the document failed, its verdict has taken in."""
    if document.lingering or document.present_since is None or said.updated_at is None:
        return False
    return said.status == "INDEXED" and said.updated_at > document.updated_at
