"""
Searching a caller's documents: in which knowledge bases, in parallel, merged into one answer.

    Retrieval(pool={"KB1": BedrockKnowledgeBase(...)}, catalogs=..., page_maps=...)
        .search(KNOWLEDGE_BASE_RETRIEVE.parse({"query": "..."}), caller)
"""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from stackroom.errors import (
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
from stackroom.retrieval.scope import Scope, scope_of

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
        scope = scope_of(asked, caller, pool=self.pool, catalogs=self.catalogs)
        targets = scope.targets
        replies = self._ask_all(scope, asked)
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

    def _ask_all(self, scope: Scope, asked: RetrieveArguments) -> dict[str, _Reply | Unavailable]:
        targets = scope.targets
        if len(targets) <= 1:
            return {target: self._ask(target, asked, scope) for target in targets}
        with ThreadPoolExecutor(min(len(targets), _MAX_PARALLEL)) as threads:
            replies = threads.map(lambda target: self._ask(target, asked, scope), targets)
            return dict(zip(targets, replies, strict=True))

    def _ask(self, target: str, asked: RetrieveArguments, scope: Scope) -> _Reply | Unavailable:
        knowledge_base = self.pool.get(target)
        if knowledge_base is None:  # the pool was shrunk under a catalog
            return KnowledgeBaseUnavailable("Retrieve", "not in the pool")
        tenant = scope.tenant
        try:
            found = knowledge_base.retrieve(asked.query, tenant.filter(asked.filter), asked.top_k)
            own = tenant.own(found.passages, owner_of=scope.owner_of)
        except Unavailable as error:
            return error
        return _Reply(
            passages=own,
            withheld=len(found.passages) - len(own),
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
