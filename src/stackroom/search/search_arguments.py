"""The search tools as agents see them: their purpose and arguments."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from stackroom.access import search_filter_argument
from stackroom.access.tool import Arguments, Id, Text, Tool, by_name
from stackroom.model.filters import Conditions
from stackroom.search.budget import MOST_TOKENS, Budget, Priority


def not_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


_Number = BeforeValidator(not_boolean)  # pydantic would take true for 1
_Priority = Annotated[Priority, WithJsonSchema({"type": "string"})]  # the gateway knows no enum


_SCALARS = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
_LIST = {"type": "array", "items": {"anyOf": _SCALARS}}
_BOUNDS = [{"type": "number"}, {"type": "string"}]
_OPERATED = {
    "type": "object",
    "properties": {
        **{key: {"anyOf": [*_BOUNDS, {"type": "null"}]} for key in ("gte", "gt", "lte", "lt")},
        "between": {"type": "array", "items": {"anyOf": _BOUNDS}},
        "in": _LIST,
        "exists": {"type": "boolean"},
    },
}
FilterArgument = Annotated[
    Conditions,
    PlainValidator(search_filter_argument.conditions),
    BeforeValidator(by_name),
    WithJsonSchema(
        {"type": "object", "additionalProperties": {"anyOf": [*_SCALARS, _LIST, _OPERATED]}}
    ),
]
FILTER_FORM = (
    f"an object of at most {search_filter_argument.MAX_KEYS} keys, all of which must match, each"
    f" with a text, number or boolean, a list of at most {search_filter_argument.MAX_VALUES} of"
    " them, any of which may match, or an object of gte, gt, lte, lt, between, in and exists:"
    ' {"year": {"gte": 2025}}. Texts have no order. Not user_id, catalog_id or x-amz-bedrock keys.'
)


class SearchArguments(Arguments):
    """The arguments of every search tool."""

    query: Text = Field(
        min_length=1,
        max_length=1000,  # "User query size" in the Bedrock quotas
        description="What to look for, in plain language: text of 1 to 1,000 characters.",
    )
    knowledge_base_id: Id | None = Field(
        default=None,
        description="Search this knowledge base only: its id; by default all of them.",
    )
    max_tokens: Annotated[int, _Number] | None = Field(
        default=None,
        ge=1,
        le=MOST_TOKENS,
        description=(
            "Return at most this many tokens of text, four characters being one: an integer from 1"
            f" to {MOST_TOKENS:,}."
        ),
    )
    prioritize_by: _Priority | None = Field(
        default=None,
        description=(
            "Which of the passages come first, and are kept if not all fit into max_tokens:"
            " similarity (what answers the question best), recency (the newest documents) or"
            " balanced (both)."
        ),
    )

    def budget(self, otherwise: Budget) -> Budget:
        """Return the budget that the caller asks for, completed by the default one."""
        return replace(
            otherwise,
            max_tokens=self.max_tokens or otherwise.max_tokens,
            prioritize_by=self.prioritize_by or otherwise.prioritize_by,
        )


class RetrieveArguments(SearchArguments):
    top_k: Annotated[int, _Number] = Field(
        default=5,
        ge=1,
        le=20,
        description="How many passages to return at most: an integer from 1 to 20, by default 5.",
    )
    min_score: Annotated[float, _Number] | None = Field(
        default=None,
        ge=0,
        le=1,
        description=(
            "Leave out passages that score less: a number from 0 to 1. By default none is left out"
            " for its score."
        ),
    )
    filter: FilterArgument = Field(
        default=(),
        description=(
            f"Only passages of documents with this metadata: {FILTER_FORM} A range of dates:"
            ' {"uploaded_at": {"between": ["2026-01-01", "2026-03-31"]}}. A folder and what is'
            ' below it: {"folder": "2026/contracts"}.'
        ),
    )
    catalog_id: Id | None = Field(
        default=None,
        description="Search this catalog only: an id such as cat-1a2b; by default all catalogs.",
    )


KNOWLEDGE_BASE_RETRIEVE = Tool(
    name="knowledge_base_retrieve",
    description=(
        "Search the signed-in user's documents by meaning and by words. Returns the nearest"
        " passages with file, page and score, to answer from and to cite. metadata.relevance is"
        " weak where they may not answer the question."
    ),
    arguments=RetrieveArguments,
)

RETRIEVE_FROM_KNOWLEDGE_BASE = Tool(
    name="retrieve_from_knowledge_base",
    description=(
        "Search knowledge bases for passages that answer a question. Returns the nearest passages"
        " with file, page and score, to answer from and to cite. metadata.relevance is weak where"
        " they may not answer the question."
    ),
    arguments=SearchArguments,
)
