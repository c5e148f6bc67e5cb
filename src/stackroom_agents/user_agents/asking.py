"""Searches with a linked tool, in the user's catalog or a shared knowledge base, for a model."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stackroom.access.access_log import SUCCESS, AccessLog, access_of, document_of
from stackroom.access.identity import Caller, ToolCall
from stackroom.access.search_filter_argument import conditions
from stackroom.access.tool import encodable, is_nothing, not_an_object
from stackroom.clock import Deadline
from stackroom.errors import KnowledgeBaseNotFound, StackroomError, ValidationError
from stackroom.search.linked_retrieval import LinkedRetrieval
from stackroom.search.ranking import WEAK_NOTICE, Relevance
from stackroom.search.results import Result, SearchAnswer, metadata_of
from stackroom.search.search import Retrieval
from stackroom.search.search_arguments import KNOWLEDGE_BASE_RETRIEVE, RetrieveArguments
from stackroom_agents.user_agents.agent import MOST_RESULTS, LinkedTool
from stackroom_agents.user_agents.agent_run import SearchedPart
from stackroom_agents.user_agents.assistant import ALL_CATALOGS
from stackroom_agents.user_agents.available_knowledge_bases import AvailableKnowledgeBases

# What a linked tool is asked, and what it answers: the one answer of a search, by contract.
#
# Beside `search.results`, which tells the same to the gateway's tool and to an agent's own.

Response = dict[str, Any]

_TOP_K, _LEAST = "topK", "minScore"
_ALLOWED = ("query", _TOP_K, _LEAST)
GONE = "Knowledge base not found. It may have been deleted."


def asked_of(tool: LinkedTool, raw: object) -> tuple[RetrieveArguments, tuple[str, ...]]:
    """
    Return the search that a model's arguments mean, and notices where it differs from them.

    A number beyond the limits becomes the nearest limit. Raises ValidationError for a question that
    can't be asked, or an unknown argument.
    """
    if not isinstance(raw, Mapping):
        raise ValidationError(not_an_object(raw))
    for name in raw:
        if name not in _ALLOWED:
            shown = str(name)[:100]
            raise ValidationError(f"{shown}: no such argument. Allowed: {', '.join(_ALLOWED)}")
    config = tool.config
    top_k, of_top_k = _within(raw, _TOP_K, 1, MOST_RESULTS, config.default_top_k)
    least, of_least = _within(raw, _LEAST, 0, 1, config.default_min_score)
    arguments = KNOWLEDGE_BASE_RETRIEVE.parse(
        {"query": raw.get("query"), "top_k": math.floor(top_k), "min_score": least}
    )
    return arguments, of_top_k + of_least


def _within(
    raw: Mapping[str, object], name: str, least: float, most: float, default: float
) -> tuple[float, tuple[str, ...]]:
    value = raw.get(name)
    if is_nothing(value):
        return default, ()
    number = _number(value)
    if number is None:
        return default, (
            f"{name} was not a number; allowed: {least} to {most}; the default was used",
        )
    used = min(max(number, least), most)
    if used == number:
        return used, ()
    notice = f"{name} was {_format_number(number)}; allowed: {least} to {most}; {used} was used"
    return used, (notice,)


def _format_number(number: float) -> str:
    """Format a number with two decimals at most, as all scores are."""
    return f"{round(number, 2):g}"


def _number(value: object) -> float | None:
    """
    Parse a number, which models also write as a text. True is none, although Python counts it as
    one.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return None if math.isnan(number) else number


def success(
    tool: LinkedTool, query: str, answer: SearchAnswer, notices: tuple[str, ...] = ()
) -> Response:
    """
    Return the answer of a search.

    `chunkIndex` is null: no store numbers the pieces of a document. `similarity` is the score that
    `minScore` compares; its meaning depends on the store.
    """
    remarks = [*notices, *_notices(answer)]
    return {
        "success": True,
        "query": query,
        "knowledgeBaseName": tool.config.knowledge_base_name,
        "resultCount": len(answer.results),
        "results": [_result(number, each) for number, each in enumerate(answer.results, 1)],
        "summary": (
            f"Found {len(answer.results)} relevant chunks ({answer.omitted} omitted due to size)"
        ),
        "metadata": {
            "totalTokensUsed": answer.tokens,
            "cached": bool(answer.is_embedding_cached),
            **({"notices": remarks} if remarks else {}),
            **({"notSearched": answer.not_searched} if answer.not_searched else {}),
        },
    }


def failure(message: str) -> Response:
    """Return the answer of a failed search. The agent goes on, and may ask otherwise."""
    return {"success": False, "error": True, "message": message}


def _result(rank: int, result: Result) -> Response:
    return {
        "rank": rank,
        "content": result.content,
        "source": dict(vars(result.source)),
        "chunkIndex": None,
        "similarity": result.score,
        "metadata": metadata_of(result),
    }


def _notices(answer: SearchAnswer) -> list[str]:
    notices = []
    if answer.results and answer.relevance is Relevance.WEAK:
        notices.append(WEAK_NOTICE)
    if answer.guardrail_action == "INTERVENED":
        notices.append("a guardrail intervened; withheld content is not shown")
    if answer.failures:
        notices.append("part of the knowledge base did not answer; ask again for complete results")
    return notices


TOOL = "linked_knowledge_base"  # in the audit line: the tool's own name is its user's text


@dataclass(frozen=True, kw_only=True)
class Asking:
    """
    Searches for linked tools. `shared` searches the knowledge bases that the deployment shares.
    """

    available: AvailableKnowledgeBases
    retrieval: Retrieval
    shared: LinkedRetrieval
    log: AccessLog

    def answer(
        self,
        tool: LinkedTool,
        raw: object,
        caller: Caller,
        *,
        within: SearchedPart | None = None,
        deadline: Deadline,
    ) -> Response:
        """
        Answer a tool's call. A tool over all catalogs searches the part `within`, if there is one.

        A model's mistake, or a knowledge base that is gone or doesn't answer, is never raised but
        answered with `{"success": False, ...}`.
        """
        started = time.perf_counter()
        outcome, shown = SUCCESS, list[object]()
        try:
            arguments, notices = asked_of(tool, raw)
            answer = self._searched(tool, arguments, caller, within, deadline)
            response = success(tool, arguments.query, answer, notices)
            shown = [
                document_of(vars(source))
                for each in answer.results
                for source in (each.source, *each.other_sources)
            ]
        except KnowledgeBaseNotFound as error:
            outcome, response = type(error).__name__, failure(GONE)
        except StackroomError as error:
            outcome, response = type(error).__name__, failure(str(error))
        self.log(
            access_of(
                ToolCall(TOOL, caller),
                tools=(TOOL,),
                outcome=outcome,
                seconds=time.perf_counter() - started,
                named_in=({"catalog_id": tool.config.knowledge_base_id},),
                shown=shown,
            )
        )
        encoded: Response = encodable(response)
        return encoded

    def _searched(
        self,
        tool: LinkedTool,
        arguments: RetrieveArguments,
        caller: Caller,
        within: SearchedPart | None,
        deadline: Deadline,
    ) -> SearchAnswer:
        """Search. Raises KnowledgeBaseNotFound if it is gone, being deleted, or somebody else's."""
        key = tool.config.knowledge_base_id
        known = self.available.find(caller.user_id, key)
        if known is None:
            raise KnowledgeBaseNotFound("Knowledge base")
        least = arguments.min_score
        if least == tool.config.default_min_score == known.least_score:
            least = None  # nobody set it: neither the tool's user nor the model
        if key == ALL_CATALOGS:
            part = within or SearchedPart()
            asked = arguments.model_copy(
                update={"min_score": least, "filter": conditions(part.filter)}
            )
            search = self.retrieval.search
            return search(asked, caller, within=part.catalog_ids, deadline=deadline)
        for found in self.shared.linked:
            if found.knowledge_base_id == key:
                # As many as the tool says; what is never shown stays so.
                least = max(least or 0.0, found.min_score or 0.0)
                narrowed = replace(found, limit=arguments.top_k, min_score=least or None)
                asked = arguments.model_copy(update={"knowledge_base_id": key})
                alone = replace(self.shared, linked=(narrowed,))
                return alone.search(asked, caller, deadline=deadline)
        asked = arguments.model_copy(update={"catalog_id": key, "min_score": least})
        return self.retrieval.search(asked, caller, deadline=deadline)
