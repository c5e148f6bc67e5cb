"""A user's catalogs: listed, made, edited and deleted."""

from dataclasses import replace

from starlette.responses import Response

from stackroom.access.tenancy import owned
from stackroom.catalogs.listing import CatalogPage
from stackroom.model.records import Catalog, CatalogStatus
from stackroom.tools.catalog_definitions import CREATE_CATALOG, CreateCatalog
from stackroom_console import ids
from stackroom_console.console import FOR_A_STEP
from stackroom_console.messages import N_, gettext
from stackroom_console.rendering import Watch, redirect, render, watch
from stackroom_console.request import Request

_LABELS = {"catalog_name": N_("Name"), "description": N_("Description")}
_UNDER_WAY = (CatalogStatus.INDEXING, CatalogStatus.DELETING)


def list_page(request: Request) -> Response:
    listed = _listed(request)
    return render(
        request,
        "catalogs.html",
        page=listed,
        month=request.services.metering.of_user(request.user_id),
        watch=_watch_list(request, listed),
    )


def list_part(request: Request) -> Response:
    """Return the part of the page that changes by itself."""
    listed = _listed(request)
    return render(
        request, "parts/catalogs_watched.html", page=listed, watch=_watch_list(request, listed)
    )


def creation(request: Request) -> Response:
    return render(request, "catalog_new.html")


def create(request: Request) -> Response:
    asked = _asked(request)
    catalog = request.services.creation.create(
        request.user_id, asked.catalog_name, description=asked.description
    )
    return redirect(request, f"/catalogs/{catalog.catalog_id}")


def editing(request: Request) -> Response:
    return render(request, "catalog_edit.html", catalog=_owned(request))


def edit(request: Request) -> Response:
    catalog_id, asked = ids.catalog_id(request), _asked(request)
    request.services.creation.update(
        request.user_id, catalog_id, name=asked.catalog_name, description=asked.description
    )
    return redirect(request, f"/catalogs/{catalog_id}")


def _asked(request: Request) -> CreateCatalog:
    """Return the fields of a catalog's form. Raises ValidationError."""
    given = {
        "catalog_name": request.form.get("name", ""),
        "description": request.form.get("description", ""),
    }
    labels = {name: gettext(label) for name, label in _LABELS.items()}
    return CREATE_CATALOG.parse(given, called=labels)


def deletion(request: Request) -> Response:
    """Return the confirmation that names everything that will be deleted."""
    return render(request, "catalog_delete.html", catalog=_owned(request))


def delete(request: Request) -> Response:
    """A large catalog goes in steps, each asked for by the page that the one before answered."""
    deletions = replace(request.services.deletions, seconds=FOR_A_STEP)
    deletion = deletions.delete_catalog(request.user_id, ids.catalog_id(request))
    if deletion.is_asked_for:
        return redirect(request, "/catalogs")
    left = owned(deletions.catalogs, request.user_id, deletion.catalog_id).document_count
    return render(request, "catalog_deleting.html", deletion=deletion, left=left)


def _listed(request: Request) -> CatalogPage:
    return request.services.listing.catalogs_of(request.user_id, after=ids.after_catalog(request))


def _watch_list(request: Request, listed: CatalogPage) -> Watch:
    is_under_way = any(each.status in _UNDER_WAY for each in listed.catalogs)
    return watch(request, "/catalogs/part", listed, is_under_way=is_under_way)


def _owned(request: Request) -> Catalog:
    return owned(request.services.deletions.catalogs, request.user_id, ids.catalog_id(request))
