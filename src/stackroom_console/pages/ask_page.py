"""A question: of all catalogs, or of one."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from stackroom.access.plain_text import is_plain
from stackroom.access.tenancy import in_use
from stackroom.agents.agent import Agent, LinkedTool
from stackroom.agents.links import LinkChanges
from stackroom.catalogs.feedback import LONGEST_FILE, Feedback, FeedbackVerdict
from stackroom.errors import CatalogEmpty, CatalogNotFound, ValidationError
from stackroom.model.passages import PlaceMapReader
from stackroom.model.records import Catalog
from stackroom.search.cited_answers import AskedAndAnswered, CitedSource
from stackroom.search.excerpts import Source
from stackroom.search.ranking import Relevance
from stackroom.search.results import Result, SearchAnswer
from stackroom.search.search_arguments import (
    KNOWLEDGE_BASE_RETRIEVE,
    Priority,
    RetrieveArguments,
)
from stackroom.tools.texts import WEAK, counted, range_of_scores
from stackroom_console import ids
from stackroom_console.console import FOR_A_PAGE
from stackroom_console.problems import Problem, RefusedOnPage, problem_of
from stackroom_console.rendering import redirect, render
from stackroom_console.request import Request, whole_number
from stackroom_console.safe_markdown import markdown
from stackroom_console.shown_citations import Citation, FoundPassage, citations_of, said_by

# An answer as its page shows it: its citations linked, the question's words marked.


@dataclass(frozen=True, kw_only=True)
class ShownAnswer:
    """`text` is None where there is no answer; `unanswered` says why then."""

    text: Markup | None
    unanswered: str
    cited: tuple[Citation, ...]
    others: tuple[Citation, ...]
    range_of_scores: str
    order: str  # how it came about, where there is one
    left_out: tuple[str, ...]
    weak: str  # a sentence where the passages may not answer
    places: tuple[tuple[str, str], ...]  # that a test question may name, each with its label


def shown(
    query: str,
    found: AskedAndAnswered,
    catalogs: Mapping[str, Catalog],
    place_maps: PlaceMapReader,
    *,
    by_date: bool = False,
) -> ShownAnswer:
    """`catalogs` are the asker's own, by id; `by_date` if how new a passage is orders them, too."""
    answer, passages = found.answer, found.passages
    cited, said = ((), {}) if answer is None else (answer.sources, said_by(answer.text))
    others = [each for each in passages.results if not _is_cited(each, cited)]
    scores = [*(each.relevance_score for each in cited), *(each.score for each in others)]
    told_at_once = range_of_scores(scores)
    why = {} if by_date else dict(_why(passages, with_scores=bool(told_at_once)))
    # To a person as to a model: without context lines.
    read = {(x.source, x.text): x.text if x.is_cut else x.content for x in passages.results}
    shown_first = [
        FoundPassage(
            sources=(each.source, *each.other_sources),
            text=read.get((each.source, each.chunk_text), each.chunk_text),
            score=each.relevance_score,
            why=why.get((each.source, each.chunk_text), ""),
            said=said.get(number, ""),
            gaps=each.gaps,
        )
        for number, each in enumerate(cited, 1)
    ]
    also = [
        FoundPassage(
            sources=(each.source, *each.other_sources),
            text=read[each.source, each.text],
            score=each.score,
            why=why.get((each.source, each.text), ""),
            gaps=each.gaps,
        )
        for each in others
    ]
    citations = citations_of(query, [*shown_first, *also], catalogs, place_maps)
    anchors = {each.number: each.anchor for each in citations[: len(cited)]}
    return ShownAnswer(
        text=None if answer is None else markdown(answer.text, cited=anchors),
        unanswered=found.unanswered,
        cited=citations[: len(cited)],
        others=citations[len(cited) :],
        range_of_scores=told_at_once,
        order="" if by_date or len(passages.results) < _SEVERAL else _order(passages),
        left_out=tuple(_left_out(passages)),
        weak=WEAK if passages.results and passages.relevance is Relevance.WEAK else "",
        places=tuple(_places([*shown_first, *also], citations, catalogs)),
    )


def _places(
    found: Sequence[FoundPassage], citations: Sequence[Citation], own: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Each once, under the number of the first passage there."""
    known = set[str]()
    for passage, citation in zip(found, citations, strict=True):
        place = urlencode(place_of(vars(passage.sources[0]), own))
        if place and place not in known:
            known.add(place)
            yield place, f"{citation.number}: {citation.label}"


def _is_cited(result: Result, cited: Collection[CitedSource]) -> bool:
    return any((each.source, each.chunk_text) == (result.source, result.text) for each in cited)


def _order(answer: SearchAnswer) -> str:
    if answer.is_reranked:
        return "A model that has read question and passages has put them in order."
    if any(each.ranks for each in answer.results):
        return (
            "Each passage has two places among all that was found: by how near its meaning is to"
            " the question's, and by the question's words. Both together make the order."
        )
    return "The order is the knowledge base's own."


def _why(answer: SearchAnswer, *, with_scores: bool) -> Iterator[tuple[tuple[Source, str], str]]:
    """With the scores where none stands beside a passage: whoever tries a threshold needs them."""
    for place, each in enumerate(answer.results, 1):
        told = [f"Place {place} in the search"]
        if each.ranks is not None and not answer.is_reranked:
            words = each.ranks.by_words
            by_words = "none of its words" if words is None else f"{_nth(words)} by words"
            by_meaning = f"{_nth(each.ranks.by_meaning)} by meaning"
            if with_scores:
                by_meaning = f"{by_meaning} (score {each.score:.2f})"
            told.append(f"{by_meaning}, {by_words}, of {each.ranks.found:,}")
        why = ": ".join(told)
        yield (
            (each.source, each.text),
            f"{why}. A contents page or an index comes last." if each.is_navigation else why,
        )


def _nth(number: int) -> str:
    """As in "21st"."""
    last = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number:,}{last or 'th'}"


def _left_out(answer: SearchAnswer) -> Iterator[str]:
    if answer.omitted:
        passages = counted(answer.omitted, "relevant passage")
        yield f"{passages} left out: the budget of text ({answer.tokens:,} tokens used) is full."
    if answer.withheld:
        passages = counted(answer.withheld, "passage")
        yield f"{passages} withheld: from documents that aren't yours."
    if answer.failures:
        failed = counted(len(answer.failures), "knowledge base")
        yield f"{failed} didn't answer, so something may be missing. Ask again in a moment."
    if answer.notices:
        yield "Part of it was searched in another way than usual; the best may not come first."
    if answer.guardrail_action != "NONE":
        yield "A guardrail held back something of what was found."


@dataclass(frozen=True, kw_only=True)
class AgentsTool:
    agent: Agent
    tool: LinkedTool

    @property
    def key(self) -> str:
        return f"{self.agent.id}/{self.tool.id}"


@dataclass(frozen=True, kw_only=True)
class Answered:
    """An answer, and what the forms beside it send: to judge it, and to keep its threshold."""

    answer: ShownAnswer
    judged: Mapping[str, str]
    tools: tuple[AgentsTool, ...]


_MOST = 20  # passages
_DEFAULT = 5
_SEVERAL = 2  # passages, that come in an order
_LABELS = {"query": "Question", "top_k": "Passages at most", "min_score": "Similarity threshold"}
_SCORE = re.compile(r"[01]|[01]?\.[0-9]{1,17}|1e-[0-9]")  # as browsers write what was typed
# Bytes of an address. Three headers may have it, beside cookies, and API Gateway bounds them all;
# a longer question is answered, and has no address.
LONGEST_ADDRESS = 1_400


@dataclass(frozen=True, kw_only=True)
class Form:
    """As it is filled in; a page that shows an answer keeps what was asked, and its address too."""

    query: str = ""
    catalog_id: str = ""
    most: int = _DEFAULT
    threshold: float | None = None  # by default none

    @property
    def address(self) -> str | None:
        """Where the answer can be come back to; None where it would be too long."""
        path = f"/ask?{self.asked}"
        return path if self.query and len(path) <= LONGEST_ADDRESS else None

    @property
    def asked(self) -> str:
        """The question and its settings, as an address has them."""
        settings = {
            "catalog": self.catalog_id,
            "most": "" if self.most == _DEFAULT else str(self.most),
            "threshold": "" if self.threshold is None else f"{self.threshold:g}",
        }
        return urlencode({"q": self.query, **{name: x for name, x in settings.items() if x}})


def form_of(given: Mapping[str, str], question: str) -> Form:
    """Of a form or an address. Raises ValidationError."""
    most = given.get("most", "").strip()
    return Form(
        query=given.get(question, ""),
        catalog_id=given.get("catalog", ""),
        most=whole_number(_LABELS["top_k"], most, least=1, most=_MOST) if most else _DEFAULT,
        threshold=_threshold(given.get("threshold", "").strip()),
    )


def form_asked(text: str) -> Form:
    """Of `Form.asked`, as a form beside the answer has sent it back."""
    return form_of(dict(parse_qsl(text[:LONGEST_ADDRESS])), "q")


def _threshold(text: str) -> float | None:
    if not text:
        return None
    if not _SCORE.fullmatch(text) or float(text) > 1:
        raise ValidationError(f"{_LABELS['min_score']}: Allowed: a number from 0 to 1")
    return float(text)


def is_asked(request: Request) -> bool:
    """Whether the address has a question."""
    return bool(request.query.get("q", "").strip())


def page(request: Request) -> Response:
    if is_asked(request):
        return _answered(request, *_asked(request, request.query, "q"))
    given = request.query.get("catalog", "")
    return _page(request, Form(catalog_id=given if ids.is_catalog(given) else ""))


def ask(request: Request) -> Response:
    """To the answer's address, where it stays; a question that is too long for one is answered."""
    form, asked = _asked(request, request.form, "query")
    if request.is_htmx or form.address is None:
        return _answered(request, form, asked)
    _named(request, form.catalog_id)
    return RedirectResponse(form.address, status_code=303)


def _asked(
    request: Request, given: Mapping[str, str], question: str
) -> tuple[Form, RetrieveArguments]:
    """A page tells at its form what is wrong there, beside all that was given."""
    try:
        form = form_of(given, question)
        return form, _arguments(form)
    except ValidationError as error:
        if request.is_htmx:
            raise
        problem = problem_of(error)
        form = Form(query=given.get(question, ""), catalog_id=given.get("catalog", ""))
        page = _page(request, form, given=given, problem=problem)
        raise RefusedOnPage(problem, page) from error


def told(request: Request, feedback: Feedback, form: Form) -> Response:
    """That it was kept, to a browser that has sent its form by itself: the answer stays."""
    if form.address is not None:
        return RedirectResponse(f"{form.address}&kept={feedback.verdict}", status_code=303)
    given = Form(query=feedback.question, catalog_id=feedback.catalog_id or "")
    return _page(request, given, verdict=feedback.verdict)


def _arguments(form: Form) -> RetrieveArguments:
    """Raises ValidationError."""
    return KNOWLEDGE_BASE_RETRIEVE.parse(
        {
            "query": form.query,
            "top_k": form.most,
            "min_score": form.threshold,
            "catalog_id": form.catalog_id or None,
        },
        called=_LABELS,
    )


def _answered(request: Request, form: Form, asked: RetrieveArguments) -> Response:
    catalog = _named(request, form.catalog_id)
    mine = catalogs_of(request)
    found = request.services.answering.search_and_ask(
        asked, request.caller, deadline=request.deadline.sooner(FOR_A_PAGE)
    )
    if not found.passages.results:
        if catalog is not None:
            _require_any(request, catalog)
        elif not request.services.retrieval.sharing and not any(map(_is_any, mine.values())):
            found = replace(found, unanswered=_NOTHING_YET)
    retrieval = request.services.retrieval
    by_date = retrieval.budget.prioritize_by is not Priority.SIMILARITY
    shown_now = Answered(
        answer=shown(asked.query, found, mine, retrieval.place_maps, by_date=by_date),
        judged=_judged(asked.query, form, found, mine),
        tools=() if form.threshold is None else _tools(request, form, mine),
    )
    request.handed_out.extend(_documents_of(found))
    if not request.is_htmx:
        return _page(request, form, shown_now, verdict=_verdict(request))
    response = _rendered(request, "parts/answer.html", form, shown_now)
    # A question that is asked again is no other place to come back to.
    is_here = request.http.headers.get("hx-current-url", "").endswith(form.address or "-")
    response.headers["HX-Push-Url"] = "false" if is_here else form.address or "/ask"
    return response


def _verdict(request: Request) -> FeedbackVerdict | None:
    given = request.query.get("kept")
    return FeedbackVerdict(given) if given in set(FeedbackVerdict) else None


def _page(
    request: Request,
    form: Form,
    answered: Answered | None = None,
    *,
    verdict: FeedbackVerdict | None = None,
    given: Mapping[str, str] | None = None,
    problem: Problem | None = None,
) -> Response:
    """With the numbers as they were `given`, if there is a `problem` with one of them."""
    return _rendered(
        request,
        "ask.html",
        form,
        answered,
        verdict=verdict,
        status=200 if problem is None else problem.status,
        most=_MOST,
        catalogs=catalogs_of(request).values(),
        given=given,
        problem=problem,
    )


def _rendered(
    request: Request,
    template: str,
    form: Form,
    answered: Answered | None,
    *,
    verdict: FeedbackVerdict | None = None,
    status: int = 200,
    **values: object,
) -> Response:
    return render(
        request,
        template,
        status=status,
        form=form,
        answer=None if answered is None else answered.answer,
        judged=None if answered is None else answered.judged,
        tools=() if answered is None else answered.tools,
        verdict=verdict,
        saved="saved" in request.query,
        **values,
    )


# The threshold that was tried here, kept for a tool of an agent.


def _tools(request: Request, form: Form, own: Mapping[str, Catalog]) -> tuple[AgentsTool, ...]:
    """Those of the user's agents that ask the catalog, or any of theirs."""
    return tuple(
        AgentsTool(agent=agent, tool=tool)
        for agent in request.services.agents.of_user(request.user_id)
        for tool in agent.linked_tools
        if tool.config.knowledge_base_id in own
        and form.catalog_id in ("", tool.config.knowledge_base_id)
    )


def save_threshold(request: Request) -> Response:
    given, _, tool_id = request.form.get("tool", "").partition("/")
    agent_id = ids.agent_id_in(given)
    threshold = _threshold(request.form.get("threshold", "").strip())
    if threshold is None:
        raise ValidationError(f"{_LABELS['min_score']}: Allowed: a number from 0 to 1")
    changes = LinkChanges(default_min_score=threshold)
    links = request.services.agent_links
    tool = links.change(request.user_id, agent_id, tool_id, changes)
    if request.is_htmx:
        return render(request, "parts/threshold_saved.html", tool=tool)
    form = form_asked(request.form.get("asked", ""))
    return redirect(request, f"{form.address}&saved" if form.address else f"/agents/{agent_id}")


# What the forms beside an answer send.


def _judged(
    query: str, form: Form, found: AskedAndAnswered, own: Mapping[str, Catalog]
) -> dict[str, str]:
    """What the form of feedback sends: what was asked, and where that stands which came first."""
    cited = () if found.answer is None else found.answer.sources
    sources = [each.source for each in cited] + [each.source for each in found.passages.results]
    place = place_of(asdict(sources[0]), own) if sources else {}
    chosen = {"catalog_id": form.catalog_id} if form.catalog_id else {}
    return {**place, "question": query, **chosen, "asked": form.asked if form.address else ""}


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


_NOTHING_YET = (
    "Nothing is searchable yet. Add documents to a catalog, and wait until they are searchable."
)


def _is_any(catalog: Catalog) -> bool:
    """By its counts, whether something in it is searchable."""
    return catalog.document_count > sum(
        (catalog.failed_count, catalog.waiting_count, catalog.over_count)
    )
