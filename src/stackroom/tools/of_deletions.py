"""The tools that delete: a document, or a catalog with all it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stackroom.access.identity import Caller
from stackroom.access.tenancy import in_use, owned
from stackroom.documents.model import Catalog, Receipt
from stackroom.errors import ConfirmationRequired
from stackroom.tools.arguments import DeleteCatalog, OfDocument
from stackroom.tools.definition import CatalogTool, Display, Rendered
from stackroom.tools.texts import counted, megabytes, shown, size

if TYPE_CHECKING:
    from stackroom.tools.definition import Services


@dataclass(frozen=True, kw_only=True)
class Removal:
    """A catalog's deletion, as far as it has come by the time of the answer."""

    catalog: Catalog
    documents: int
    size: int
    receipts: int
    is_gone: bool
    is_asked_for: bool

    @property
    def shares(self) -> bool:
        """Whether its data source is that of other catalogs, too, and stays."""
        source = self.catalog.source
        return source is not None and source.is_shared

    @property
    def what(self) -> str:
        return "Vectors" if self.shares else "Data source and vectors"


def _delete_document(services: Services, asked: OfDocument, caller: Caller) -> Receipt:
    in_use(services.deletions.catalogs, caller.user_id, asked.catalog_id)
    return services.deletions.delete_document(caller.user_id, asked.catalog_id, asked.document_id)


def _document_deleted(receipt: Receipt) -> Rendered:
    return Rendered(
        f"Deleted '{shown(receipt.filename)}' from catalog. Vector cleanup initiated.",
        {
            "document_id": receipt.document_id,
            "filename": receipt.filename,
            # Of one that was never indexed no search was needed, and none has proved it.
            "vectors_removed": receipt.searchable_before is not None
            and receipt.unsearchable_since is not None,
            "receipt_id": receipt.receipt_id,
        },
    )


DELETE_CATALOG_DOCUMENT = CatalogTool(
    name="delete_catalog_document",
    description=(
        "Delete a document from a catalog: its file at once, its passages as soon as the index"
        " lets go of them."
    ),
    arguments=OfDocument,
    use=_delete_document,
    render=_document_deleted,
    display=Display(
        name="Delete Document", running="Deleting document", complete="Document deleted"
    ),
)


def _delete_catalog(services: Services, asked: DeleteCatalog, caller: Caller) -> Removal:
    catalogs = services.deletions.catalogs
    if not asked.confirm:
        catalog = in_use(catalogs, caller.user_id, asked.catalog_id)
        documents = counted(catalog.document_count, "document")
        raise ConfirmationRequired(
            f"Catalog '{shown(catalog.name)}' ({catalog.catalog_id}) and its {documents}"
            f" ({size(catalog.total_bytes)})"
        )
    catalog = owned(catalogs, caller.user_id, asked.catalog_id)
    deletion = services.deletions.delete_catalog(caller.user_id, asked.catalog_id)
    return Removal(
        catalog=catalog,
        documents=deletion.documents,
        size=deletion.size,
        receipts=len(deletion.receipt_ids),
        is_gone=deletion.is_asked_for and services.deletions.is_gone(asked.catalog_id),
        is_asked_for=deletion.is_asked_for,
    )


def _catalog_deleted(removal: Removal) -> Rendered:
    documents = counted(removal.documents, "document")
    if not removal.is_asked_for:
        rest = (
            "Not all of them are asked for yet: call delete_catalog with confirm=true again, and it"
            " goes on."
        )
    elif removal.is_gone:
        rest = f"{removal.what} removed."
    else:
        rest = (
            f"{removal.what} are still being removed; list_catalogs shows the catalog until they"
            " are gone."
        )
    return Rendered(
        f"Deleted catalog '{shown(removal.catalog.name)}' and all {documents}. {rest}",
        {
            "catalog_id": removal.catalog.catalog_id,
            "documents_deleted": removal.documents,
            "storage_freed_mb": megabytes(removal.size),
            "data_source_deleted": removal.is_gone and not removal.shares,
            "vectors_cleanup_initiated": True,
            "receipt_ids_count": removal.receipts,
        },
    )


DELETE_CATALOG = CatalogTool(
    name="delete_catalog",
    description=(
        "Delete a catalog with every document in it, for good. Without confirm nothing is deleted,"
        " and the answer says what would be."
    ),
    arguments=DeleteCatalog,
    use=_delete_catalog,
    render=_catalog_deleted,
    display=Display(name="Delete Catalog", running="Deleting catalog", complete="Catalog deleted"),
)
