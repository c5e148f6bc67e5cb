"""A question of all catalogs, or of what was chosen, and its answer."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from starlette.responses import RedirectResponse, Response

from stackroom.access.tenancy import in_use
from stackroom.errors import CatalogNotFound, ValidationError
from stackroom.model.records import Catalog
from stackroom.search.budget import Priority
from stackroom.search.cited_answers import AskedAndAnswered
from stackroom.search.search_arguments import RetrieveArguments
from stackroom_agents.user_agents.agent import Agent, LinkedTool
from stackroom_agents.user_agents.links import LinkChanges
from stackroom_console import ids
from stackroom_console.asked_question import (
    MOST,
    SCORE_ALLOWED,
    Question,
    attribute_names,
    question_of,
    shown_choice,
    threshold_of,
)
from stackroom_console.console import FOR_A_PAGE
from stackroom_console.messages import gettext, ngettext
from stackroom_console.pages.growing_answer import growth_of
from stackroom_console.problems import Problem, RefusedOnPage, problem_of
from stackroom_console.rendering import render
from stackroom_console.request import Request
from stackroom_console.shown_answer import ShownAnswer, place_of, shown


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


def is_asked(request: Request) -> bool:
    """Return True if the address has a question."""
    return bool(request.query.get("q", "").strip())


def page(request: Request) -> Response:
    if is_asked(request):
        return _answered(request, *_asked(request, request.query, "q"))
    return _page(request, Question(choice=shown_choice(request.query)))


def ask(request: Request) -> Response:
    """
    Redirect to the answer's address, where it stays, or answer a question that is too long for one.
    """
    question, asked = _asked(request, request.form, "query")
    if request.is_htmx or question.address is None:
        return _answered(request, question, asked)
    require_own(request, question)
    return RedirectResponse(question.address, status_code=303)


def _asked(
    request: Request, given: Mapping[str, str], name: str
) -> tuple[Question, RetrieveArguments]:
    """A page tells at its form what is wrong there, beside all that was given."""
    try:
        question = question_of(given, name)
        return question, question.arguments(catalogs_of(request).values())
    except ValidationError as error:
        if request.is_htmx:
            raise
        problem = problem_of(error)
        question = Question(query=given.get(name, ""), choice=shown_choice(given))
        page = _page(request, question, given=given, problem=problem)
        raise RefusedOnPage(problem, page) from error


def _answered(request: Request, question: Question, asked: RetrieveArguments) -> Response:
    require_own(request, question)
    mine, chosen = catalogs_of(request), question.choice.catalog_ids
    found = request.services.answering.search_and_ask(
        asked,
        request.caller,
        within=chosen if len(chosen) > 1 else (),
        hear=growth_of(request),
        deadline=request.deadline.sooner(FOR_A_PAGE),
    )
    too_early = "" if found.passages.results else _too_early(request, question, mine)
    retrieval = request.services.retrieval
    answer = shown(
        asked.query,
        replace(found, unanswered=too_early or found.unanswered),
        mine,
        retrieval.place_maps,
        by_date=retrieval.budget.prioritize_by is not Priority.SIMILARITY,
        is_too_early=bool(too_early),
    )
    shown_now = Answered(
        answer=answer,
        judged=_judged(asked.query, question, found, mine),
        tools=() if question.threshold is None else _tools(request, question, mine),
    )
    request.handed_out.extend(_documents_of(found))
    if not request.is_htmx:
        return _page(request, question, shown_now)
    response = _rendered(request, "parts/answer.html", question, shown_now)
    # A question that is asked again is no other place to come back to.
    is_here = request.http.headers.get("hx-current-url", "").endswith(question.address or "-")
    response.headers["HX-Push-Url"] = "false" if is_here else question.address or "/ask"
    return response


def _page(
    request: Request,
    question: Question,
    answered: Answered | None = None,
    *,
    given: Mapping[str, str] | None = None,
    problem: Problem | None = None,
) -> Response:
    """
    Return the page with the numbers as they were `given`, if there is a `problem` with one of them.
    """
    catalogs = catalogs_of(request).values()
    return _rendered(
        request,
        "ask.html",
        question,
        answered,
        status=200 if problem is None else problem.status,
        most=MOST,
        catalogs=catalogs,
        names=attribute_names(catalogs),
        given=given,
        problem=problem,
    )


def _rendered(
    request: Request,
    template: str,
    question: Question,
    answered: Answered | None,
    *,
    status: int = 200,
    **values: object,
) -> Response:
    return render(
        request,
        template,
        status=status,
        form=question,
        choice=question.choice,
        answer=None if answered is None else answered.answer,
        judged=None if answered is None else answered.judged,
        tools=() if answered is None else answered.tools,
        **values,
    )


# The threshold that was tried here, kept for a tool of an agent.


def _tools(
    request: Request, question: Question, own: Mapping[str, Catalog]
) -> tuple[AgentsTool, ...]:
    """Return the user's agents' tools that ask the chosen catalogs, or any of theirs."""
    chosen = question.choice.catalog_ids or own
    return tuple(
        AgentsTool(agent=agent, tool=tool)
        for agent in request.services.agents.of_user(request.user_id)
        for tool in agent.linked_tools
        if tool.config.knowledge_base_id in own and tool.config.knowledge_base_id in chosen
    )


def save_threshold(request: Request) -> Response:
    given, _, tool_id = request.form.get("tool", "").partition("/")
    agent_id = ids.agent_id_in(given)
    threshold = threshold_of(request.form.get("threshold", "").strip())
    if threshold is None:
        raise ValidationError(gettext(SCORE_ALLOWED))
    changes = LinkChanges(default_min_score=threshold)
    links = request.services.agent_links
    tool = links.change(request.user_id, agent_id, tool_id, changes)
    return render(request, "parts/threshold_saved.html", tool=tool)


# What the forms beside an answer send.


def _judged(
    query: str, question: Question, found: AskedAndAnswered, own: Mapping[str, Catalog]
) -> dict[str, str]:
    """Return the feedback form's values: the question, and the place of the first passage."""
    cited = () if found.answer is None else found.answer.sources
    sources = [each.source for each in cited] + [each.source for each in found.passages.results]
    place = place_of(asdict(sources[0]), own) if sources else {}
    chosen = {} if question.catalog_id is None else {"catalog_id": question.catalog_id}
    return {**place, "question": query, **chosen}


def _documents_of(found: AskedAndAnswered) -> Iterator[str]:
    cited = () if found.answer is None else found.answer.sources
    for first, others in (
        *((each.source, each.other_sources) for each in cited),
        *((each.source, each.other_sources) for each in found.passages.results),
    ):
        yield from (each.document_id for each in (first, *others) if each.document_id)


def catalogs_of(request: Request) -> dict[str, Catalog]:
    """
    Return the user's catalogs by id, in the order of their names; a user has at most a few hundred.
    """
    found = request.services.listing.catalogs.of_user(request.user_id)
    ordered = sorted(found, key=lambda each: (each.name.casefold(), each.name))
    return {each.catalog_id: each for each in ordered}


def require_own(request: Request, question: Question) -> None:
    """Raises CatalogNotFound for what isn't the caller's, or CatalogDeleting."""
    for each in question.choice.catalog_ids:
        if not ids.is_catalog(each):
            raise CatalogNotFound(each)
        in_use(request.services.deletions.catalogs, request.user_id, each)


def _too_early(request: Request, question: Question, own: Mapping[str, Catalog]) -> str:
    """Say that nothing is searchable yet, where that is so."""
    if chosen := question.choice.catalog_ids:
        of_user = request.services.progress.of
        if any(of_user(request.user_id, each).indexed for each in chosen):
            return ""
        return ngettext(
            "Nothing in this catalog is searchable yet. Add documents to a catalog, and wait until"
            " they are searchable.",
            "Nothing in these catalogs is searchable yet. Add documents to a catalog, and wait"
            " until they are searchable.",
            len(chosen),
        )
    if request.services.retrieval.sharing or any(map(_is_any, own.values())):
        return ""
    return gettext(
        "Nothing is searchable yet. Add documents to a catalog, and wait until they are searchable."
    )


def _is_any(catalog: Catalog) -> bool:
    """Return True if the catalog's counts say that something in it is searchable."""
    return catalog.document_count > sum(
        (catalog.failed_count, catalog.waiting_count, catalog.over_count)
    )
