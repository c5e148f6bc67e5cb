"""The tools that ask: how far a catalog is, and what its documents say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from stackroom.access.identity import Caller
from stackroom.access.plain_text import Id, Text
from stackroom.documents.model import Catalog, CatalogStatus, DocumentStatus
from stackroom.errors import CatalogEmpty, NoResults
from stackroom.tools.definition import (
    CatalogArguments,
    CatalogId,
    CatalogTool,
    Display,
    Rendered,
    Services,
)
from stackroom.tools.texts import counted, minute, place, shown

if TYPE_CHECKING:
    from stackroom.catalogs.progress import CatalogProgress
    from stackroom.ingestion.estimates import DocumentEstimate
    from stackroom.search.citations import Source
    from stackroom.search.cited_answers import CatalogAnswer, CitedSource

_ROWS = 100  # of the documents that aren't ready; a model reads no more with profit


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


class GetIndexingStatus(CatalogArguments):
    catalog_id: CatalogId


@dataclass(frozen=True, kw_only=True)
class Answered:
    catalog: Catalog
    query: str
    answer: CatalogAnswer


def _query(services: Services, asked: QueryCatalog, caller: Caller) -> Answered:
    catalog = services.selection.asked(caller, asked.catalog_id)
    try:
        answer = services.answering.ask(asked.query, catalog, asked.num_results)
    except NoResults:
        if not services.progress.of(caller.user_id, catalog.catalog_id).indexed:
            raise CatalogEmpty from None
        raise
    return Answered(catalog=catalog, query=asked.query, answer=answer)


def _answered(answered: Answered) -> Rendered:
    answer = answered.answer
    is_from_documents = answer.guardrail_action == "NONE"
    lines = [("Based on your documents: " if is_from_documents else "") + answer.text]
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
                }
                for each in answer.sources
            ],
            "guardrail_action": answer.guardrail_action,
        },
    )


def _stands(cited: CitedSource) -> str:
    """In every file that says it."""
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


def _status(services: Services, asked: GetIndexingStatus, caller: Caller) -> CatalogProgress:
    return services.progress.of(caller.user_id, asked.catalog_id)


def _told(progress: CatalogProgress) -> Rendered:
    ready = f"{progress.indexed} of {counted(progress.total, 'document')} ready"
    if progress.overall is CatalogStatus.DELETING:
        ready = f"{counted(progress.total, 'document')} left"
    lines = [
        f"Catalog '{shown(progress.catalog.name)}' indexing status:",
        f"**Overall**: {progress.overall} ({ready})",
        *map(_line, progress.unready[:_ROWS]),
    ]
    if not progress.total and progress.overall is CatalogStatus.READY:
        lines.append("Use upload_to_catalog to add documents.")
    if more := max(0, len(progress.unready) - _ROWS) + progress.more:
        lines.append(f"- and {more} more that aren't ready")
    return Rendered(
        "\n".join(lines),
        {
            "catalog_id": progress.catalog.catalog_id,
            "overall_status": str(progress.overall),
            "documents": {
                "indexed": progress.indexed,
                "indexing": progress.indexing,
                "pending": progress.pending,
                "failed": progress.failed,
            },
            "eta_seconds": progress.eta_seconds,
            "failures": [
                {
                    "document_id": each.document.document_id,
                    "filename": each.document.filename,
                    "reason": each.document.status_reason,
                }
                for each in progress.unready
                if each.document.status is DocumentStatus.FAILED
            ],
        },
    )


def _line(estimate: DocumentEstimate) -> str:
    document = estimate.document
    told = [str(document.shown_status)]
    if document.is_to_come and document.upload_until is not None:
        told = [f"waits for its upload until {minute(document.upload_until)}"]
    elif document.status_reason:
        told = [f"failed: {shown(document.status_reason)}"]
    elif left := estimate.remaining(speed=1):
        told.append(left)
    return f"- {shown(document.filename)} ({document.document_id}): {', '.join(told)}"


GET_INDEXING_STATUS = CatalogTool(
    name="get_indexing_status",
    description=(
        "Say how far a catalog's documents are: how many can be asked about, which are still being"
        " indexed and how long that takes, which failed and why."
    ),
    arguments=GetIndexingStatus,
    use=_status,
    render=_told,
    display=Display(name="Check Indexing", running="Checking status", complete="Status retrieved"),
)
