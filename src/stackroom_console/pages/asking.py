"""A question: of all catalogs, or of one."""

from collections.abc import Iterator
from dataclasses import dataclass

from starlette.responses import Response

from stackroom.catalog_access import in_use
from stackroom.errors import CatalogEmpty, CatalogNotFound
from stackroom.model import Catalog
from stackroom.retrieval.cited_answers import AskedAndAnswered
from stackroom.retrieval.search_arguments import KNOWLEDGE_BASE_RETRIEVE
from stackroom_console import ids
from stackroom_console.http_api import FOR_A_PAGE
from stackroom_console.pages.answers import Shown, shown
from stackroom_console.rendering import render
from stackroom_console.request import Request

_MOST = 20  # passages
_DEFAULT = 5
_LABELS = {"query": "Question", "top_k": "Passages at most"}


@dataclass(frozen=True, kw_only=True)
class Form:
    """As it is filled in; a page that shows an answer keeps what was asked."""

    query: str = ""
    catalog_id: str = ""
    most: int = _DEFAULT


def page(request: Request) -> Response:
    given = request.query.get("catalog", "")
    return _page(request, Form(catalog_id=given if ids.is_catalog(given) else ""))


def ask(request: Request) -> Response:
    form = Form(
        query=request.form.get("query", ""),
        catalog_id=request.form.get("catalog", ""),
        most=request.number("most", called=_LABELS["top_k"], least=1, most=_MOST, default=_DEFAULT),
    )
    asked = KNOWLEDGE_BASE_RETRIEVE.parse(
        {"query": form.query, "top_k": form.most, "catalog_id": form.catalog_id or None},
        called=_LABELS,
    )
    catalog = _named(request, form.catalog_id)
    mine = _catalogs(request)
    found = request.services.answering.search_and_ask(
        asked, request.caller, deadline=request.deadline.sooner(FOR_A_PAGE)
    )
    if catalog is not None and not found.passages.results:
        _require_any(request, catalog)
    answer = shown(asked.query, found, mine)
    request.handed_out.extend(_documents_of(found))
    if request.is_htmx:
        return render(request, "parts/answer.html", answer=answer)
    return _page(request, form, answer)


def _page(request: Request, form: Form, answer: Shown | None = None) -> Response:
    catalogs = _catalogs(request).values()
    return render(request, "ask.html", form=form, catalogs=catalogs, most=_MOST, answer=answer)


def _documents_of(found: AskedAndAnswered) -> Iterator[str]:
    cited = () if found.answer is None else found.answer.sources
    for first, others in (
        *((each.source, each.other_sources) for each in cited),
        *((each.source, each.other_sources) for each in found.passages.results),
    ):
        yield from (each.document_id for each in (first, *others) if each.document_id)


def _catalogs(request: Request) -> dict[str, Catalog]:
    """By id, in the order of their names; there are at most a few hundred of a user's."""
    found = request.services.listing.catalogs.of_user(request.user_id)
    ordered = sorted(found, key=lambda each: (each.name.casefold(), each.name))
    return {each.catalog_id: each for each in ordered}


def _named(request: Request, catalog_id: str) -> Catalog | None:
    """Raises CatalogNotFound for what isn't the caller's, or CatalogDeleting."""
    if not catalog_id:
        return None
    if not ids.is_catalog(catalog_id):
        raise CatalogNotFound(catalog_id)
    return in_use(request.services.deletions.catalogs, request.user_id, catalog_id)


def _require_any(request: Request, catalog: Catalog) -> None:
    """Of a catalog in which nothing is indexed yet, that is what there is to tell."""
    if not request.services.progress.of(request.user_id, catalog.catalog_id).indexed:
        raise CatalogEmpty
