"""The tools for a catalog's documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stackroom.access.identity import Caller
from stackroom.catalogs.fetching import LINK_SECONDS, DownloadLink
from stackroom.documents.model import Document
from stackroom.tools.arguments import ListCatalogDocuments, OfDocument, token_of
from stackroom.tools.definition import CatalogTool, Display, Rendered
from stackroom.tools.texts import cell, counted, iso, kilobytes, minute, shown, size

if TYPE_CHECKING:
    from stackroom.catalogs.listing import DocumentsOfCatalog
    from stackroom.tools.definition import Services


def _list(services: Services, asked: ListCatalogDocuments, caller: Caller) -> DocumentsOfCatalog:
    return services.listing.documents_of(caller.user_id, asked.catalog_id, after=asked.next_token)


def _listed(page: DocumentsOfCatalog) -> Rendered:
    count = counted(page.total, "document")
    lines = [f"Catalog '{shown(page.catalog.name)}' contains {count}:"]
    if page.documents:
        lines += ["", "| Filename | ID | Size | Status | Uploaded |", "|---|---|---|---|---|"]
        lines += [_row(each) for each in page.documents]
    elif not page.total:
        lines = [f"{lines[0].removesuffix(':')}. Use upload_to_catalog to add one."]
    token = token_of(page.next) if page.next else None
    if token:
        lines += ["", f"There are more: call list_catalog_documents with next_token {token}."]
    return Rendered(
        "\n".join(lines),
        {
            "catalog_id": page.catalog.catalog_id,
            "document_count": page.total,
            "documents": [
                {
                    "document_id": each.document_id,
                    "filename": each.filename,
                    "file_size_kb": kilobytes(each.size),
                    "indexing_status": str(each.shown_status),
                    "status_reason": each.status_reason,
                    "uploaded_at": iso(each.uploaded_at),
                }
                for each in page.documents
            ],
            "next_token": token,
        },
    )


def _row(document: Document) -> str:
    reason = f": {cell(document.status_reason)}" if document.status_reason else ""
    cells = (
        cell(document.filename),
        document.document_id,
        size(document.size),
        str(document.shown_status) + reason,
        minute(document.uploaded_at),
    )
    return f"| {' | '.join(cells)} |"


LIST_CATALOG_DOCUMENTS = CatalogTool(
    name="list_catalog_documents",
    description=(
        "List the documents of a catalog, each with its id, size, status and, if it failed, the"
        " reason."
    ),
    arguments=ListCatalogDocuments,
    use=_list,
    render=_listed,
    display=Display(
        name="List Documents", running="Listing documents", complete="Listed documents"
    ),
)


def _download(services: Services, asked: OfDocument, caller: Caller) -> DownloadLink:
    return services.fetching.link(caller.user_id, asked.catalog_id, asked.document_id)


def _downloadable(link: DownloadLink) -> Rendered:
    file, minutes = shown(link.document.filename), LINK_SECONDS // 60
    return Rendered(
        f"Download link for '{file}' (expires in {minutes} minutes): {link.url}",
        {
            "document_id": link.document.document_id,
            "filename": link.document.filename,
            "download_url": link.url,
            "expires_in_seconds": LINK_SECONDS,
        },
    )


DOWNLOAD_FROM_CATALOG = CatalogTool(
    name="download_from_catalog",
    description="Get a link by which a document's file can be downloaded for 15 minutes.",
    arguments=OfDocument,
    use=_download,
    render=_downloadable,
    display=Display(
        name="Download Document",
        running="Generating download link",
        complete="Download ready",
    ),
)
