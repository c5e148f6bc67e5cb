"""The tool that takes a file: within the call, or by a link."""

from __future__ import annotations

import base64
import binascii
import shlex
from typing import TYPE_CHECKING

from stackroom.access.identity import Caller
from stackroom.catalogs.sending import FORM_SECONDS, Sent
from stackroom.catalogs.transfers import UploadForm
from stackroom.documents.formats import MAX_FILE_BYTES
from stackroom.documents.model import DocumentStatus
from stackroom.errors import ContentTooLarge, FileTooLarge, ValidationError
from stackroom.tools.arguments import MAX_CONTENT_BYTES, UploadToCatalog
from stackroom.tools.definition import CatalogTool, Display, Rendered
from stackroom.tools.texts import kilobytes, shown

if TYPE_CHECKING:
    from stackroom.tools.definition import Services


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
    length = len(encoded) * 3 // 4
    if length > MAX_FILE_BYTES:  # no link would help
        raise FileTooLarge(MAX_FILE_BYTES)
    if length > MAX_CONTENT_BYTES:
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
