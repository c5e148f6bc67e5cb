"""A user's catalogs: listed, made."""

from starlette.responses import Response

from stackroom.catalog_tools.of_catalogs import CREATE_CATALOG
from stackroom_console.rendering import redirect, render
from stackroom_console.request import Request


def page(request: Request) -> Response:
    listed = request.services.listing.catalogs_of(request.user_id, after=request.query.get("after"))
    return render(request, "catalogs.html", page=listed)


def creation(request: Request) -> Response:
    return render(request, "catalog_new.html")


def create(request: Request) -> Response:
    asked = CREATE_CATALOG.parse(
        {"catalog_name": request.form.get("name"), "description": request.form.get("description")}
    )
    catalog = request.services.creation.create(
        request.user_id, asked.catalog_name, description=asked.description
    )
    return redirect(request, f"/catalogs/{catalog.catalog_id}")
