"""A user's catalogs: listed, made and deleted."""

from dataclasses import replace

from starlette.responses import Response

from stackroom.catalog_access import owned
from stackroom.catalog_tools.of_catalogs import CREATE_CATALOG
from stackroom.catalogs.listing import CatalogPage
from stackroom.model import CatalogStatus
from stackroom_console import ids
from stackroom_console.http_api import FOR_A_STEP
from stackroom_console.rendering import redirect, render
from stackroom_console.request import Request
from stackroom_console.watch import Watch, watch

_LABELS = {"catalog_name": "Name", "description": "Description"}
_UNDER_WAY = (CatalogStatus.INDEXING, CatalogStatus.DELETING)


def page(request: Request) -> Response:
    listed = _listed(request)
    return render(request, "catalogs.html", page=listed, watch=_watch(request, listed))


def part(request: Request) -> Response:
    """Of the page what changes by itself."""
    listed = _listed(request)
    return render(
        request, "parts/catalogs_watched.html", page=listed, watch=_watch(request, listed)
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


def _watch(request: Request, listed: CatalogPage) -> Watch:
    is_under_way = any(each.status in _UNDER_WAY for each in listed.catalogs)
    return watch(request, "/catalogs/part", listed, is_under_way=is_under_way)
