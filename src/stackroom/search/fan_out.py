"""
Where a caller's search goes; every query of it, asked in parallel; and what of the replies the
caller may see.
"""

import logging
import math
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cache

from stackroom.access.identity import Caller
from stackroom.access.tenancy import (
    CATALOG,
    DOCUMENT,
    CatalogOf,
    Member,
    Tenant,
    View,
    document_id_in,
)
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.documents.attributes import MOST_RECORDED, AttributeTypes, known_types
from stackroom.documents.filters import Conditions
from stackroom.documents.model import Catalog
from stackroom.documents.passages import KnowledgeBase, Passage, Search
from stackroom.documents.repositories import (
    Catalogs,
    DocumentKey,
    DocumentNotes,
    StayingDocuments,
)
from stackroom.errors import (
    KnowledgeBaseNotFound,
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    RetrievalFailed,
    SearchRefused,
    Throttled,
    Unavailable,
)
from stackroom.search.cached_embeddings import asked_by
from stackroom.search.circuit_breaker import LateQueries
from stackroom.search.citations import shown_text
from stackroom.search.search_arguments import RetrieveArguments

logger = logging.getLogger(__name__)

# Retrieve is allowed 20 times a second and account, so more at once would only be throttled.
# https://docs.aws.amazon.com/general/latest/gr/bedrock.html
_MAX_PARALLEL = 20
_LATE = LateQueries()


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question to one knowledge base, `target` is its id: what there is of `view` in it."""

    target: str
    view: View


@dataclass(frozen=True, kw_only=True)
class SearchScope:
    """
    What to ask, the caller's own documents first, and what is known of catalogs.

    `asker` is the user id of whoever asks; None where nobody says so. `types` are those of the
    attributes in the asker's catalogs, if these were read for a filter; what is searched may have
    others unless it `knows_all_types`.
    """

    queries: tuple[Query, ...]
    catalog_of: CatalogOf
    asker: str | None = None
    types: AttributeTypes = field(default_factory=dict)
    knows_all_types: bool = True

    @property
    def targets(self) -> tuple[str, ...]:
        """The ids of the knowledge bases that are asked."""
        return tuple(dict.fromkeys(query.target for query in self.queries))


def scope_of(
    asked: RetrieveArguments,
    caller: Caller,
    *,
    pool: Collection[str],
    catalogs: Catalogs,
    sharing: bool,
) -> SearchScope:
    """
    Wherever what the caller looks for, and may see, can be; `pool` are ids of knowledge bases.

    With `sharing`, what others share with the caller's groups counts too, unless one of the
    caller's own catalogs is named. Raises KnowledgeBaseNotFound for what isn't the caller's,
    RetrievalFailed if nobody can tell.
    """
    tenant, read = Tenant(caller.user_id), list[Catalog]()
    try:
        if asked.catalog_id is not None:
            read = [_own(asked.catalog_id, caller, catalogs)]
            tenant = Tenant.of(read[0])
        elif len(pool) > 1 or asked.filter:
            read = list(catalogs.of_user(caller.user_id))
    except Unavailable as error:
        raise RetrievalFailed("your catalogs could not be read; try again") from error
    homes = [catalog.knowledge_base_id for catalog in read]
    if len(pool) == 1 and asked.catalog_id is None:
        homes = list(pool)  # it is there or nowhere
    queries = [Query(target=home, view=tenant) for home in dict.fromkeys(homes) if home is not None]
    shares = sharing and asked.catalog_id is None
    if shares:
        # Anybody may share, so it can be anywhere.
        views = Member.of(caller)
        queries += [Query(target=each, view=view) for each in pool for view in views]
    records = [each.attribute_types for each in read]
    return SearchScope(
        queries=tuple(_within(asked.knowledge_base_id, queries, pool)),
        catalog_of=_reading(read, catalogs),
        asker=caller.user_id,
        types=known_types(records),
        knows_all_types=not shares and all(len(each) < MOST_RECORDED for each in records),
    )


def scope_of_catalog(catalog: Catalog) -> SearchScope:
    """Where one catalog is, for its owner; nowhere if nothing of it was ever ingested."""
    home = catalog.knowledge_base_id
    queries = (Query(target=home, view=Tenant.of(catalog)),) if home is not None else ()
    known = {catalog.catalog_id: catalog}
    return SearchScope(queries=queries, catalog_of=known.get, asker=catalog.user_id)


def _own(catalog_id: str, caller: Caller, catalogs: Catalogs) -> Catalog:
    catalog = catalogs.get(catalog_id)
    # Someone else's is as unknown as none: who asks must not learn that it exists.
    if catalog is None or catalog.user_id != caller.user_id:
        raise KnowledgeBaseNotFound(f"Catalog '{catalog_id}'")
    return catalog


def _within(named: str | None, queries: Iterable[Query], pool: Collection[str]) -> Iterable[Query]:
    if named is None:
        return queries
    if named not in pool:
        raise KnowledgeBaseNotFound(f"Knowledge base '{named}'")
    return (query for query in queries if query.target == named)


def _reading(read: Iterable[Catalog], catalogs: Catalogs) -> CatalogOf:
    """The catalogs that have been read already, and others by reading them, each once."""
    known = {catalog.catalog_id: catalog for catalog in read}

    @cache
    def catalog_of(catalog_id: str) -> Catalog | None:
        return known.get(catalog_id) or catalogs.get(catalog_id)

    return catalog_of


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
    scope: SearchScope,
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
    if all(isinstance(reply, SearchRefused) for reply in replies):
        return RetrievalFailed(f"no knowledge base can be asked this: {replies[0]}", reasons)
    return RetrievalFailed("no knowledge base answered; try again, or tell the operator", reasons)


def only_staying(replies: Replies, documents: StayingDocuments) -> Replies:
    """
    What is to go is found by nobody any more, though the index still has it: a deletion is asked
    for at once and takes effect in the index when a round has come to it. So each passage's
    document is looked up; one that has no record is not shown either, for it may have gone.

    Nor is a passage shown that is of another text than the record's: a late call can bring back
    that of an earlier version. While a version replaces another, the texts of both are.

    Raises RetrievalFailed if nobody can tell what stays.
    """
    keys = {_key(passage) for reply in replies.given for passage in reply.passages}
    if not keys:
        return replies
    try:
        kept = documents.staying(keys)
    except Unavailable as error:
        problem = "which documents are being deleted could not be read; try again"
        raise RetrievalFailed(problem) from error
    given = (
        replace(
            reply,
            passages=tuple(
                of_version(replace(each, text=shown_text(each), raw_text=each.text), notes)
                for each in reply.passages
                if (notes := kept.get(_key(each))) is not None and is_current(each, notes)
            ),
        )
        for reply in replies.given
    )
    return replace(replies, given=tuple(given))


def of_version(passage: Passage, notes: DocumentNotes) -> Passage:
    """
    Return it with what its document's record tells of the version that it is of. What was sent as a
    file, or crawled, doesn't say of which it is: of what is indexed.
    """
    sent = passage.sent_text_id
    is_earlier = notes.is_left if sent is None else sent != notes.text_id
    indexed = notes.indexed_version_id or notes.version_id
    return replace(
        passage,
        title_words=notes.title_words,
        gaps=(*notes.gaps, notes.earlier) if is_earlier else notes.gaps,
        text_id=sent or notes.indexed_text_id or notes.text_id,
        version_id=indexed if sent is None or is_earlier else notes.version_id,
        is_earlier=is_earlier,
    )


def is_current(passage: Passage, notes: DocumentNotes) -> bool:
    """Whether a passage is of a text that its document's record names."""
    sent = passage.sent_text_id
    if sent is not None:
        return sent in (notes.text_id, notes.indexed_text_id)
    # What a job has crawled has a URI and is of no text; a direct call sends what is indexed now
    # with the id of its text, unless the file could not be read.
    return passage.uri is not None or notes.indexed_text_id is None


def _key(passage: Passage) -> DocumentKey:
    """As whoever wrote the sidecar says, and that is us."""
    document_id = document_id_in(passage) or passage.attributes.get(DOCUMENT)
    return str(passage.attributes.get(CATALOG)), str(document_id)
