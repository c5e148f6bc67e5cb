"""Every query of a scope, asked in parallel; and what of the replies the caller may see."""

import logging
import math
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    RetrievalFailed,
    SearchRefused,
    Throttled,
    Unavailable,
)
from stackroom.filters import Conditions
from stackroom.ports.retrieval import KnowledgeBase, Passage, Search
from stackroom.retrieval.circuit_breaker import LateQueries
from stackroom.retrieval.embeddings import asked_by
from stackroom.retrieval.scope import Query, Scope
from stackroom.tenancy import Member

logger = logging.getLogger(__name__)

# Retrieve is allowed 20 times a second and account, so more at once would only be throttled.
# https://docs.aws.amazon.com/general/latest/gr/bedrock.html
_MAX_PARALLEL = 20
_LATE = LateQueries()


@dataclass(frozen=True, kw_only=True)
class Reply:
    """
    To one query: what of it the caller may see, best first, and what not.

    `is_embedding_cached` if the question's vector was there, and the same caller's before; None
    where the store embeds it itself, or nobody asks.
    """

    target: str
    passages: tuple[Passage, ...]
    withheld: tuple[Passage, ...]
    guardrail_action: str
    search: Search
    is_reranked: bool
    notice: str | None
    milliseconds: float = 0.0
    is_embedding_cached: bool | None = None


# A store that can't be asked, and one that can't be asked this.
_Failure = Unavailable | SearchRefused


@dataclass(frozen=True, kw_only=True)
class Replies:
    """`failures` say why, by the id of the knowledge base; there is at least one reply, or none."""

    given: tuple[Reply, ...]
    failures: Mapping[str, str]

    @property
    def guardrail_action(self) -> str:
        """INTERVENED if a guardrail stepped in anywhere."""
        return min({reply.guardrail_action for reply in self.given} - {"NONE"}, default="NONE")

    @property
    def is_reranked(self) -> bool:
        """Whether a model put in order all that was found."""
        return bool(self.given) and all(reply.is_reranked for reply in self.given)

    @property
    def is_embedding_cached(self) -> bool | None:
        """Of all those for which the question was embedded."""
        told = [each for reply in self.given if (each := reply.is_embedding_cached) is not None]
        return all(told) if told else None

    @property
    def notices(self) -> dict[str, str]:
        """By the id of the knowledge base."""
        return {reply.target: reply.notice for reply in self.given if reply.notice is not None}


def ask_all(
    scope: Scope,
    question: str,
    *,
    pool: Mapping[str, KnowledgeBase],
    conditions: Conditions,
    limits: Mapping[str, int],
    deadline: Deadline = NO_DEADLINE,
) -> Replies:
    """
    At most as many passages of each as `limits` say, by the id of the knowledge base.

    A knowledge base that hasn't answered by the deadline has failed. Its query goes on behind it
    until the store's own timeout, and nobody reads what it finds; with too many of these it is
    asked no more for a while.

    Raises Throttled or RetrievalFailed if all queries fail.
    """

    def ask(query: Query) -> Reply | _Failure:
        knowledge_base = pool.get(query.target)
        if knowledge_base is None:  # the pool was shrunk under a catalog
            return KnowledgeBaseUnavailable("Retrieve", "not in the pool")
        if not _LATE.may_ask(knowledge_base):
            return KnowledgeBaseUnavailable("Retrieve", "nothing to the questions before this one")
        started = time.perf_counter()
        try:
            with asked_by(scope.asker) as embedded:
                found = knowledge_base.retrieve(
                    question, query.view.filter(conditions), limits[query.target], deadline=deadline
                )
            passages = [replace(each, knowledge_base_id=query.target) for each in found.passages]
            proven = query.view.proven(passages, catalog_of=scope.catalog_of)
        except (SearchRefused, Unavailable) as error:
            return error
        except Exception as error:
            # Whatever ails one adapter, the others' answers are not to be lost for it.
            # What it says may repeat the question, so its kind and place are told alone.
            [*_, at] = traceback.extract_tb(error.__traceback__)
            told = {"knowledge_base": query.target, "error_type": type(error).__name__}
            raised_at = f"{at.filename}:{at.lineno} in {at.name}"
            logger.error("a knowledge base broke", extra={**told, "raised_at": raised_at})
            return KnowledgeBaseUnavailable("Retrieve", type(error).__name__)
        if not deadline.has_passed:
            _LATE.answered(knowledge_base)
        return Reply(
            target=query.target,
            passages=proven,
            withheld=tuple(passage for passage in passages if passage not in proven),
            guardrail_action=found.guardrail_action,
            search=found.search,
            is_reranked=found.is_reranked,
            notice=found.notice,
            milliseconds=(time.perf_counter() - started) * 1000,
            is_embedding_cached=embedded.is_cached,
        )

    def give_up(query: Query, asked: Future[Reply | _Failure]) -> KnowledgeBaseUnavailable:
        if not asked.cancel() and (knowledge_base := pool.get(query.target)) is not None:
            _LATE.add(knowledge_base, asked)
        return KnowledgeBaseUnavailable("Retrieve", "nothing in the time that there was")

    replies = _in_parallel(ask, give_up, scope.queries, deadline)
    given = tuple(reply for reply in replies if isinstance(reply, Reply))
    failures = _failures(scope.queries, replies)
    if failures and not given:
        raise _search_error(replies, failures)
    return Replies(given=given, failures=failures)


def _in_parallel(
    ask: Callable[[Query], Reply | _Failure],
    give_up: Callable[[Query, Future[Reply | _Failure]], _Failure],
    queries: Sequence[Query],
    deadline: Deadline,
) -> list[Reply | _Failure]:
    """Those that have not begun when the deadline passes never do."""
    is_endless = math.isinf(deadline.at)
    if not queries or (len(queries) == 1 and is_endless):
        return [ask(query) for query in queries]
    threads = ThreadPoolExecutor(min(len(queries), _MAX_PARALLEL))
    try:
        asked = [threads.submit(ask, query) for query in queries]
        wait(asked, timeout=None if is_endless else deadline.left())
        return [
            each.result() if each.done() else give_up(query, each)
            for query, each in zip(queries, asked, strict=True)
        ]
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _failures(queries: Iterable[Query], replies: Iterable[Reply | _Failure]) -> dict[str, str]:
    """Of each knowledge base that a query failed at, why the first of them did."""
    reasons: dict[str, str] = {}
    for query, reply in zip(queries, replies, strict=True):
        if not isinstance(reply, Reply):
            of_others = " for what others share with you" if isinstance(query.view, Member) else ""
            reasons.setdefault(query.target, f"{reply}{of_others}")
    return reasons


def _search_error(
    replies: Sequence[Reply | _Failure], reasons: Mapping[str, str]
) -> RetrievalFailed | Throttled:
    throttles = [reply for reply in replies if isinstance(reply, KnowledgeBaseThrottled)]
    if len(throttles) == len(replies):
        known = [each.retry_after for each in throttles if each.retry_after is not None]
        retry_after = max(known, default=None)  # when all of them can be asked
        return Throttled("every knowledge base", reasons, retry_after=retry_after)
    return RetrievalFailed("no knowledge base answered; try again, or tell the operator", reasons)
