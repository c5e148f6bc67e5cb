"""
The search as a tool: behind the gateway, or in an agent's own process.

    retrieval = LinkedRetrieval(linked=(...))  # or Retrieval, over Stackroom's own pool
    retrieve_from_knowledge_base(
        {"query": "how many days of leave?"}, caller=Caller("alice"), retrieval=retrieval
    )

Both tools are one answer (`search.results`), told by `success` and `failure`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Protocol

from pydantic import BeforeValidator, Field, WithJsonSchema

from stackroom.access.access_log import document_of
from stackroom.access.identity import Caller
from stackroom.access.plain_text import Text
from stackroom.access.tool import Arguments, Tool
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.documents.filters import all_of
from stackroom.errors import RetrievalError, StackroomError, Throttled
from stackroom.search.citations import Source
from stackroom.search.linked_retrieval import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.search.ranking import WEAK_NOTICE, Relevance
from stackroom.search.results import Result, SearchAnswer
from stackroom.search.search_arguments import (
    FILTER_FORM,
    KNOWLEDGE_BASE_RETRIEVE,
    RETRIEVE_FROM_KNOWLEDGE_BASE,
    FilterArgument,
    SearchArguments,
    not_boolean,
)
from stackroom.search.wrappers import Narrowed

Response = dict[str, object]


class Searchable(Protocol):
    """Retrieval, over the pool, metered or not, or LinkedRetrieval."""

    def search(
        self, asked: SearchArguments, caller: Caller | None, *, deadline: Deadline = NO_DEADLINE
    ) -> SearchAnswer: ...


def knowledge_base_retrieve(
    arguments: object,
    *,
    caller: Caller,
    retrieval: Searchable,
    deadline: Deadline = NO_DEADLINE,
) -> Response:
    """
    Search the caller's documents; `arguments` are those of the gateway's tool, as a model wrote
    them. What hasn't answered by the deadline is told as failed.

    Who calls is for the program to say, from a verified token, and never for the model. Never
    raises for what a model can get wrong: `{"success": False, "errorType": ...}` tells it instead.
    """
    try:
        asked = KNOWLEDGE_BASE_RETRIEVE.parse(arguments)
        return success(retrieval.search(asked, caller, deadline=deadline))
    except StackroomError as error:
        return failure(error)


def retrieve_from_knowledge_base(
    arguments: object,
    *,
    caller: Caller | None,
    retrieval: Searchable,
    deadline: Deadline = NO_DEADLINE,
) -> Response:
    """The same with fewer arguments, those of any search, for an agent's own process."""
    try:
        asked = RETRIEVE_FROM_KNOWLEDGE_BASE.parse(arguments)
        return success(retrieval.search(asked, caller, deadline=deadline))
    except StackroomError as error:
        return failure(error)


def success(answer: SearchAnswer) -> Response:
    metadata = {
        "total_results": len(answer.results),
        "omitted_results": answer.omitted,
        "total_tokens": answer.tokens,
        "query_latency_ms": answer.milliseconds,
        "knowledge_bases_queried": list(answer.knowledge_bases),
        "guardrail_action": answer.guardrail_action,
        "search": ", ".join(answer.searches) + ("+rerank" if answer.is_reranked else ""),
        **({"ordered_by": answer.ordered_by} if answer.ordered_by else {}),
        **({"truncated": True} if any(each.is_cut for each in answer.results) else {}),
        **_embedded(answer),
        **_relevance(answer),
        **_failed(answer.failures),
        **({"withheld_results": answer.withheld} if answer.withheld else {}),
        **({"filter_notice": answer.filter_notice} if answer.filter_notice else {}),
        **({"search_notices": dict(answer.notices)} if answer.notices else {}),
    }
    return {
        "success": True,
        "results": [_result(result) for result in answer.results],
        "metadata": metadata,
    }


def failure(error: StackroomError) -> Response:
    failures = error.failures if isinstance(error, RetrievalError) else {}
    return {
        "success": False,
        "results": [],
        "error": str(error),
        "errorType": type(error).__name__,
        "metadata": {**_failed(failures), **_later(error)},
    }


def documents_of(response: Response) -> Iterator[object]:
    """The documents whose text a response shows, those that say the same too."""
    results = response["results"]
    assert isinstance(results, list), "every response has results"
    for result in results:
        for source in (result["source"], *result.get("other_sources", ())):
            yield document_of(source)


def _result(result: Result) -> dict[str, object]:
    return {
        "content": result.content,
        "source": _source(result.source),
        **_others(result),
        "score": result.score,
        "metadata": metadata_of(result),
    }


def metadata_of(result: Result) -> dict[str, object]:
    """
    Return a result's attributes, and what we say of it: `truncated` and `gaps`, which no attribute
    of its owner's can imitate.
    """
    ours = ("truncated", "gaps")
    attributes = {key: value for key, value in result.attributes.items() if key not in ours}
    return {
        **attributes,
        **({"truncated": True} if result.is_cut else {}),
        **({"gaps": list(result.gaps)} if result.gaps else {}),
    }


def _source(source: Source) -> dict[str, object]:
    """
    Without the text that its place is in, which no caller can read; with the version of the file
    where a newer one lies there.
    """
    unsaid = {"text_id", "is_earlier", *(() if source.is_earlier else ("version_id",))}
    return {name: value for name, value in vars(source).items() if name not in unsaid}


def _others(result: Result) -> dict[str, object]:
    others = [_source(source) for source in result.other_sources]
    return {"other_sources": others} if others else {}


def _embedded(answer: SearchAnswer) -> dict[str, object]:
    if answer.is_embedding_cached is None:
        return {}
    return {"embedding_cached": answer.is_embedding_cached}


def _relevance(answer: SearchAnswer) -> dict[str, object]:
    if answer.relevance is None:
        return {}
    is_told = answer.results and answer.relevance is Relevance.WEAK
    notice = {"relevance_notice": WEAK_NOTICE} if is_told else {}
    return {"relevance": answer.relevance, **notice}


def _later(error: StackroomError) -> dict[str, object]:
    if not isinstance(error, Throttled) or error.retry_after is None:
        return {}
    return {"retry_after_seconds": error.retry_after}


def _failed(failures: Mapping[str, str]) -> dict[str, object]:
    if not failures:
        return {}
    return {
        "failed_knowledge_bases": [
            {"knowledge_base_id": key, "reason": reason} for key, reason in failures.items()
        ]
    }


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
        " relevance score, to answer from and to cite."
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
