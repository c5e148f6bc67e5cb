"""Chat at once: the assistant over all of a user's catalogs, or what of them is chosen."""

from itertools import count
from typing import Annotated

from pydantic import AfterValidator, Field
from starlette.responses import Response

from stackroom.access.tool import Text
from stackroom.model.records import Record
from stackroom.search.results import SearchAnswer
from stackroom_agents.user_agents.agent_run import ModelStep, ShownPassage, ToolStep
from stackroom_agents.user_agents.assistant import ALL_CATALOGS_NAME, ASSISTANT, SEARCH_ALL
from stackroom_agents.user_agents.runs import NEW, Message
from stackroom_console.asked_question import choice_of, question_asked
from stackroom_console.console import FOR_A_PAGE
from stackroom_console.messages import N_
from stackroom_console.pages import chat_page
from stackroom_console.pages.ask_page import catalogs_of, require_own
from stackroom_console.rendering import redirect
from stackroom_console.request import Request, parse
from stackroom_console.shown_answer import passage_mark

_LONGEST_ANSWER = 20_000  # characters: more than a model may write for the page Ask


class _Resumed(Record):
    question: Message
    answer: Annotated[
        Text,
        AfterValidator(str.strip),
        Field(
            min_length=1,
            max_length=_LONGEST_ANSWER,
            description=f"an answer of 1 to {_LONGEST_ANSWER:,} characters",
        ),
    ]


def page(request: Request) -> Response:
    """Return the page on which somebody asks the first question of a conversation."""
    return chat_page.blank_of(request, ASSISTANT)


def begin(request: Request) -> Response:
    run = chat_page.put(request, NEW, ASSISTANT)
    return redirect(request, chat_page.address_of(run, choice_of(request.form)))


def resume(request: Request) -> Response:
    """
    A conversation that begins with an answer of the page Ask, which is kept nowhere: the form has
    the question and the answer, and its passages are searched for again.
    """
    question = question_asked(request.form.get("asked", ""))
    given = {"question": question.query, "answer": request.form.get("said", "")}
    wanted = parse(_Resumed, given, called={"question": N_("Question"), "answer": N_("Answer")})
    require_own(request, question)
    catalogs = catalogs_of(request).values()
    chosen = question.choice.catalog_ids
    found = request.services.retrieval.search(
        question.arguments(catalogs),
        request.caller,
        within=chosen if len(chosen) > 1 else (),
        deadline=request.deadline.sooner(FOR_A_PAGE),
    )
    now = request.console.now()
    searched = ToolStep(
        tool_id=SEARCH_ALL.id,
        tool_name=SEARCH_ALL.name,
        knowledge_base_name=ALL_CATALOGS_NAME,
        query=question.query,
        is_success=True,
        told="",
        passages=_numbered(found, request.form.get("cited", "").split(",")),
        at=now,
        seconds=found.milliseconds / 1000,
    )
    answered = ModelStep(text=wanted.answer, at=now, seconds=0, input_tokens=0, output_tokens=0)
    run = request.services.agent_runs.begin_with(
        request.user_id,
        ASSISTANT,
        wanted.question,
        (searched, answered),
        within=chat_page.part_of(request, question.choice),
    )
    request.handed_out.extend(each.source.document_id or "" for each in found.results)
    return redirect(request, f"{chat_page.address_of(run, question.choice)}#newest")


def _numbered(found: SearchAnswer, cited: list[str]) -> tuple[ShownPassage, ...]:
    """Return the passages that the answer cites, by its numbers, and then the others."""
    numbers = {mark: number for number, mark in enumerate(cited, 1)}
    others = count(len(cited) + 1)
    return tuple(
        ShownPassage(
            rank=rank,
            number=numbers.get(passage_mark(each.source, each.text)) or next(others),
            content=each.content,
            source=dict(vars(each.source)),
            similarity=each.score,
            is_cut=each.is_cut,
            gaps=each.gaps,
        )
        for rank, each in enumerate(found.results, 1)
    )
