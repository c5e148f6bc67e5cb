"""The tools for a catalog's documents."""

import base64
import binascii
import shlex

from stackroom.catalog_tools.arguments import (
    ListCatalogDocuments,
    OfDocument,
    UploadToCatalog,
    token_of,
)
from stackroom.catalog_tools.definition import CatalogTool, Display, Rendered
from stackroom.catalog_tools.services import Services
from stackroom.catalog_tools.texts import cell, counted, iso, kilobytes, minute, shown, size
from stackroom.catalogs.fetching import LINK_SECONDS, DownloadLink
from stackroom.catalogs.listing import DocumentsOfCatalog
from stackroom.catalogs.sending import FORM_SECONDS, Sent
from stackroom.errors import ContentTooLarge, ValidationError
from stackroom.identity import Caller
from stackroom.model import Document, DocumentStatus, Receipt
from stackroom.ownership import in_use
from stackroom.ports.transfers import UploadForm

# A call to the gateway, and one to a function, has 6 MB; base64 makes four bytes of three.
# https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-quotas.html
MAX_CONTENT_BYTES = int(4.4 * 1024**2)


def _upload(services: Services, asked: UploadToCatalog, caller: Caller) -> Sent:
    if asked.file_content is None:
        return services.sending.form(
            caller.user_id,
            asked.catalog_id,
            asked.filename,
            replace=asked.replace,
            attributes=asked.metadata,
        )
    return services.sending.put(
        caller.user_id,
        asked.catalog_id,
        asked.filename,
        _decoded(asked.file_content),
        replace=asked.replace,
        attributes=asked.metadata,
    )


def _decoded(text: str) -> bytes:
    """Of base64, whose lines may be wrapped."""
    encoded = "".join(text.split())
    if len(encoded) * 3 // 4 > MAX_CONTENT_BYTES:
        raise ContentTooLarge(MAX_CONTENT_BYTES)
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ValidationError(
            "file_content: is no base64. Allowed: the file's bytes in base64, or no file_content "
            "for a link"
        ) from None


def _uploaded(sent: Sent) -> Rendered:
    file, catalog = shown(sent.filename), shown(sent.catalog.name)
    metadata = {
        "document_id": sent.document_id,
        "catalog_id": sent.catalog.catalog_id,
        "filename": sent.filename,
        "file_size_kb": None if sent.size is None else kilobytes(sent.size),
        "indexing_status": str(DocumentStatus.PENDING),
    }
    if sent.form is None:
        text = f"Uploaded '{file}' to catalog '{catalog}' (ID: {sent.document_id})."
        return Rendered(f"{text} Indexing started.", metadata)
    minutes = FORM_SECONDS // 60
    return Rendered(
        f"Send '{file}' to catalog '{catalog}' (ID: {sent.document_id}) within {minutes} minutes:"
        f" POST it to {sent.form.url} as multipart/form-data, with the upload_fields first and the"
        " file last, in the field 'file'. Indexing starts when it arrives. With curl:\n"
        f"{_curl(sent.form, sent.filename)}",
        {
            **metadata,
            "indexing_status": str(DocumentStatus.UPLOADING),
            "upload_url": sent.form.url,
            "upload_fields": dict(sent.form.fields),
            "expires_in_seconds": FORM_SECONDS,
        },
    )


def _curl(form: UploadForm, filename: str) -> str:
    """--form-string takes a value as it is; in -F a leading @ or < would name a file."""
    fields = " ".join(
        f"--form-string {shlex.quote(f'{name}={value}')}" for name, value in form.fields.items()
    )
    escaped = filename.rpartition("/")[2].replace("\\", "\\\\").replace('"', '\\"')
    file = shlex.quote(f'file=@"{escaped}"')
    return f"curl -sS --fail-with-body {fields} -F {file} {shlex.quote(form.url)}"


UPLOAD_TO_CATALOG = CatalogTool(
    name="upload_to_catalog",
    description=(
        "Upload a file to a catalog, to be indexed and searchable. With file_content the file"
        " itself is sent; without it, the answer has a link for files up to 50 MB."
    ),
    arguments=UploadToCatalog,
    use=_upload,
    render=_uploaded,
    display=Display(
        name="Upload Document", running="Uploading document", complete="Document uploaded"
    ),
)


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
                    "indexing_status": status_of(each),
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
        status_of(document) + reason,
        minute(document.uploaded_at),
    )
    return f"| {' | '.join(cells)} |"


def status_of(document: Document) -> str:
    """A file that a tool has written waits like any other, though its event has yet to come."""
    has_come = document.status is DocumentStatus.UPLOADING and bool(document.etag)
    return str(DocumentStatus.PENDING if has_come else document.status)


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


def _delete(services: Services, asked: OfDocument, caller: Caller) -> Receipt:
    in_use(services.deletions.catalogs, caller.user_id, asked.catalog_id)
    return services.deletions.delete_document(caller.user_id, asked.catalog_id, asked.document_id)


def _deleted(receipt: Receipt) -> Rendered:
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
    use=_delete,
    render=_deleted,
    display=Display(
        name="Delete Document", running="Deleting document", complete="Document deleted"
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
