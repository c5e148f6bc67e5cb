"""A few documents of our own, for who has none yet: sent the way that every file goes."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from starlette.responses import Response

from stackroom.access.tenancy import owned
from stackroom.errors import CatalogNameTaken, DocumentExists
from stackroom.model.keys import catalog_id_of
from stackroom.model.records import Catalog
from stackroom_console.rendering import redirect
from stackroom_console.request import Request

_FILES = Path(__file__).parents[1] / "sample"
_NAME = "About Stackroom"
_DESCRIPTION = "A sample: four short documents about Stackroom itself. Delete it whenever you like."
SAMPLE_QUESTIONS = (
    "Which kinds of files does Stackroom read?",
    "What happens when I delete a document?",
    "How do I connect another program to my catalogs?",
    "What does Stackroom say when the documents don't answer a question?",
)


def add(request: Request) -> Response:
    """Add the sample's files that are missing, however often somebody presses the button."""
    catalog = _opened(request)
    for path in sorted(_FILES.iterdir()):
        with suppress(DocumentExists):
            request.services.sending.put(
                request.user_id,
                catalog.catalog_id,
                path.name,
                path.read_bytes(),
                replace=False,
                attributes={},
            )
    return redirect(request, f"/catalogs/{catalog.catalog_id}")


def questions_of(catalog: Catalog) -> Sequence[str]:
    """Return questions to ask of the sample catalog; any other catalog has none."""
    return SAMPLE_QUESTIONS if catalog.description == _DESCRIPTION else ()


def _opened(request: Request) -> Catalog:
    """Raises CatalogNameTaken where a catalog of somebody's own has the name."""
    services, user_id = request.services, request.user_id
    try:
        return services.creation.create(user_id, _NAME, description=_DESCRIPTION)
    except CatalogNameTaken:
        there = owned(services.creation.catalogs, user_id, catalog_id_of(user_id, _NAME))
        if not questions_of(there):
            raise
        return there
