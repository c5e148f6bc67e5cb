"""
Searching a caller's documents: in which knowledge bases, in parallel, merged into one answer.

    Retrieval(pool={"KB1": BedrockKnowledgeBase(...)}, catalogs=..., place_maps=...)
        .search(KNOWLEDGE_BASE_RETRIEVE.parse({"query": "..."}), caller)
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    MissingIdentity,
    RetrievalFailed,
    Throttled,
    Unavailable,
)
from stackroom.identity import Caller, is_user_id
from stackroom.model import Catalog
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.retrieval import KnowledgeBase, Passage, PlaceMaps
from stackroom.retrieval.arguments import RetrieveArguments
from stackroom.retrieval.citations import Source, attributes_of, sources_of
from stackroom.retrieval.passages import identity, ranked, within_budget
from stackroom.retrieval.scope import Query, Scope, scope_of, scope_of_catalog
from stackroom.tenancy import Member

# Retrieve is allowed 20 times a second and account, so more at once would only be throttled.
# https://docs.aws.amazon.com/general/latest/gr/bedrock.html
_MAX_PARALLEL = 20


@dataclass(frozen=True, kw_only=True)
class Result:
    content: str
    source: Source
    score: float
    attributes: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """
    `omitted` passages were relevant and didn't fit the budget, `withheld` ones bore attributes that
    the caller may see and came from somebody else's documents; `failures` say why, by id.
    """

    results: tuple[Result, ...]
    omitted: int
    withheld: int
    tokens: int
    milliseconds: int
    knowledge_bases: tuple[str, ...]
    guardrail_action: str
    failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Reply:
    """To one query: what of it the caller may see, and what not."""

    passages: tuple[Passage, ...]
    withheld: tuple[Passage, ...]
    guardrail_action: str


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """
    `min_score` and `max_tokens` apply where the caller asks for nothing else.

    With `sharing`, a caller finds what others share with one of their groups, too; without it,
    their own documents alone.
    """

    pool: Mapping[str, KnowledgeBase]
    catalogs: Catalogs
    place_maps: PlaceMaps
    sharing: bool = False
    min_score: float = 0.0
    max_tokens: int = 4000

    def search(self, asked: RetrieveArguments, caller: Caller) -> Answer:
        """
        The best passages that the caller may see and the context budget holds.

        Some queries failing makes a partial answer that says so. Raises Throttled or
        RetrievalFailed if all do, KnowledgeBaseNotFound for what isn't the caller's, and
        MissingIdentity if the caller is nobody.
        """
        if not is_user_id(caller.user_id):
            raise MissingIdentity
        started = time.perf_counter()
        scope = scope_of(
            asked, caller, pool=self.pool, catalogs=self.catalogs, sharing=self.sharing
        )
        return self._answer(scope, asked, started)

    def in_catalog(self, query: str, catalog: Catalog, limit: int) -> Answer:
        """
        The best passages of one catalog for its owner, as `search` would find them.

        The catalog has been read, and its owner checked. Raises Throttled or RetrievalFailed.
        """
        started = time.perf_counter()
        asked = RetrieveArguments(query=query, top_k=limit, catalog_id=catalog.catalog_id)
        return self._answer(scope_of_catalog(catalog), asked, started)

    def _answer(self, scope: Scope, asked: RetrieveArguments, started: float) -> Answer:
        replies = self._ask_all(scope, asked)
        found = [reply for reply in replies if isinstance(reply, _Reply)]
        failures = _failures(scope, replies)
        if failures and not found:
            raise _search_error(replies, failures)

        withheld = {identity(passage) for reply in found for passage in reply.withheld}
        results, omitted, tokens = self._results(found, asked)
        return Answer(
            results=results,
            omitted=omitted,
            withheld=len(withheld),
            tokens=tokens,
            milliseconds=round((time.perf_counter() - started) * 1000),
            knowledge_bases=scope.targets,
            guardrail_action=_strictest(found),
            failures=failures,
        )

    def _ask_all(self, scope: Scope, asked: RetrieveArguments) -> list[_Reply | Unavailable]:
        queries = scope.queries
        if len(queries) <= 1:
            return [self._ask(query, asked, scope) for query in queries]
        with ThreadPoolExecutor(min(len(queries), _MAX_PARALLEL)) as threads:
            return list(threads.map(lambda query: self._ask(query, asked, scope), queries))

    def _ask(self, query: Query, asked: RetrieveArguments, scope: Scope) -> _Reply | Unavailable:
        knowledge_base = self.pool.get(query.target)
        if knowledge_base is None:  # the pool was shrunk under a catalog
            return KnowledgeBaseUnavailable("Retrieve", "not in the pool")
        narrowed = query.view.filter(asked.filter)
        try:
            found = knowledge_base.retrieve(asked.query, narrowed, asked.top_k)
            proven = query.view.proven(found.passages, owner_of=scope.owner_of)
        except Unavailable as error:
            return error
        return _Reply(
            passages=proven,
            withheld=tuple(passage for passage in found.passages if passage not in proven),
            guardrail_action=found.guardrail_action,
        )

    def _results(
        self, found: list[_Reply], asked: RetrieveArguments
    ) -> tuple[tuple[Result, ...], int, int]:
        passages = ranked(
            (passage for reply in found for passage in reply.passages if passage.text),
            min_score=self.min_score if asked.min_score is None else asked.min_score,
            limit=asked.top_k,
        )
        selection = within_budget(passages, max_tokens=asked.max_tokens or self.max_tokens)
        sources = sources_of(selection.passages, self.place_maps)
        results = tuple(
            Result(
                content=text,
                source=source,
                score=passage.score,
                attributes=attributes_of(passage),
            )
            for passage, text, source in zip(
                selection.passages, selection.texts, sources, strict=True
            )
        )
        return results, selection.omitted, selection.tokens


def _failures(scope: Scope, replies: Sequence[_Reply | Unavailable]) -> dict[str, str]:
    """Of each knowledge base that a query failed at, why the first of them did."""
    reasons: dict[str, str] = {}
    for query, reply in zip(scope.queries, replies, strict=True):
        if isinstance(reply, Unavailable):
            of_others = " for what others share with you" if isinstance(query.view, Member) else ""
            reasons.setdefault(query.target, f"{reply}{of_others}")
    return reasons


def _search_error(
    replies: Sequence[_Reply | Unavailable], reasons: Mapping[str, str]
) -> RetrievalFailed | Throttled:
    if all(isinstance(reply, KnowledgeBaseThrottled) for reply in replies):
        return Throttled("every knowledge base is busy; try again in a few seconds", reasons)
    return RetrievalFailed("no knowledge base answered; try again, or tell the operator", reasons)


def _strictest(found: list[_Reply]) -> str:
    """INTERVENED if a guardrail stepped in anywhere."""
    actions = {reply.guardrail_action for reply in found} - {"NONE"}
    return min(actions, default="NONE")
