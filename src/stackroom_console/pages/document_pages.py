"""One document: sent, opened, tried again, deleted."""

from starlette.responses import JSONResponse, RedirectResponse, Response

from stackroom.access.tenancy import owned
from stackroom.documents.formats import MAX_FILE_BYTES
from stackroom.documents.model import Document
from stackroom.errors import DocumentNotFound, FileTooLarge, ValidationError
from stackroom.tools.of_documents import UPLOAD_TO_CATALOG
from stackroom_console import ids
from stackroom_console.problems import NOT_FOUND, Problem, Refused
from stackroom_console.rendering import done, redirect, render, watch
from stackroom_console.request import Request


def upload(request: Request) -> Response:
    """A form by which the browser posts one file to the bucket; its progress is the browser's."""
    catalog_id = ids.catalog_id(request)
    asked = UPLOAD_TO_CATALOG.parse(
        {
            "catalog_id": catalog_id,
            "filename": request.json.get("filename"),
            "replace": request.json.get("replace"),
        }
    )
    _require_size(request.json.get("size"))
    sent = request.services.sending.form(
        request.user_id,
        catalog_id,
        asked.filename,
        replace=asked.replace,
        attributes=asked.metadata,
    )
    assert sent.form is not None, "a form was asked for"
    data = {
        "documentId": sent.document_id,
        "url": sent.form.url,
        "fields": dict(sent.form.fields),
    }
    return JSONResponse({"success": True, "data": data})


def open_file(request: Request) -> Response:
    """Shown by the browser if it can show such, at the page that the address names; else saved."""
    link = request.services.fetching.link(
        request.user_id,
        ids.catalog_id(request),
        ids.document_id(request),
        to_show="save" not in request.query,
    )
    request.handed_out.append(link.document.document_id)
    return RedirectResponse(link.url, status_code=303)


def retry(request: Request) -> Response:
    catalog_id, document_id = ids.catalog_id(request), ids.document_id(request)
    retried = request.services.retrying.retry(request.user_id, catalog_id, [document_id])
    for document, why_not in retried.refused:
        raise Refused(
            Problem(
                status=409,
                code="NOT_RETRIED",
                message=f"{document.filename} isn't tried again: {why_not}.",
            )
        )
    return done(request, f"/catalogs/{catalog_id}")


def deletion(request: Request) -> Response:
    """What would go, named."""
    return render(request, "document_delete.html", document=_owned(request))


def delete(request: Request) -> Response:
    receipt = request.services.deletions.delete_document(
        request.user_id, ids.catalog_id(request), ids.document_id(request)
    )
    return redirect(request, f"/receipts/{receipt.receipt_id}")


def _owned(request: Request) -> Document:
    """Raises CatalogNotFound or DocumentNotFound."""
    services, document_id = request.services, ids.document_id(request)
    catalog = owned(services.deletions.catalogs, request.user_id, ids.catalog_id(request))
    document = services.deletions.documents.get(catalog.catalog_id, document_id)
    if document is None or document.has_lapsed(request.console.now()):
        raise DocumentNotFound(document_id)
    return document


def _require_size(size: object) -> None:
    """As the browser tells it; S3 holds the form to the same."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ValidationError("size: Allowed: the file's size in bytes")
    if size == 0:
        raise ValidationError("The file is empty. Allowed: 1 byte to 50 MB")
    if size > MAX_FILE_BYTES:
        raise FileTooLarge(MAX_FILE_BYTES)


# The receipt of a deletion: what is known of it, from the asking to the proof.


def receipt_page(request: Request) -> Response:
    return _shown(request, "receipt.html")


def receipt_part(request: Request) -> Response:
    """Of the page what changes by itself."""
    return _shown(request, "parts/receipt_watched.html")


def _shown(request: Request, template: str) -> Response:
    receipt_id = ids.receipt_id(request)
    receipt = request.services.deletions.receipts.get(request.user_id, receipt_id)
    if receipt is None:
        raise Refused(NOT_FOUND)
    path = f"/receipts/{receipt_id}/part"
    watching = watch(request, path, receipt, is_under_way=receipt.is_open)
    return render(request, template, receipt=receipt, watch=watching)
