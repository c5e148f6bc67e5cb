"""
The search as a gateway's tool where nobody has documents of their own: the gateway lets its callers
in, and each of them finds all that there is.

    retrieve_for_everyone({"query": "when do ledgers close?"}, retrieval=LinkedRetrieval(...))
"""

from dataclasses import replace
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import StackroomError
from stackroom.filters import all_of
from stackroom.gateway.plain_text import Text
from stackroom.gateway.tool import Arguments, Tool
from stackroom.retrieval.arguments import (
    FILTER_FORM,
    FilterArgument,
    SearchArguments,
    not_boolean,
)
from stackroom.retrieval.linked import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.retrieval.narrowed import Narrowed
from stackroom.retrieval.tool import Response, failure, success


class EveryonesArguments(Arguments):
    query: Text = Field(
        min_length=1,
        max_length=1000,
        description="What to look for, in plain language: text of 1 to 1,000 characters.",
    )
    top_k: (
        Annotated[int, BeforeValidator(not_boolean), WithJsonSchema({"type": "number"})] | None
    ) = Field(
        default=None,
        ge=1,
        le=20,
        description=(
            "How many passages to return at most: a whole number from 1 to 20; by default as many"
            " as is configured."
        ),
    )
    filter: FilterArgument = Field(
        default=(),
        description=(
            f"Only passages with this metadata, such as domain or taxonomy: {FILTER_FORM}"
        ),
    )


RETRIEVE_FOR_EVERYONE = Tool(
    name="knowledge_base_retrieve",
    description=(
        "Search the knowledge base by meaning. Returns the best passages with source, metadata and"
        " relevance score, to answer from and to cite; none if nothing is near the question."
    ),
    arguments=EveryonesArguments,
)


def retrieve_for_everyone(
    arguments: object, *, retrieval: LinkedRetrieval, deadline: Deadline = NO_DEADLINE
) -> Response:
    """
    `arguments` as a model wrote them; what hasn't answered by the deadline is told as failed.

    Never raises for what a model can get wrong: `{"success": False, "errorType": ...}` tells it.
    A knowledge base that tells callers apart is not searched for nobody, and says so.
    """
    try:
        asked = RETRIEVE_FOR_EVERYONE.parse(arguments)
        linked = tuple(_asked(each, asked) for each in retrieval.linked)
        searched = replace(retrieval, linked=linked)
        return success(searched.search(SearchArguments(query=asked.query), None, deadline=deadline))
    except StackroomError as error:
        return failure(error)


def _asked(linked: LinkedKnowledgeBase, asked: EveryonesArguments) -> LinkedKnowledgeBase:
    limited = replace(linked, limit=asked.top_k or linked.limit)
    if not asked.filter:
        return limited
    narrowed = Narrowed(linked.knowledge_base, all_of(asked.filter))
    return replace(limited, knowledge_base=narrowed)
