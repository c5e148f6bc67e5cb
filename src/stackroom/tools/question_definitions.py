"""The tools for questions to a catalog's documents, and for feedback on the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from stackroom.access.identity import Caller
from stackroom.access.tool import Id, Line, Text
from stackroom.catalogs.feedback import (
    LAST_PAGE,
    LONGEST_FILE,
    LONGEST_NOTE,
    LONGEST_QUESTION,
    Feedback,
    FeedbackOrigin,
    FeedbackVerdict,
)
from stackroom.errors import CatalogEmpty, NoResults
from stackroom.model.catalog_counts import not_searched
from stackroom.model.records import Catalog
from stackroom.tools.definition import (
    CatalogArguments,
    CatalogTool,
    Display,
    Rendered,
    Services,
)
from stackroom.tools.texts import counted, day, place, quotable

if TYPE_CHECKING:
    from stackroom.search.cited_answers import CatalogAnswer, CitedSource
    from stackroom.search.excerpts import Source

_MOST_LISTED = 20  # feedbacks in the text


class QueryCatalog(CatalogArguments):
    query: Text = Field(
        min_length=1,
        max_length=1000,  # as Bedrock takes it [Bedrock quotas: user query size]
        description="The question, in plain language: text of 1 to 1,000 characters.",
    )
    catalog_id: Id | None = Field(
        default=None,
        description="The id of the catalog to ask; by default the one that was selected.",
    )
    num_results: int = Field(
        default=5,
        ge=1,
        le=20,
        description="How many passages to answer from at most: an integer from 1 to 20, by"
        " default 5.",
    )


@dataclass(frozen=True, kw_only=True)
class Answered:
    catalog: Catalog
    query: str
    answer: CatalogAnswer


def _query(services: Services, arguments: QueryCatalog, caller: Caller) -> Answered:
    catalog = services.selection.asked(caller, arguments.catalog_id)
    try:
        answer = services.answering.ask(arguments.query, catalog, arguments.num_results)
    except NoResults as error:
        if not services.progress.of(caller.user_id, catalog.catalog_id).indexed:
            raise CatalogEmpty from None
        raise NoResults(error.nearest, not_searched=not_searched([catalog])) from None
    return Answered(catalog=catalog, query=arguments.query, answer=answer)


def _answered(answered: Answered) -> Rendered:
    answer = answered.answer
    is_from_documents = answer.guardrail_action == "NONE"
    lines = [("Based on your documents: " if is_from_documents else "") + answer.text]
    if warning := not_searched([answered.catalog]):
        lines += ["", warning]
    if answer.sources:
        lines += ["", "**Sources:**"]
    lines += [f"{number}. {_stands(each)}" for number, each in enumerate(answer.sources, start=1)]
    return Rendered(
        "\n".join(lines),
        {
            "query": answered.query,
            "catalog_id": answered.catalog.catalog_id,
            "sources": [
                {
                    **_place(each.source),
                    "chunk_text": each.chunk_text,
                    "relevance_score": each.relevance_score,
                    **_others(each),
                    **({"gaps": list(each.gaps)} if each.gaps else {}),
                }
                for each in answer.sources
            ],
            "guardrail_action": answer.guardrail_action,
        },
    )


def _stands(cited: CitedSource) -> str:
    """Return the place of the passage, in every file that has it."""
    sources = (cited.source, *cited.other_sources)
    return ", the same in ".join(place(each.filename, each.page, each.section) for each in sources)


def _others(cited: CitedSource) -> dict[str, object]:
    others = [_place(source) for source in cited.other_sources]
    return {"other_sources": others} if others else {}


def _place(source: Source) -> dict[str, object]:
    return {
        "filename": source.filename,
        "document_id": source.document_id,
        "page": source.page,
        "page_first": source.page_first,
        "page_last": source.page_last,
        "section": source.section,
    }


QUERY_CATALOG = CatalogTool(
    name="query_catalog",
    description=(
        "Answer a question from the documents of one catalog, the one that was selected or that"
        " catalog_id names, and cite file, page and section of what the answer stands on."
    ),
    arguments=QueryCatalog,
    use=_query,
    render=_answered,
    display=Display(
        name="Query Catalog", running="Querying knowledge base", complete="Query complete"
    ),
)


class GiveFeedback(CatalogArguments):
    question: Text = Field(
        min_length=1,
        max_length=LONGEST_QUESTION,
        description="The question that was answered: text of 1 to 1,000 characters.",
    )
    helpful: bool = Field(description="Whether the answer was right and of use: true or false.")
    catalog_id: Id | None = Field(
        default=None,
        description="The id of the catalog that was asked; by default none in particular.",
    )
    file: Line = Field(
        default="",
        max_length=LONGEST_FILE,
        description="The name of the file that the answer stands in, or that was shown first: at"
        " most 1,024 characters.",
    )
    page: int | None = Field(
        default=None, ge=1, le=LAST_PAGE, description="Its page: an integer from 1 to 1,000,000."
    )
    note: Text = Field(
        default="",
        max_length=LONGEST_NOTE,
        description="What was right or wrong with it: at most 500 characters.",
    )


class ListFeedback(CatalogArguments):
    catalog_id: Id | None = Field(
        default=None,
        description="Only what was said of this catalog, or of none in particular; by default all.",
    )


def _give_feedback(services: Services, arguments: GiveFeedback, caller: Caller) -> Feedback:
    return services.feedback.keep(
        Feedback(
            user_id=caller.user_id,
            verdict=FeedbackVerdict.UP if arguments.helpful else FeedbackVerdict.DOWN,
            origin=FeedbackOrigin.TOOL,
            file=arguments.file or None,
            **arguments.model_dump(exclude={"helpful", "file"}),
        )
    )


def _render_feedback(feedback: Feedback) -> Rendered:
    return Rendered(
        f"Kept for the user to judge: {_feedback_line(feedback)}", _feedback_metadata(feedback)
    )


FEEDBACK = CatalogTool(
    name="feedback",
    description=(
        "Say whether what the user's documents answered to a question was helpful. It is kept for"
        " the signed-in user, who may make a test question of it; nothing else follows from it."
    ),
    arguments=GiveFeedback,
    use=_give_feedback,
    render=_render_feedback,
    display=Display(name="Give Feedback", running="Keeping feedback", complete="Feedback kept"),
)


def _list_feedback(services: Services, arguments: ListFeedback, caller: Caller) -> list[Feedback]:
    return services.feedback.of_user(caller.user_id, catalog_id=arguments.catalog_id)


def _feedback_listed(found: list[Feedback]) -> Rendered:
    lines = [f"Found {counted(len(found), 'question')} with feedback:"]
    lines += [f"- {_feedback_line(each)}" for each in found[:_MOST_LISTED]]
    if len(found) > _MOST_LISTED:
        lines.append(f"- and {len(found) - _MOST_LISTED} more, in metadata")
    return Rendered("\n".join(lines), {"feedback": [_feedback_metadata(each) for each in found]})


def _feedback_line(each: Feedback) -> str:
    where = f", {place(each.file, each.page, None)}" if each.file else ""
    return f"'{quotable(each.question)}': {each.verdict}{where} ({day(each.at)})"


def _feedback_metadata(each: Feedback) -> dict[str, object]:
    """Return the feedback without its user, who the caller is."""
    return each.model_dump(mode="json", exclude={"user_id"})


LIST_FEEDBACK = CatalogTool(
    name="list_feedback",
    description=(
        "List what the signed-in user and their agents said of answers, the newest first: the"
        " questions, the verdicts, and what was shown."
    ),
    arguments=ListFeedback,
    use=_list_feedback,
    render=_feedback_listed,
    display=Display(name="List Feedback", running="Loading feedback", complete="Feedback loaded"),
)
