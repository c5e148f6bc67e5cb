"""One catalog: files sent into it, and how far each of its documents is."""

from dataclasses import dataclass, replace
from datetime import datetime

from starlette.responses import Response

from stackroom.access.tenancy import owned
from stackroom.catalogs.listing import CatalogPage, DocumentsOfCatalog
from stackroom.catalogs.progress import CatalogProgress
from stackroom.documents.formats import MAX_FILE_BYTES, SUPPORTED, extension_of
from stackroom.documents.model import Catalog, CatalogStatus, Document, DocumentStatus
from stackroom.ingestion.estimates import DocumentEstimate
from stackroom.tools.of_catalogs import CREATE_CATALOG
from stackroom.tools.texts import minute
from stackroom_console import ids
from stackroom_console.console import FOR_A_STEP
from stackroom_console.rendering import Watch, done, redirect, render, watch
from stackroom_console.request import Request

# A catalog's documents as its page shows them: how far each is, and what can be done about it.

_MENDED = "Another try would end the same: mend the file, and upload it again."
_RETRY = "Mend the file and upload it again; if nothing is wrong with it, try again as it is."


@dataclass(frozen=True, kw_only=True)
class Row:
    """`told` is how far it is, `advice` what its owner can do."""

    document_id: str
    filename: str
    size: int
    uploaded_at: datetime
    state: str
    told: str
    advice: str = ""
    receipt_id: str | None = None
    may_be_retried: bool = False
    may_be_opened: bool = False
    is_shown_by_browsers: bool = False
    may_be_deleted: bool = True


def rows_of(
    documents: tuple[Document, ...], progress: CatalogProgress, *, speed: float
) -> tuple[Row, ...]:
    estimates = {each.document.document_id: each for each in progress.unready}
    return tuple(_row(each, estimates.get(each.document_id), speed) for each in documents)


def _row(document: Document, estimate: DocumentEstimate | None, speed: float) -> Row:
    is_failed = document.status is DocumentStatus.FAILED
    is_going = document.status is DocumentStatus.DELETING
    return Row(
        document_id=document.document_id,
        filename=document.filename,
        size=document.size,
        uploaded_at=document.uploaded_at,
        state=str(document.shown_status),
        told=_told(document, estimate, speed),
        advice=(_MENDED if document.is_rejected else _RETRY) if is_failed else "",
        receipt_id=document.receipt_id if is_going else None,
        may_be_retried=is_failed and not document.is_rejected,
        may_be_opened=document.is_counted,
        is_shown_by_browsers=extension_of(document.filename) == "pdf",
        may_be_deleted=not is_going,
    )


def _told(document: Document, estimate: DocumentEstimate | None, speed: float) -> str:
    match document.status:
        case DocumentStatus.UPLOADING if document.is_to_come and document.upload_until:
            until = minute(document.upload_until)
            return f"waits for its file until {until}; upload it again if that was broken off"
        case DocumentStatus.FAILED | DocumentStatus.PENDING if document.status_reason:
            return f"{document.status_reason}."
        case DocumentStatus.FAILED:
            return ""
        case DocumentStatus.INDEXED:
            return "searchable"
        case DocumentStatus.DELETING:
            return "being removed"
        case DocumentStatus.UPLOADING | DocumentStatus.PENDING | DocumentStatus.INDEXING:
            return _waiting(estimate, speed)


def _waiting(estimate: DocumentEstimate | None, speed: float) -> str:
    """Of a large catalog not every document is looked at."""
    if estimate is None:
        return ""
    again = f"try {estimate.attempt}" if estimate.attempt and estimate.attempt > 1 else ""
    parts = (str(estimate.stage), again, estimate.remaining(speed))
    return ", ".join(filter(None, parts))


@dataclass(frozen=True, kw_only=True)
class ShownCatalog:
    """
    `progress` counts all of the catalog, `rows` are those of a page; `next` is the id after which
    the list goes on.
    """

    catalog: Catalog
    overall: CatalogStatus
    counts: tuple[tuple[str, int], ...]
    total: int
    remaining: str
    queue: str
    rows: tuple[Row, ...]
    next: str | None

    @property
    def may_be_sent_to(self) -> bool:
        return self.overall is not CatalogStatus.DELETING

    @property
    def failed(self) -> int:
        return dict(self.counts)["failed"]


def page(request: Request) -> Response:
    shown = _shown(request)
    return render(
        request,
        "catalog.html",
        shown=shown,
        watch=_watch(request, shown),
        types=SUPPORTED,
        max_bytes=MAX_FILE_BYTES,
    )


def part(request: Request) -> Response:
    """Of the page what changes by itself."""
    shown = _shown(request)
    watching = _watch(request, shown)
    return render(request, "parts/catalog_watched.html", shown=shown, watch=watching)


def retry_failed(request: Request) -> Response:
    """Only those whose failure may end otherwise are tried again."""
    catalog_id = ids.catalog_id(request)
    request.services.retrying.retry(request.user_id, catalog_id)
    return done(request, f"/catalogs/{catalog_id}")


def _shown(request: Request) -> ShownCatalog:
    catalog_id, after = ids.catalog_id(request), ids.after_document(request)
    listed = request.services.listing.documents_of(request.user_id, catalog_id, after=after)
    progress = request.services.progress.of(request.user_id, catalog_id)
    return _of(listed, progress, speed=request.console.speed)


def _of(listed: DocumentsOfCatalog, progress: CatalogProgress, *, speed: float) -> ShownCatalog:
    return ShownCatalog(
        catalog=listed.catalog,
        overall=progress.overall,
        counts=(
            ("indexed", progress.indexed),
            ("indexing", progress.indexing),
            ("pending", progress.pending),
            ("uploading", progress.uploading),
            ("failed", progress.failed),
        ),
        total=progress.total,
        remaining=progress.remaining(speed),
        queue=_queue(progress),
        rows=rows_of(listed.documents, progress, speed=speed),
        next=listed.next,
    )


def _queue(progress: CatalogProgress) -> str:
    standing = progress.queue_position
    if standing is None:
        return ""
    if standing.position is None:
        return f"after {standing.length:,} others in the queue"
    return f"place {standing.position:,} of {standing.length:,} in the queue"


def _watch(request: Request, shown: ShownCatalog) -> Watch:
    path = f"/catalogs/{shown.catalog.catalog_id}/part"
    is_going = any(each.state == "deleting" for each in shown.rows)
    is_settled = shown.overall in (CatalogStatus.READY, CatalogStatus.FAILED)
    return watch(request, path, shown, is_under_way=is_going or not is_settled)


# A user's catalogs: listed, made and deleted.

_LABELS = {"catalog_name": "Name", "description": "Description"}
_UNDER_WAY = (CatalogStatus.INDEXING, CatalogStatus.DELETING)


def list_page(request: Request) -> Response:
    listed = _listed(request)
    return render(request, "catalogs.html", page=listed, watch=_watch_list(request, listed))


def list_part(request: Request) -> Response:
    """Of the page what changes by itself."""
    listed = _listed(request)
    return render(
        request, "parts/catalogs_watched.html", page=listed, watch=_watch_list(request, listed)
    )


def creation(request: Request) -> Response:
    return render(request, "catalog_new.html")


def create(request: Request) -> Response:
    asked = CREATE_CATALOG.parse(
        {
            "catalog_name": request.form.get("name", ""),
            "description": request.form.get("description", ""),
        },
        called=_LABELS,
    )
    catalog = request.services.creation.create(
        request.user_id, asked.catalog_name, description=asked.description
    )
    return redirect(request, f"/catalogs/{catalog.catalog_id}")


def deletion(request: Request) -> Response:
    """What would go, named."""
    catalog = owned(request.services.deletions.catalogs, request.user_id, ids.catalog_id(request))
    return render(request, "catalog_delete.html", catalog=catalog)


def delete(request: Request) -> Response:
    """A large catalog goes in steps, each asked for by the page that the one before answered."""
    deletions = replace(request.services.deletions, seconds=FOR_A_STEP)
    asked = deletions.delete_catalog(request.user_id, ids.catalog_id(request))
    if asked.is_asked_for:
        return redirect(request, "/catalogs")
    left = owned(deletions.catalogs, request.user_id, asked.catalog_id).document_count
    return render(request, "catalog_deleting.html", asked=asked, left=left)


def _listed(request: Request) -> CatalogPage:
    return request.services.listing.catalogs_of(request.user_id, after=ids.after_catalog(request))


def _watch_list(request: Request, listed: CatalogPage) -> Watch:
    is_under_way = any(each.status in _UNDER_WAY for each in listed.catalogs)
    return watch(request, "/catalogs/part", listed, is_under_way=is_under_way)
