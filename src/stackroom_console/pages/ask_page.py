"""A question: of all catalogs, or of one."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from stackroom.access.plain_text import is_plain
from stackroom.access.tenancy import in_use
from stackroom.catalogs.feedback import LONGEST_FILE, Feedback, FeedbackVerdict
from stackroom.documents.model import Catalog
from stackroom.errors import CatalogEmpty, CatalogNotFound
from stackroom.search.cited_answers import AskedAndAnswered, CitedSource
from stackroom.search.results import Result, SearchAnswer
from stackroom.search.search_arguments import KNOWLEDGE_BASE_RETRIEVE
from stackroom.tools.texts import counted, range_of_scores
from stackroom_console import ids
from stackroom_console.citations import Citation, FoundPassage, citations_of
from stackroom_console.console import FOR_A_PAGE
from stackroom_console.rendering import render
from stackroom_console.request import Request
from stackroom_console.safe_markdown import markdown

# An answer as its page shows it: its citations linked, the question's words marked.


@dataclass(frozen=True, kw_only=True)
class ShownAnswer:
    """`text` is None where there is no answer; `unanswered` says why then."""

    text: Markup | None
    unanswered: str
    cited: tuple[Citation, ...]
    others: tuple[Citation, ...]
    range_of_scores: str
    left_out: tuple[str, ...]


def shown(query: str, found: AskedAndAnswered, catalogs: Mapping[str, Catalog]) -> ShownAnswer:
    """`catalogs` are the asker's own, by id."""
    answer = found.answer
    cited = () if answer is None else answer.sources
    passages = [
        *(
            FoundPassage(
                sources=(each.source, *each.other_sources),
                text=each.chunk_text,
                score=each.relevance_score,
            )
            for each in cited
        ),
        *(
            FoundPassage(
                sources=(each.source, *each.other_sources), text=each.text, score=each.score
            )
            for each in found.passages.results
            if not _is_cited(each, cited)
        ),
    ]
    citations = citations_of(query, passages, catalogs)
    anchors = {each.number: each.anchor for each in citations[: len(cited)]}
    return ShownAnswer(
        text=None if answer is None else markdown(answer.text, cited=anchors),
        unanswered=found.unanswered,
        cited=citations[: len(cited)],
        others=citations[len(cited) :],
        range_of_scores=range_of_scores([each.score for each in passages]),
        left_out=tuple(_left_out(found.passages)),
    )


def _is_cited(result: Result, cited: Collection[CitedSource]) -> bool:
    return any((each.source, each.chunk_text) == (result.source, result.text) for each in cited)


def _left_out(answer: SearchAnswer) -> Iterator[str]:
    if answer.omitted:
        passages = counted(answer.omitted, "relevant passage")
        yield f"{passages} left out: the budget of text ({answer.tokens:,} tokens used) is full."
    if answer.withheld:
        passages = counted(answer.withheld, "passage")
        yield f"{passages} withheld: from documents that aren't yours."
    if answer.best_score_below is not None:
        yield (
            "What was found is too far from the question to answer it: the best passage scores"
            f" {answer.best_score_below:.2f}."
        )
    if answer.words_below is not None:
        yield "What is nearest to the question has hardly any of its words, so it isn't shown."
    if answer.failures:
        failed = counted(len(answer.failures), "knowledge base")
        yield f"{failed} didn't answer, so something may be missing. Ask again in a moment."
    if answer.notices:
        yield "Part of it was searched in another way than usual; the best may not come first."
    if answer.guardrail_action != "NONE":
        yield "A guardrail held back something of what was found."


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
    mine = catalogs_of(request)
    found = request.services.answering.search_and_ask(
        asked, request.caller, deadline=request.deadline.sooner(FOR_A_PAGE)
    )
    if catalog is not None and not found.passages.results:
        _require_any(request, catalog)
    answer = shown(asked.query, found, mine)
    judged = _judged(asked.query, form.catalog_id, found, mine)
    request.handed_out.extend(_documents_of(found))
    if request.is_htmx:
        return render(request, "parts/answer.html", answer=answer, judged=judged)
    return _page(request, form, answer=answer, judged=judged)


def told(request: Request, feedback: Feedback) -> Response:
    """That it was kept, to a browser that has sent its form by itself; the question stays."""
    form = Form(query=feedback.question, catalog_id=feedback.catalog_id or "")
    return _page(request, form, verdict=feedback.verdict)


def _page(
    request: Request,
    form: Form,
    *,
    answer: ShownAnswer | None = None,
    judged: Mapping[str, str] | None = None,
    verdict: FeedbackVerdict | None = None,
) -> Response:
    return render(
        request,
        "ask.html",
        form=form,
        catalogs=catalogs_of(request).values(),
        most=_MOST,
        answer=answer,
        judged=judged,
        verdict=verdict,
    )


def _judged(
    query: str, catalog_id: str, found: AskedAndAnswered, own: Mapping[str, Catalog]
) -> dict[str, str]:
    """What the form of feedback sends: what was asked, and where that stands which came first."""
    cited = () if found.answer is None else found.answer.sources
    sources = [each.source for each in cited] + [each.source for each in found.passages.results]
    place = place_of(asdict(sources[0]), own) if sources else {}
    return {**place, "question": query, **({"catalog_id": catalog_id} if catalog_id else {})}


def place_of(source: Mapping[str, Any], own: Collection[str]) -> dict[str, str]:
    """
    As feedback has it, of a `Source` as a mapping. Another's catalog, and a name that no line of a
    question file can have, are left out, and with the name its page.
    """
    file, page, catalog_id = (source.get(each) for each in ("filename", "page", "catalog_id"))
    place: dict[str, str] = {}
    if catalog_id is not None and catalog_id in own:
        place["catalog_id"] = catalog_id
    if file and len(file) <= LONGEST_FILE and all(map(is_plain, file)):
        place["file"] = file
        if page:
            place["page"] = str(page)
    return place


def _documents_of(found: AskedAndAnswered) -> Iterator[str]:
    cited = () if found.answer is None else found.answer.sources
    for first, others in (
        *((each.source, each.other_sources) for each in cited),
        *((each.source, each.other_sources) for each in found.passages.results),
    ):
        yield from (each.document_id for each in (first, *others) if each.document_id)


def catalogs_of(request: Request) -> dict[str, Catalog]:
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
