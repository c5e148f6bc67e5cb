"""What a search answers: passages within the caller's budget, and what became of the rest."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from stackroom.ports.retrieval import Passage, PlaceMaps, Search
from stackroom.retrieval.asking import Replies
from stackroom.retrieval.budget import Budget
from stackroom.retrieval.citations import Source, attributes_of, cited, sources_of
from stackroom.retrieval.excerpts import excerpts_of
from stackroom.retrieval.fitting import Fitted, fit
from stackroom.retrieval.passages import identity
from stackroom.retrieval.scope import Scope

OrderedBy = Literal["score", "rank"]


@dataclass(frozen=True, kw_only=True)
class Result:
    """
    `content` is what the context budget holds of it, without running headers and page numbers; it
    ends with "..." if it `is_cut`.

    `text` is all of it, as it stands in the document. `other_sources` are documents that say
    exactly the same.
    """

    content: str
    text: str
    source: Source
    other_sources: tuple[Source, ...]
    score: float
    attributes: Mapping[str, object]
    is_cut: bool


@dataclass(frozen=True, kw_only=True)
class Figures:
    """
    How many passages one knowledge base gave, each once, and how long it took. Those below the
    least score that is shown count: they were given.
    """

    knowledge_base_id: str
    passages: int
    milliseconds: float


@dataclass(frozen=True, kw_only=True)
class Answer:
    """
    `omitted` passages were relevant and didn't fit the budget, `withheld` ones bore attributes that
    the caller may see and came from somebody else's documents; `failures` say why, by id.

    There are no results, and `best_score_below` is the best score, if that was too low for any
    passage to answer the question; `nearest` is where the first of them stands, unless all are far.
    They were found in the ways `searches`, and put in order by a model if it `is_reranked`.
    `notices` say, by id, why a knowledge base was searched in another way than is configured.
    `is_embedding_cached` if the question's vector had been kept and this caller asked before; None
    where nothing here embeds it. `ordered_by` says how those of several knowledge bases were put in
    one order: by rank where their scores don't compare.
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
    best_score_below: float | None = None
    nearest: Source | None = None
    ordered_by: OrderedBy | None = None
    failures: Mapping[str, str] = field(default_factory=dict)
    notices: Mapping[str, str] = field(default_factory=dict)
    figures: tuple[Figures, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The passages to answer with, best first, and the ways in which they were found."""

    passages: Sequence[Passage]
    searches: tuple[Search, ...]
    best_score_below: float | None = None
    nearest: Passage | None = None
    ordered_by: OrderedBy | None = None


def answer_of(
    chosen: Chosen,
    replies: Replies,
    scope: Scope,
    *,
    place_maps: PlaceMaps,
    limit: int,
    budget: Budget,
    started: float,
) -> Answer:
    """
    At most the `limit` best, of which as many are results as the budget holds, in its order;
    `started` is of `time.perf_counter`.
    """
    nearest = () if chosen.nearest is None else (chosen.nearest,)
    selection = fit(excerpts_of(chosen.passages, place_maps, limit=limit), budget)
    return Answer(
        results=tuple(_result(each, _source(each, place_maps)) for each in selection.fitted),
        omitted=selection.omitted,
        withheld=_withheld(replies),
        tokens=selection.tokens,
        milliseconds=round((time.perf_counter() - started) * 1000),
        knowledge_bases=scope.targets,
        guardrail_action=replies.guardrail_action,
        searches=chosen.searches,
        is_reranked=replies.is_reranked,
        is_embedding_cached=replies.is_embedding_cached,
        best_score_below=chosen.best_score_below,
        nearest=next(iter(sources_of(nearest, place_maps)), None),
        ordered_by=chosen.ordered_by,
        failures=replies.failures,
        notices=replies.notices,
        figures=_figures(replies),
    )


def _source(fitted: Fitted, place_maps: PlaceMaps) -> Source:
    """
    Of a passage over three pages or more, as a document is that is one chunk, and that had to be
    cut: where the part stands that is shown, since the pages of the rest would mislead.
    """
    excerpt, place = fitted.excerpt, fitted.excerpt.cited.place
    if not fitted.is_cut or (place.page_last or 0) - (place.page_first or 0) < 2:
        return excerpt.source
    shown = cited([replace(excerpt.passage, text=fitted.beginning)], place_maps)[0].source
    return excerpt.source if shown.page is None and shown.section is None else shown


def _result(fitted: Fitted, source: Source) -> Result:
    excerpt = fitted.excerpt
    return Result(
        content=fitted.content,
        text=excerpt.text,
        source=source,
        other_sources=excerpt.other_sources,
        score=excerpt.passage.score,
        attributes=attributes_of(excerpt.passage),
        is_cut=fitted.is_cut,
    )


def _withheld(replies: Replies) -> int:
    return len({identity(passage) for reply in replies.given for passage in reply.withheld})


def _figures(replies: Replies) -> tuple[Figures, ...]:
    """Of several queries to one knowledge base, which ran side by side, the slowest counts."""
    milliseconds: dict[str, float] = {}
    given: dict[str, set[object]] = {}
    for reply in replies.given:
        slowest = max(reply.milliseconds, milliseconds.get(reply.target, 0.0))
        milliseconds[reply.target] = slowest
        given.setdefault(reply.target, set()).update(map(identity, reply.passages))
    return tuple(
        Figures(knowledge_base_id=key, passages=len(given[key]), milliseconds=slowest)
        for key, slowest in milliseconds.items()
    )
