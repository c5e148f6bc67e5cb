"""
The answers of the search tools: passages within the caller's budget, and counts of all others.

    retrieval = LinkedRetrieval(linked=(...))  # or Retrieval, over Stackroom's own pool
    retrieve_from_knowledge_base(
        {"query": "how many days of leave?"}, caller=Caller("alice"), retrieval=retrieval
    )
"""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from stackroom.access.identity import Caller
from stackroom.access.search_filter_argument import key_of, unsupported_types
from stackroom.access.tenancy import owner_attributes
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import RetrievalError, StackroomError, Throttled
from stackroom.model.attributes import AttributeType, AttributeTypes
from stackroom.model.catalog_counts import not_searched
from stackroom.model.filters import Conditions
from stackroom.model.passages import PlaceMapReader, Ranks, Search
from stackroom.search.budget import Budget, Priority
from stackroom.search.excerpts import (
    CHARACTERS_A_TOKEN,
    Excerpt,
    Source,
    estimated_tokens,
    source_of_beginning,
)
from stackroom.search.ranking import WEAK_NOTICE, OrderedBy, Ranking, Relevance, identity
from stackroom.search.replies import Replies, SearchScope
from stackroom.search.search_arguments import (
    KNOWLEDGE_BASE_RETRIEVE,
    RETRIEVE_FROM_KNOWLEDGE_BASE,
    SearchArguments,
)

_CUT = "..."  # behind a text that is shown in part
_LEAST_CUT = 100  # tokens: with no more of them left, a second passage isn't begun
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s|$)|[。！？][」』”’）]*|(?<=\S)(?=\n\s*\n)")
_WORD_END = re.compile(r"(?<=\S)(?=\s)")
_DATES = ("uploaded_at", "created_at")
_DAY = 86_400  # seconds
_YEAR = 365  # days, after which a passage is as old as any


@dataclass(frozen=True, kw_only=True)
class Result:
    """
    One passage of an answer. `content` is what the budget allows, without context lines; it ends
    with "..." if it `is_cut`.

    `text` is the whole passage as it stands in the document. `other_sources` are documents with
    exactly the same text. `gaps` say what of its document can't be found. `ranks` are those of its
    best passage; a passage that `is_navigation` comes last.
    """

    content: str
    text: str
    source: Source
    other_sources: tuple[Source, ...]
    score: float
    attributes: Mapping[str, object]
    is_cut: bool
    gaps: tuple[str, ...] = ()
    ranks: Ranks | None = None
    is_navigation: bool = False


@dataclass(frozen=True, kw_only=True)
class WithinBudget:
    """The passages that fit, with `tokens` in all, and the count of `omitted` ones."""

    results: tuple[Result, ...]
    omitted: int
    tokens: int


def fit(found: Sequence[Excerpt], budget: Budget, place_maps: PlaceMapReader) -> WithinBudget:
    """
    Return the excerpts that the budget allows, in the order of its priority.

    Whole excerpts are kept as long as they fit. The first that doesn't fit is cut or dropped, with
    all after it: a shorter one would not be the next best. It is cut at the end of a sentence if
    that uses more than 80 % of the room, else between two words; it is dropped if neither is
    possible or at most 100 tokens are left. The very first is always shown: cut at a sentence that
    uses half of the room, between two words, or within a word.
    """
    results: list[Result] = []
    tokens = 0
    for excerpt in _in_order(found, budget):
        left = budget.max_tokens - tokens
        if excerpt.tokens > left:
            if beginning := _beginning(excerpt.text.lstrip(), left, is_first=not results):
                source = source_of_beginning(excerpt, beginning, place_maps)
                results.append(_result(excerpt, beginning + _CUT, source, is_cut=True))
                tokens += estimated_tokens(beginning + _CUT)
            break
        results.append(_result(excerpt, excerpt.text, excerpt.source))
        tokens += excerpt.tokens
    return WithinBudget(results=tuple(results), omitted=len(found) - len(results), tokens=tokens)


def _result(excerpt: Excerpt, content: str, source: Source, *, is_cut: bool = False) -> Result:
    return Result(
        content=content,
        text=excerpt.text,
        source=source,
        other_sources=excerpt.other_sources,
        score=excerpt.passage.score,
        attributes=owner_attributes(excerpt.passage),
        is_cut=is_cut,
        gaps=excerpt.passage.gaps,
        ranks=excerpt.passage.ranks,
        is_navigation=excerpt.cited.place.is_navigation,
    )


def _in_order(found: Sequence[Excerpt], budget: Budget) -> Sequence[Excerpt]:
    if budget.prioritize_by is Priority.SIMILARITY:
        return found
    now = budget.now()

    def rank(excerpt: Excerpt) -> tuple[bool, float]:
        age = _age(excerpt.passage.attributes, now)
        is_newest_first = budget.prioritize_by is Priority.RECENCY
        # A table of contents answers nothing, however new: it comes last as in every order.
        comes_last = excerpt.cited.place.is_navigation
        return comes_last, age if is_newest_first else -_weight(excerpt.passage.score, age)

    return sorted(found, key=rank)


def _weight(score: float, age: float) -> float:
    similarity = min(1.0, max(0.0, score))
    return 0.7 * similarity + 0.3 * max(0.0, 1 - age / _YEAR)


def _age(attributes: Mapping[str, object], now: datetime) -> float:
    """Return the age in days; 0 for a date in the future, infinite without a date."""
    dates = (_date(attributes.get(name)) for name in _DATES)
    date = next((each for each in dates if each is not None), None)
    return float("inf") if date is None else max(0.0, (now - date).total_seconds() / _DAY)


def _date(value: object) -> datetime | None:
    """Parse an ISO 8601 date, in UTC unless it names another zone; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        date = datetime.fromisoformat(value)
    except ValueError:
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


def _beginning(text: str, tokens: int, *, is_first: bool) -> str:
    """Return the beginning of a text that fits before the mark; empty if none does."""
    if tokens <= _LEAST_CUT and not is_first:
        return ""
    room = CHARACTERS_A_TOKEN * tokens - len(_CUT)
    sentence = _last(_SENTENCE_END.finditer(text), room)
    if sentence > (0.5 if is_first else 0.8) * room:
        return text[:sentence]
    words = text[: _last(_WORD_END.finditer(text), room)]
    return words or (text[:room] if is_first else "")


def _last(ends: Iterable[re.Match[str]], room: int) -> int:
    """Return the last end that is within the room; 0 if none is."""
    last = 0
    for end in ends:
        if end.end() > room:
            break
        last = end.end()
    return last


@dataclass(frozen=True, kw_only=True)
class SearchFigures:
    """
    The number of distinct passages that one knowledge base returned, and how long it took. Passages
    below the minimum score count.
    """

    knowledge_base_id: str
    passages: int
    milliseconds: float


@dataclass(frozen=True, kw_only=True)
class SearchAnswer:
    """
    The answer of a search.

    `omitted` passages were relevant and exceeded the budget; `withheld` ones had attributes that
    the caller may see but came from somebody else's documents. `failures` are reasons by knowledge
    base id.

    `relevance` is None if nothing was found. `searches` are the ways in which passages were found;
    `is_reranked` if a model ordered them. `notices` explain, by id, why a knowledge base was
    searched in another way than configured. `is_embedding_cached` is True if the question's vector
    was cached and this caller asked it before; None if nothing here embeds it. `filter_notice`
    explains why a filter matches nothing, or less than expected; `not_searched`, how many documents
    are not indexed yet. `ordered_by` says how passages of several knowledge bases were ordered: by
    rank if their scores don't compare.
    """

    results: tuple[Result, ...]
    omitted: int
    withheld: int
    tokens: int
    milliseconds: int
    knowledge_bases: tuple[str, ...]
    guardrail_action: str
    searches: tuple[Search, ...] = ()
    is_reranked: bool = False
    is_embedding_cached: bool | None = None
    relevance: Relevance | None = None
    ordered_by: OrderedBy | None = None
    filter_notice: str | None = None
    not_searched: str = ""
    failures: Mapping[str, str] = field(default_factory=dict)
    notices: Mapping[str, str] = field(default_factory=dict)
    figures: tuple[SearchFigures, ...] = ()


def answer_of(
    found: Sequence[Excerpt],
    ranking: Ranking,
    replies: Replies,
    scope: SearchScope,
    *,
    budget: Budget,
    place_maps: PlaceMapReader,
    started: float,
    conditions: Conditions = (),
) -> SearchAnswer:
    """
    Return the answer that shows the excerpts. `started` is a time of `time.perf_counter`;
    `conditions` are the caller's filter.
    """
    selection = fit(found, budget, place_maps)
    return SearchAnswer(
        results=selection.results,
        omitted=selection.omitted,
        withheld=_withheld(replies),
        tokens=selection.tokens,
        milliseconds=round((time.perf_counter() - started) * 1000),
        knowledge_bases=scope.targets,
        guardrail_action=replies.guardrail_action,
        searches=ranking.searches,
        is_reranked=replies.is_reranked,
        is_embedding_cached=replies.is_embedding_cached,
        relevance=ranking.relevance,
        ordered_by=ranking.ordered_by,
        filter_notice=_filter_notice(conditions, scope, replies),
        not_searched=not_searched(scope.catalogs),
        failures=replies.failures,
        notices=replies.notices,
        figures=_figures(replies),
    )


def _withheld(replies: Replies) -> int:
    return len({identity(passage) for reply in replies.given for passage in reply.withheld})


def _figures(replies: Replies) -> tuple[SearchFigures, ...]:
    """Return figures by knowledge base; of parallel queries to one, the slowest counts."""
    milliseconds: dict[str, float] = {}
    given: dict[str, set[object]] = {}
    for reply in replies.given:
        slowest = max(reply.milliseconds, milliseconds.get(reply.target, 0.0))
        milliseconds[reply.target] = slowest
        given.setdefault(reply.target, set()).update(map(identity, reply.passages))
    return tuple(
        SearchFigures(knowledge_base_id=key, passages=len(given[key]), milliseconds=slowest)
        for key, slowest in milliseconds.items()
    )


_MOST_NAMED = 20


def _filter_notice(conditions: Conditions, scope: SearchScope, replies: Replies) -> str | None:
    """
    Return a notice about the filter, or None. An attribute that is not on record is not refused:
    documents that others share may have it.
    """
    notes = []
    absent = [key_of(each) for each in conditions if key_of(each) not in scope.types]
    if absent:
        names = ", ".join(f"{each!r}" for each in absent)
        notes.append(f"no document of yours is recorded with the attribute {names}")
    notes += [
        f"{key_of(each)!r} is {_kinds(left)} in some documents, which the filter leaves out"
        for each in conditions
        if (left := unsupported_types(each, scope.types))
    ]
    if conditions and not notes and not any(each.passages for each in replies.given):
        notes.append("no passage that you may search matches the filter")
    if not notes:
        return None
    return f"{'; '.join(notes)}. Attributes: {_listed(scope.types)}."


def _kinds(kinds: Iterable[AttributeType]) -> str:
    return " or ".join(sorted(kinds))


def _listed(types: AttributeTypes) -> str:
    listed = [f"{name} ({_kinds(types[name])})" for name in sorted(types)]
    more = len(listed) - _MOST_NAMED
    return ", ".join([*listed[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


Response = dict[str, object]


class Searchable(Protocol):
    """A search: Retrieval over the pool, metered or not, or LinkedRetrieval."""

    def search(
        self, request: SearchArguments, caller: Caller | None, *, deadline: Deadline = NO_DEADLINE
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
    them.

    The caller comes from a verified token, never from the model. A knowledge base that doesn't
    reply by the deadline is reported as failed. Never raises for what a model can get wrong, but
    returns `{"success": False, "errorType": ...}`.
    """
    try:
        request = KNOWLEDGE_BASE_RETRIEVE.parse(arguments)
        return success(retrieval.search(request, caller, deadline=deadline))
    except StackroomError as error:
        return failure(error)


def retrieve_from_knowledge_base(
    arguments: object,
    *,
    caller: Caller | None,
    retrieval: Searchable,
    deadline: Deadline = NO_DEADLINE,
) -> Response:
    """
    Search as `knowledge_base_retrieve` does, with the arguments of any search, in an agent's
    process.
    """
    try:
        request = RETRIEVE_FROM_KNOWLEDGE_BASE.parse(arguments)
        return success(retrieval.search(request, caller, deadline=deadline))
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
        **({"not_searched": answer.not_searched} if answer.not_searched else {}),
        **({"search_notices": dict(answer.notices)} if answer.notices else {}),
    }
    return {
        "success": True,
        "results": [_response(result) for result in answer.results],
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


def _response(result: Result) -> dict[str, object]:
    return {
        "content": result.content,
        "source": _source(result.source),
        **_others(result),
        "score": result.score,
        "metadata": metadata_of(result),
    }


def metadata_of(result: Result) -> dict[str, object]:
    """
    Return a result's attributes with our own keys `truncated` and `gaps`, which override attributes
    of the same name.
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
    Return the source without the text id, which callers can't read, and with the version of the
    file if a newer one exists.
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
    is_weak = answer.results and answer.relevance is Relevance.WEAK
    notice = {"relevance_notice": WEAK_NOTICE} if is_weak else {}
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
