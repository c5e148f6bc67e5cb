"""One catalog: files sent into it, and how far each of its documents is."""

from dataclasses import dataclass

from starlette.responses import Response

from stackroom.catalogs.listing import DocumentsOfCatalog
from stackroom.catalogs.progress import CatalogProgress
from stackroom.formats import MAX_FILE_BYTES, SUPPORTED
from stackroom.model import Catalog, CatalogStatus
from stackroom_console import ids
from stackroom_console.pages.rows import Row, rows_of
from stackroom_console.rendering import done, render
from stackroom_console.request import Request
from stackroom_console.watch import Watch, watch


@dataclass(frozen=True, kw_only=True)
class Shown:
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


def _shown(request: Request) -> Shown:
    catalog_id, after = ids.catalog_id(request), ids.after_document(request)
    listed = request.services.listing.documents_of(request.user_id, catalog_id, after=after)
    progress = request.services.progress.of(request.user_id, catalog_id)
    return _of(listed, progress, speed=request.console.speed)


def _of(listed: DocumentsOfCatalog, progress: CatalogProgress, *, speed: float) -> Shown:
    return Shown(
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


def _watch(request: Request, shown: Shown) -> Watch:
    path = f"/catalogs/{shown.catalog.catalog_id}/part"
    is_going = any(each.state == "deleting" for each in shown.rows)
    is_settled = shown.overall in (CatalogStatus.READY, CatalogStatus.FAILED)
    return watch(request, path, shown, is_under_way=is_going or not is_settled)
