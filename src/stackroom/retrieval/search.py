"""
Searching a caller's documents: in which knowledge bases, in parallel, merged into one answer.

    Retrieval(pool={"KB1": BedrockKnowledgeBase(...)}, catalogs=..., page_maps=...)
        .search(KNOWLEDGE_BASE_RETRIEVE.parse({"query": "..."}), caller)
"""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache

from stackroom.errors import (
    KnowledgeBaseNotFound,
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    RetrievalFailed,
    Throttled,
    Unavailable,
)
from stackroom.identity import Caller
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.retrieval import KnowledgeBase, PageMaps, Passage
from stackroom.retrieval.arguments import RetrieveArguments
from stackroom.retrieval.citations import Source, attributes_of, sources_of
from stackroom.retrieval.passages import ranked, within_budget
from stackroom.tenancy import Tenant

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
    `omitted` passages were relevant and didn't fit the budget, `withheld` ones bore the caller's
    attributes and came from somebody else's documents; `failures` say why, by id.
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
    """Of one knowledge base, what the caller may see; `withheld` counts what else it answered."""

    passages: tuple[Passage, ...]
    withheld: int
    guardrail_action: str


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """`min_score` and `max_tokens` apply where the caller asks for nothing else."""

    pool: Mapping[str, KnowledgeBase]
    catalogs: Catalogs
    page_maps: PageMaps
    min_score: float = 0.0
    max_tokens: int = 4000

    def search(self, asked: RetrieveArguments, caller: Caller) -> Answer:
        """
        The best passages that the caller may see and the context budget holds.

        Some knowledge bases failing makes a partial answer that says so. Raises Throttled or
        RetrievalFailed if all do, KnowledgeBaseNotFound for what isn't the caller's.
        """
        started = time.perf_counter()
        targets, tenant = self._targets(asked, caller)
        replies = self._ask_all(targets, asked, tenant)
        failures = {key: reply for key, reply in replies.items() if isinstance(reply, Unavailable)}
        if failures and len(failures) == len(targets):
            raise _search_error(failures)

        found = [reply for reply in replies.values() if isinstance(reply, _Reply)]
        results, omitted, tokens = self._results(found, asked)
        return Answer(
            results=results,
            omitted=omitted,
            withheld=sum(reply.withheld for reply in found),
            tokens=tokens,
            milliseconds=round((time.perf_counter() - started) * 1000),
            knowledge_bases=targets,
            guardrail_action=_strictest(found),
            failures={key: str(failure) for key, failure in failures.items()},
        )

    def _targets(self, asked: RetrieveArguments, caller: Caller) -> tuple[tuple[str, ...], Tenant]:
        """The ids of the knowledge bases that may hold what the caller looks for, and may see."""
        try:
            homes, tenant = self._homes(asked.catalog_id, caller)
        except Unavailable as error:
            raise RetrievalFailed("your catalogs could not be read; try again") from error
        if asked.knowledge_base_id is None:
            return homes, tenant
        if asked.knowledge_base_id not in self.pool:
            raise KnowledgeBaseNotFound(f"Knowledge base '{asked.knowledge_base_id}'")
        return tuple(home for home in homes if home == asked.knowledge_base_id), tenant

    def _homes(self, catalog_id: str | None, caller: Caller) -> tuple[tuple[str, ...], Tenant]:
        tenant = Tenant(caller.user_id)
        if catalog_id is not None:
            catalog = self.catalogs.get(catalog_id)
            # Someone else's is as unknown as none: who asks must not learn that it exists.
            if catalog is None or catalog.user_id != caller.user_id:
                raise KnowledgeBaseNotFound(f"Catalog '{catalog_id}'")
            catalogs, tenant = [catalog], Tenant.of(catalog)
        elif len(self.pool) == 1:
            return tuple(self.pool), tenant  # no table to read: it is there or nowhere
        else:
            catalogs = list(self.catalogs.of_user(caller.user_id))
        homes = (catalog.knowledge_base_id for catalog in catalogs)
        return tuple(dict.fromkeys(home for home in homes if home is not None)), tenant

    def _ask_all(
        self, targets: tuple[str, ...], asked: RetrieveArguments, tenant: Tenant
    ) -> dict[str, _Reply | Unavailable]:
        if len(targets) <= 1:
            return {target: self._ask(target, asked, tenant) for target in targets}
        with ThreadPoolExecutor(min(len(targets), _MAX_PARALLEL)) as threads:
            replies = threads.map(lambda target: self._ask(target, asked, tenant), targets)
            return dict(zip(targets, replies, strict=True))

    def _ask(self, target: str, asked: RetrieveArguments, tenant: Tenant) -> _Reply | Unavailable:
        knowledge_base = self.pool.get(target)
        if knowledge_base is None:  # the pool was shrunk under a catalog
            return KnowledgeBaseUnavailable("Retrieve", "not in the pool")
        try:
            found = knowledge_base.retrieve(asked.query, tenant.filter(asked.filter), asked.top_k)
            own = tenant.own(found.passages, owner_of=cache(self._owner_of))
        except Unavailable as error:
            return error
        return _Reply(
            passages=own,
            withheld=len(found.passages) - len(own),
            guardrail_action=found.guardrail_action,
        )

    def _owner_of(self, catalog_id: str) -> str | None:
        catalog = self.catalogs.get(catalog_id)
        return catalog.user_id if catalog is not None else None

    def _results(
        self, found: list[_Reply], asked: RetrieveArguments
    ) -> tuple[tuple[Result, ...], int, int]:
        passages = ranked(
            (passage for reply in found for passage in reply.passages if passage.text),
            min_score=self.min_score if asked.min_score is None else asked.min_score,
            limit=asked.top_k,
        )
        selection = within_budget(passages, max_tokens=asked.max_tokens or self.max_tokens)
        sources = sources_of(selection.passages, self.page_maps)
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


def _search_error(failures: Mapping[str, Unavailable]) -> RetrievalFailed | Throttled:
    reasons = {key: str(failure) for key, failure in failures.items()}
    if all(isinstance(failure, KnowledgeBaseThrottled) for failure in failures.values()):
        return Throttled("every knowledge base is busy; try again in a few seconds", reasons)
    return RetrievalFailed("no knowledge base answered; try again, or tell the operator", reasons)


def _strictest(found: list[_Reply]) -> str:
    """INTERVENED if a guardrail stepped in anywhere."""
    actions = {reply.guardrail_action for reply in found} - {"NONE"}
    return min(actions, default="NONE")
