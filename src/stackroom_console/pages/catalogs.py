"""A user's catalogs: listed, made and deleted."""

from dataclasses import replace

from starlette.responses import Response

from stackroom.catalog_tools.of_catalogs import CREATE_CATALOG
from stackroom.catalogs.listing import CatalogPage
from stackroom.model import CatalogStatus
from stackroom.ownership import owned
from stackroom_console import ids
from stackroom_console.problems import Problem, Refused
from stackroom_console.rendering import redirect, render
from stackroom_console.request import Request
from stackroom_console.watch import Watch, watch

# An HTTP API waits no longer than 30 seconds for a function, and the browser wants an answer:
# https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
_DELETION_SECONDS = 15.0
_UNDER_WAY = (CatalogStatus.INDEXING, CatalogStatus.DELETING)
_NOT_ALL_YET = Problem(
    status=503,
    code="DELETION_UNFINISHED",
    message="The catalog is large: not all of its documents are asked to be deleted yet.",
    advice="Delete it again, and it goes on.",
)


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
        }
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
    deletions = replace(request.services.deletions, seconds=_DELETION_SECONDS)
    asked = deletions.delete_catalog(request.user_id, ids.catalog_id(request))
    if not asked.is_asked_for:
        raise Refused(_NOT_ALL_YET)
    return redirect(request, "/catalogs")


def _listed(request: Request) -> CatalogPage:
    return request.services.listing.catalogs_of(request.user_id, after=ids.after_catalog(request))


def _watch(request: Request, listed: CatalogPage) -> Watch:
    is_under_way = any(each.status in _UNDER_WAY for each in listed.catalogs)
    return watch(request, "/catalogs/part", listed, is_under_way=is_under_way)
