"""Ports that take note of every write and, in a rehearsal, keep it from happening."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.model import Catalog, CatalogStatus, DataSource, Document, Receipt
from stackroom.ports.bucket import DocumentBucket, StoredObject, StoredSidecar
from stackroom.ports.catalogs import CatalogRegister
from stackroom.ports.documents import Documents
from stackroom.ports.receipts import Receipts


@dataclass
class Notes:
    """What was written or, in a rehearsal, would have been."""

    dry_run: bool
    written: list[str] = field(default_factory=list)

    def may(self, write: str) -> bool:
        self.written.append(write)
        return not self.dry_run


@dataclass(frozen=True, kw_only=True)
class NotedDocuments:
    documents: Documents
    notes: Notes

    def get(self, catalog_id: str, document_id: str) -> Document | None:
        return self.documents.get(catalog_id, document_id)

    def save(self, document: Document) -> Document:
        return self.documents.save(document) if self.notes.may("save") else document

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        return self.documents.save_all(documents) if self.notes.may("save") else list(documents)

    def remove(self, document: Document) -> None:
        if self.notes.may("remove"):
            self.documents.remove(document)

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        return self.documents.of_catalog(catalog_id)


@dataclass(frozen=True, kw_only=True)
class NotedBucket:
    bucket: DocumentBucket
    notes: Notes

    def head(self, key: str) -> StoredObject | None:
        return self.bucket.head(key)

    def sidecar_of(self, key: str) -> StoredSidecar | None:
        return self.bucket.sidecar_of(key)

    def write_sidecar(self, key: str, body: bytes) -> None:
        # Not what makes a discrepancy: where a stray lies, it is written over and over.
        if not self.notes.dry_run:
            self.bucket.write_sidecar(key, body)

    def remove_sidecar(self, key: str) -> None:
        if not self.notes.dry_run:
            self.bucket.remove_sidecar(key)

    def remove(self, key: str) -> None:
        if self.notes.may("remove object"):
            self.bucket.remove(key)

    def purge(self, prefix: str, *, until: datetime) -> Iterator[list[str]]:
        return self.bucket.purge(prefix, until=until) if self.notes.may("purge") else iter(())

    def sidecars_of(self, keys: Sequence[str]) -> dict[str, StoredSidecar]:
        return self.bucket.sidecars_of(keys)

    def holds_any(self, prefix: str) -> bool:
        return self.bucket.holds_any(prefix)

    def uri_of(self, key: str) -> str:
        return self.bucket.uri_of(key)


@dataclass(frozen=True, kw_only=True)
class NotedReceipts:
    receipts: Receipts
    notes: Notes

    def get(self, user_id: str, receipt_id: str) -> Receipt | None:
        return self.receipts.get(user_id, receipt_id)

    def keep(self, receipt: Receipt) -> None:
        if self.notes.may("keep receipt"):
            self.receipts.keep(receipt)

    def of_user(self, user_id: str) -> Iterator[Receipt]:
        return self.receipts.of_user(user_id)


@dataclass(frozen=True, kw_only=True)
class NotedCatalogs:
    """One that a rehearsal opens is there for as long as this is: who opens it looks again."""

    catalogs: CatalogRegister
    notes: Notes
    opened: dict[str, Catalog] = field(default_factory=dict)

    def get(self, catalog_id: str) -> Catalog | None:
        return self.catalogs.get(catalog_id) or self.opened.get(catalog_id)

    def of_user(self, user_id: str) -> Iterator[Catalog]:
        return self.catalogs.of_user(user_id)

    def open(self, catalog: Catalog) -> Catalog:
        if self.notes.dry_run:
            self.opened[catalog.catalog_id] = catalog
        else:
            catalog = self.catalogs.open(catalog)
        self.notes.written.append("open")  # not if it was refused
        return catalog

    def close(self, catalog: Catalog) -> None:
        if self.notes.may("close"):
            self.catalogs.close(catalog)

    def place(self, catalog_id: str, source: DataSource) -> None:
        if self.notes.may("place"):
            self.catalogs.place(catalog_id, source)

    def clear_data_source(self, catalog_id: str) -> None:
        if self.notes.may("clear_data_source"):
            self.catalogs.clear_data_source(catalog_id)

    def update_totals(
        self, catalog_id: str, *, status: CatalogStatus, count: int, size: int, at: datetime
    ) -> None:
        if self.notes.may("update_totals"):
            self.catalogs.update_totals(catalog_id, status=status, count=count, size=size, at=at)

    def mark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        if self.notes.may("mark_deleting"):
            self.catalogs.mark_deleting(catalog_id, at=at)

    def unmark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        if self.notes.may("unmark_deleting"):
            self.catalogs.unmark_deleting(catalog_id, at=at)
