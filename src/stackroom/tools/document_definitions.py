"""The tools for a catalog's documents."""

from __future__ import annotations

import base64
import binascii
import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from stackroom.access.identity import Caller
from stackroom.access.tenancy import in_use
from stackroom.access.tool import Id, Line, by_name, is_plain
from stackroom.catalogs.listing import DocumentsOfCatalog, same_contents
from stackroom.catalogs.transfers import FORM_SECONDS, LINK_SECONDS, DownloadLink, Sent, UploadForm
from stackroom.errors import ContentTooLarge, FileTooLarge, ValidationError
from stackroom.model.attributes import Attribute
from stackroom.model.formats import MAX_FILE_BYTES, SUPPORTED
from stackroom.model.records import CatalogStatus, Document, DocumentStatus, Receipt
from stackroom.tools.definition import (
    CatalogArguments,
    CatalogId,
    CatalogTool,
    Display,
    NextToken,
    Rendered,
    Services,
    token_of,
)
from stackroom.tools.texts import cell, counted, iso, kilobytes, minute, quotable, size, status_of
from stackroom.uploads.descriptions import MAX_FILENAME_BYTES, MAX_LIST

if TYPE_CHECKING:
    from stackroom.catalogs.progress import CatalogProgress
    from stackroom.runs.estimates import DocumentEstimate


class ListCatalogDocuments(CatalogArguments):
    catalog_id: CatalogId
    next_token: NextToken = None


# The arguments of delete_catalog_document and download_from_catalog. (Agents would see a
# docstring.)
class OfDocument(CatalogArguments):
    catalog_id: CatalogId
    document_id: Id = Field(
        description="The document's id, such as doc-1a2b (list_catalog_documents tells them)."
    )


def _list(
    services: Services, arguments: ListCatalogDocuments, caller: Caller
) -> DocumentsOfCatalog:
    return services.listing.documents_of(
        caller.user_id, arguments.catalog_id, after=arguments.next_token
    )


def _listed(page: DocumentsOfCatalog) -> Rendered:
    count, twins = counted(page.total, "document"), same_contents(page.documents)
    lines = [f"Catalog '{quotable(page.catalog.name)}' contains {count}:"]
    if page.documents:
        lines += ["", "| Filename | ID | Size | Status | Uploaded |", "|---|---|---|---|---|"]
        lines += [_row(each, twins.get(each.document_id)) for each in page.documents]
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
                    "etag": each.etag.strip('"'),  # uploaders know the ETag of their own file
                    "indexing_status": str(each.shown_status),
                    "status_reason": each.status_reason,
                    "gaps": list(each.shown_gaps),
                    "same_content_as": twins.get(each.document_id),
                    "uploaded_at": iso(each.uploaded_at),
                }
                for each in page.documents
            ],
            "next_token": token,
        },
    )


def _row(document: Document, twin: str | None) -> str:
    same = f"; same content as '{cell(twin)}'" if twin else ""
    cells = (
        cell(document.filename),
        document.document_id,
        size(document.size),
        cell(status_of(document)) + same,
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


def _download(services: Services, arguments: OfDocument, caller: Caller) -> DownloadLink:
    return services.fetching.link_of_answers(
        caller.user_id, arguments.catalog_id, arguments.document_id
    )


_EARLIER = "It is the version that was indexed; a newer one lies there, and is not indexed."


def _downloadable(link: DownloadLink) -> Rendered:
    file, minutes = quotable(link.document.filename), LINK_SECONDS // 60
    note = f"\n\n{_EARLIER}" if link.is_earlier else ""
    return Rendered(
        f"Download link for '{file}' (expires in {minutes} minutes): {link.url}{note}",
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


def _delete_document(services: Services, arguments: OfDocument, caller: Caller) -> Receipt:
    in_use(services.deletions.catalogs, caller.user_id, arguments.catalog_id)
    return services.deletions.delete_document(
        caller.user_id, arguments.catalog_id, arguments.document_id
    )


def _document_deleted(receipt: Receipt) -> Rendered:
    return Rendered(
        f"Deleted '{quotable(receipt.filename)}' from catalog. Vector cleanup initiated.",
        {
            "document_id": receipt.document_id,
            "filename": receipt.filename,
            # A document that was never indexed needed no search, and none has proved its removal.
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


# The limit for a file within a call. The gateway's interceptor is handed the call twice, raw and
# parsed, and answers it a third time, for all of which there are 6 MB: 2 MB each, 1.5 of them a
# file, since base64 makes four bytes of three. The rest is for lines wrapped by CR LF, which are
# four bytes within JSON and six in its raw text, and for some 50 KB of headers and other arguments.
# https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-interceptors-types.html
# https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-interceptors-configuration.html
# [assumed: gateway.request-size]
MAX_CONTENT_BYTES = int(1.4 * 1024**2)


def _attributes(given: Any) -> Any:
    """Names and kinds, each told by its name; what they may say is for the sidecar's rules."""
    if not isinstance(given, Mapping):
        return given
    for name, value in given.items():
        texts = value if isinstance(value, list) else [value]
        if isinstance(value, int | float):
            texts = []
        if not all(isinstance(each, str) for each in texts):
            raise ValueError(
                f"{quotable(str(name))!r} is neither a text, a number, true or false nor a list of"
                " texts"
            )
        if not all(is_plain(character) for each in (name, *texts) for character in each):
            raise ValueError(
                f"{quotable(str(name))!r} has a line break or a control character in it"
            )
    return given


class UploadToCatalog(CatalogArguments):
    catalog_id: CatalogId
    filename: Line = Field(
        max_length=MAX_FILENAME_BYTES,
        description=(
            f"The file's name with its type, one of {', '.join(SUPPORTED)}: at most"
            f" {MAX_FILENAME_BYTES} bytes. Folders may stand before it: 2026/report.pdf."
        ),
    )
    file_content: str | None = Field(
        default=None,
        description=(
            f"The file itself in base64, at most {MAX_CONTENT_BYTES / 1024**2:.1f} MB of file."
            " Left out, the answer has a link by which to upload up to 50 MB."
        ),
    )
    replace: bool = Field(
        default=False,
        description="true to overwrite a file of the same name; by default false.",
    )
    metadata: Annotated[
        dict[str, Attribute], BeforeValidator(_attributes), BeforeValidator(by_name)
    ] = Field(
        default_factory=dict,
        description=(
            "Searchable attributes of the document: names of a-z, 0-9, '_' and '-', each with a"
            f" text, a number, true or false, or a list of at most {MAX_LIST} texts without commas,"
            ' all in all below 1 KB: {"domain": "finance", "year": 2026}. A text such as 2026-03-01'
            " is a date. The list allowed_groups names groups whose members may"
            " find the document, where that is switched on. A file that is replaced keeps none of"
            " its earlier attributes."
        ),
    )


def _upload(services: Services, arguments: UploadToCatalog, caller: Caller) -> Sent:
    if arguments.file_content is None:
        return services.sending.form(
            caller.user_id,
            arguments.catalog_id,
            arguments.filename,
            replace=arguments.replace,
            attributes=arguments.metadata,
        )
    return services.sending.put(
        caller.user_id,
        arguments.catalog_id,
        arguments.filename,
        _decoded(arguments.file_content),
        replace=arguments.replace,
        attributes=arguments.metadata,
    )


def _decoded(text: str) -> bytes:
    """Decode base64, whose lines may be wrapped; raises ValidationError of anything else."""
    encoded = "".join(text.split())
    length = len(encoded) * 3 // 4
    if length > MAX_FILE_BYTES:  # no link would help
        raise FileTooLarge(MAX_FILE_BYTES)
    if length > MAX_CONTENT_BYTES:
        raise ContentTooLarge(MAX_CONTENT_BYTES)
    try:
        content = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if not content or _is_unencoded(text, content):
        raise ValidationError(
            "file_content: is no base64. Allowed: the file's bytes in base64, or no file_content "
            "for a link"
        )
    return content


def _is_unencoded(text: str, content: bytes) -> bool:
    """
    Return True if the text is words that were never encoded, such as "test", which decodes to three
    bytes.

    Base64 mixes capitals into nearly every run of letters. Text that decodes to ASCII was encoded.
    """
    if "=" in text or content.isascii():
        return False
    runs = re.findall("[A-Za-z]+", text)
    return all(run.islower() or run.isupper() or run.istitle() for run in runs)


def _uploaded(sent: Sent) -> Rendered:
    file, catalog = quotable(sent.filename), quotable(sent.catalog.name)
    metadata = {
        "document_id": sent.document_id,
        "catalog_id": sent.catalog.catalog_id,
        "filename": sent.filename,
        "file_size_kb": None if sent.size is None else kilobytes(sent.size),
        "indexing_status": str(DocumentStatus.PENDING),
    }
    if sent.form is None:
        text = f"Uploaded '{file}' to catalog '{catalog}' (ID: {sent.document_id})."
        if sent.twin is None:
            return Rendered(f"{text} Indexing started.", metadata)
        return Rendered(
            f"{text} Indexing started. Same content as '{quotable(sent.twin)}'.",
            {**metadata, "same_content_as": sent.twin},
        )
    minutes = FORM_SECONDS // 60
    return Rendered(
        f"Send '{file}' to catalog '{catalog}' (ID: {sent.document_id}) within {minutes} minutes:"
        f" POST it to {sent.form.url} as multipart/form-data, with the upload_fields first and the"
        " file last, in the field 'file'. Indexing starts when it arrives. With curl,"
        " in the folder of the file:\n"
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
    """
    Return a curl command. --form-string takes a value as it is; in -F a leading @ or < would name a
    file.
    """
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


_MOST_PROGRESS_ROWS = 100  # documents that aren't ready; more would not help a model


class GetIndexingStatus(CatalogArguments):
    catalog_id: CatalogId


def _get_status(
    services: Services, arguments: GetIndexingStatus, caller: Caller
) -> CatalogProgress:
    return services.progress.of(caller.user_id, arguments.catalog_id)


def _render_progress(progress: CatalogProgress) -> Rendered:
    ready = f"{progress.indexed} of {counted(progress.total, 'document')} ready"
    if progress.overall is CatalogStatus.DELETING:
        ready = f"{counted(progress.total, 'document')} left"
    lines = [
        f"Catalog '{quotable(progress.catalog.name)}' indexing status:",
        f"**Overall**: {progress.overall} ({ready})",
        *map(_progress_line, progress.unready[:_MOST_PROGRESS_ROWS]),
        *(_gaps_line(each) for each in progress.with_gaps[:_MOST_PROGRESS_ROWS]),
    ]
    if not progress.total and progress.overall is CatalogStatus.READY:
        lines.append("Use upload_to_catalog to add documents.")
    if more := max(0, len(progress.unready) - _MOST_PROGRESS_ROWS) + progress.more:
        lines.append(f"- and {more} more that aren't ready")
    return Rendered(
        "\n".join(lines),
        {
            "catalog_id": progress.catalog.catalog_id,
            "overall_status": str(progress.overall),
            "documents": {
                "indexed": progress.indexed,
                "indexing": progress.indexing,
                "pending": progress.pending,
                "failed": progress.failed,
            },
            "eta_seconds": progress.eta_seconds,
            "failures": [
                {
                    "document_id": each.document.document_id,
                    "filename": each.document.filename,
                    "reason": each.document.status_reason,
                }
                for each in progress.unready
                if each.document.status is DocumentStatus.FAILED
            ],
            "gaps": [
                {
                    "document_id": each.document_id,
                    "filename": each.filename,
                    "gaps": list(each.shown_gaps),
                }
                for each in progress.with_gaps
            ],
        },
    )


def _progress_line(estimate: DocumentEstimate) -> str:
    document = estimate.document
    notes = [str(document.shown_status)]
    if document.is_to_come and document.upload_until is not None:
        notes = [f"waits for its upload until {minute(document.upload_until)}"]
    elif document.remark:
        notes = [quotable(status_of(document))]
    elif left := estimate.remaining(speed=1):
        notes.append(left)
    return f"- {quotable(document.filename)} ({document.document_id}): {', '.join(notes)}"


def _gaps_line(document: Document) -> str:
    return (
        f"- {quotable(document.filename)} ({document.document_id}): {quotable(status_of(document))}"
    )


GET_INDEXING_STATUS = CatalogTool(
    name="get_indexing_status",
    description=(
        "Say how far a catalog's documents are: how many can be asked about, which are still being"
        " indexed and how long that takes, which failed and why."
    ),
    arguments=GetIndexingStatus,
    use=_get_status,
    render=_render_progress,
    display=Display(name="Check Indexing", running="Checking status", complete="Status retrieved"),
)
