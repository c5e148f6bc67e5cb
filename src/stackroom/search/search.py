"""
Search a caller's documents in all knowledge bases that may have them, in parallel.

    Retrieval(pool={"KB1": BedrockKnowledgeBase(...)}, catalogs=..., documents=..., place_maps=...)
        .search(KNOWLEDGE_BASE_RETRIEVE.parse({"query": "..."}), caller)
"""

import logging
import math
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial

from stackroom.access import tenancy
from stackroom.access.identity import Caller
from stackroom.access.search_filter_argument import resolve_types
from stackroom.access.tenancy import CATALOG, DOCUMENT, CatalogOf, Member, Tenant, document_id_in
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import (
    KnowledgeBaseNotFound,
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    MissingIdentity,
    RetrievalError,
    RetrievalFailed,
    SearchRefused,
    Throttled,
    Unavailable,
)
from stackroom.model.attributes import MOST_RECORDED, known_types
from stackroom.model.filters import Conditions, Has, any_of
from stackroom.model.keys import is_user_id
from stackroom.model.passages import KnowledgeBase, Passage, PlaceMapReader
from stackroom.model.records import Catalog
from stackroom.model.repositories import (
    Catalogs,
    DocumentKey,
    DocumentNotes,
    StayingDocuments,
)
from stackroom.search.budget import DEFAULT_BUDGET, Budget
from stackroom.search.cached_embeddings import asked_by
from stackroom.search.excerpts import excerpts_of
from stackroom.search.names import NamedDocuments
from stackroom.search.ranking import ranked
from stackroom.search.replies import Query, Replies, Reply, SearchScope
from stackroom.search.results import SearchAnswer, answer_of
from stackroom.search.search_arguments import RetrieveArguments, SearchArguments
from stackroom.text.context_lines import without_context

logger = logging.getLogger(__name__)

# Retrieve is allowed 20 times a second and account, so more at once would only be throttled.
# https://docs.aws.amazon.com/general/latest/gr/bedrock.html
_MAX_PARALLEL = 20
# The number of passages to ask for: enough to choose from by words, and to see which words stand
# nowhere. Bedrock and S3 Vectors answer a hundred in one page. They are divided among the knowledge
# bases.
_CANDIDATES = 100
_FEWEST = 25


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """
    The search over the pool. `min_score` and `budget` apply unless the caller sets others.

    With `sharing`, a caller also finds what others share with one of their groups; without it, only
    their own documents. `uri_of` returns the URI of an object's key; without it, directly ingested
    documents have no URI. `named` finds the documents that a question names; without it, none is
    asked for by id.
    """

    pool: Mapping[str, KnowledgeBase]
    catalogs: Catalogs
    documents: StayingDocuments
    place_maps: PlaceMapReader
    sharing: bool = False
    min_score: float = 0.0
    budget: Budget = DEFAULT_BUDGET
    uri_of: Callable[[str], str] | None = None
    named: NamedDocuments | None = None

    def search(
        self,
        request: SearchArguments,
        caller: Caller | None,
        *,
        within: Collection[str] = (),
        deadline: Deadline = NO_DEADLINE,
    ) -> SearchAnswer:
        """
        Return the best passages that the caller may see, within the token budget and the deadline.
        If `within` names catalogs by id, only those of the caller's own are searched.

        Documents whose deletion was requested are not shown. The nearest passages are shown however
        far they are; `relevance` says how near. If some queries fail, the answer is partial and
        says so. Raises Throttled or RetrievalFailed if all fail, ValidationError for a filter that
        can't match, KnowledgeBaseNotFound for what isn't the caller's, and MissingIdentity without
        a caller.
        """
        if caller is None or not is_user_id(caller.user_id):
            raise MissingIdentity
        started = time.perf_counter()
        if not isinstance(request, RetrieveArguments):
            request = RetrieveArguments(**request.model_dump())
        scope = scope_of(
            request,
            caller,
            pool=self.pool,
            catalogs=self.catalogs,
            sharing=self.sharing,
            within=within,
        )
        return self._answer(scope, request, started, deadline)

    def in_catalog(self, query: str, catalog: Catalog, limit: int) -> SearchAnswer:
        """
        Return the best passages of one catalog for its owner, as `search` would.

        The catalog has been read and its owner checked. Raises Throttled or RetrievalFailed.
        """
        started = time.perf_counter()
        request = RetrieveArguments(query=query, top_k=limit, catalog_id=catalog.catalog_id)
        return self._answer(scope_of_catalog(catalog), request, started)

    def _answer(
        self,
        scope: SearchScope,
        request: RetrieveArguments,
        started: float,
        deadline: Deadline = NO_DEADLINE,
    ) -> SearchAnswer:
        known = scope.types if scope.knows_all_types else known_types(())
        conditions = resolve_types(request.filter, known)
        limit = max(_FEWEST, _CANDIDATES // max(1, len(scope.queries)), request.top_k)
        ask = partial(ask_all, scope, request.query, pool=self.pool, deadline=deadline)
        replies = ask(conditions=conditions, limits=dict.fromkeys(scope.targets, limit))
        if missing := self._named_and_not_found(scope, request, replies):
            within = (*conditions, any_of(Has(DOCUMENT, each) for each in missing))
            limits = dict.fromkeys(scope.targets, _FEWEST)
            with suppress(RetrievalError):  # the search of all stands
                theirs = ask(conditions=within, limits=limits)
                replies = replace(replies, given=(*replies.given, *theirs.given))
        replies = only_staying(replies, self.documents)
        min_score = self.min_score if request.min_score is None else request.min_score
        ranking = ranked(request.query, replies.given, min_score=min_score)
        passages = ranking.passages
        if self.uri_of is not None:
            passages = located(passages, catalog_of=scope.catalog_of, uri_of=self.uri_of)
        return answer_of(
            excerpts_of(passages, self.place_maps, limit=request.top_k),
            ranking,
            replies,
            scope,
            budget=request.budget(self.budget),
            place_maps=self.place_maps,
            started=started,
            conditions=request.filter,
        )

    def _named_and_not_found(
        self, scope: SearchScope, request: RetrieveArguments, replies: Replies
    ) -> list[str]:
        """Return the ids of documents that the question names and the search did not find."""
        if self.named is None:
            return []
        assert scope.asker is not None, "a catalog has an owner, and other searches have a caller"
        within = scope.within or (None,)
        named = [
            each for one in within for each in self.named.named_in(request.query, scope.asker, one)
        ]
        found = {
            each.attributes.get(DOCUMENT) for reply in replies.given for each in reply.passages
        }
        return [each for each in named if each not in found]


# The scope of a search.


def scope_of(
    request: RetrieveArguments,
    caller: Caller,
    *,
    pool: Collection[str],
    catalogs: Catalogs,
    sharing: bool,
    within: Collection[str] = (),
) -> SearchScope:
    """
    Return every knowledge base of the `pool` that may have what the caller looks for and may see.

    With `sharing`, this includes what others share with the caller's groups, unless the caller
    names some of their own catalogs. Raises KnowledgeBaseNotFound for what isn't the caller's, and
    RetrievalFailed if the records can't be read.
    """
    chosen, read = tuple(within) or tuple(filter(None, [request.catalog_id])), list[Catalog]()
    try:
        if chosen:
            read = [_own(each, caller, catalogs) for each in chosen]
        else:
            read = list(catalogs.of_user(caller.user_id))
    except Unavailable as error:
        if chosen or len(pool) > 1 or request.filter:
            raise RetrievalFailed("your catalogs could not be read; try again") from error
    views: list[tuple[str | None, Tenant]]
    if chosen:
        views = [(each.knowledge_base_id, Tenant.of(each)) for each in read]
    else:
        # If there is one alone, it is there or nowhere.
        homes: Iterable[str | None]
        homes = pool if len(pool) == 1 else [each.knowledge_base_id for each in read]
        views = [(home, Tenant(caller.user_id)) for home in dict.fromkeys(homes)]
    queries = [Query(target=home, view=tenant) for home, tenant in views if home is not None]
    shares = sharing and not chosen
    if shares:
        # Anybody may share, so it can be anywhere.
        members = Member.of(caller)
        queries += [Query(target=each, view=view) for each in pool for view in members]
    records = [each.attribute_types for each in read]
    return SearchScope(
        queries=tuple(_within(request.knowledge_base_id, queries, pool)),
        catalog_of=_reading(read, catalogs),
        asker=caller.user_id,
        types=known_types(records),
        knows_all_types=not shares and all(len(each) < MOST_RECORDED for each in records),
        catalogs=tuple(x for x in read if request.knowledge_base_id in (None, x.knowledge_base_id)),
        within=chosen,
    )


def scope_of_catalog(catalog: Catalog) -> SearchScope:
    """Return the scope of one catalog for its owner; empty if nothing of it was ever ingested."""
    home = catalog.knowledge_base_id
    queries = (Query(target=home, view=Tenant.of(catalog)),) if home is not None else ()
    known = {catalog.catalog_id: catalog}
    return SearchScope(
        queries=queries,
        catalog_of=known.get,
        asker=catalog.user_id,
        catalogs=(catalog,),
        within=(catalog.catalog_id,),
    )


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
    """Return a lookup of catalogs that reads each catalog at most once."""
    known = {catalog.catalog_id: catalog for catalog in read}

    @cache
    def catalog_of(catalog_id: str) -> Catalog | None:
        return known.get(catalog_id) or catalogs.get(catalog_id)

    return catalog_of


# Every query of it, asked in parallel, and what of the replies the caller may see.

# A store that can't be asked, and one that can't be asked this.
_Failure = Unavailable | SearchRefused


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
    Ask each knowledge base for at most as many passages as `limits` allow, by knowledge base id.

    A knowledge base that doesn't reply by the deadline has failed; its query goes on until the
    store's own timeout, and its result is discarded.

    Raises Throttled or RetrievalFailed if all queries fail.
    """

    def ask(query: Query) -> Reply | _Failure:
        knowledge_base = pool.get(query.target)
        if knowledge_base is None:  # the pool was shrunk under a catalog
            return KnowledgeBaseUnavailable("Retrieve", "not in the pool")
        started = time.perf_counter()
        try:
            with asked_by(scope.asker) as embedded:
                found = knowledge_base.retrieve(
                    question, query.view.filter(conditions), limits[query.target], deadline=deadline
                )
            passages = [_shown(each, query.target) for each in found.passages]
            proven = query.view.proven(passages, catalog_of=scope.catalog_of)
        except (SearchRefused, Unavailable) as error:
            return error
        except Exception as error:
            # Whatever ails one adapter, the others' answers are not to be lost for it.
            # What it says may repeat the question, so its kind and place are told alone.
            [*_, at] = traceback.extract_tb(error.__traceback__)
            fields = {"knowledge_base": query.target, "error_type": type(error).__name__}
            raised_at = f"{at.filename}:{at.lineno} in {at.name}"
            logger.error("a knowledge base broke", extra={**fields, "raised_at": raised_at})
            return KnowledgeBaseUnavailable("Retrieve", type(error).__name__)
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

    replies = _in_parallel(ask, scope.queries, deadline)
    given = tuple(reply for reply in replies if isinstance(reply, Reply))
    failures = _failures(scope.queries, replies)
    if failures and not given:
        raise _search_error(replies, failures)
    return Replies(given=given, failures=failures)


def _shown(passage: Passage, target: str) -> Passage:
    """Return the passage without the context lines that a direct call has sent."""
    text = passage.text if passage.sent_text_id is None else without_context(passage.text)
    return replace(passage, text=text, raw_text=passage.text, knowledge_base_id=target)


def _in_parallel(
    ask: Callable[[Query], Reply | _Failure],
    queries: Sequence[Query],
    deadline: Deadline,
) -> list[Reply | _Failure]:
    """Run the queries in threads; those that have not begun by the deadline never run."""
    is_endless = math.isinf(deadline.at)
    if not queries or (len(queries) == 1 and is_endless):
        return [ask(query) for query in queries]
    threads = ThreadPoolExecutor(min(len(queries), _MAX_PARALLEL))
    try:
        futures = [threads.submit(ask, query) for query in queries]
        wait(futures, timeout=None if is_endless else deadline.left())
        too_late = KnowledgeBaseUnavailable("Retrieve", "nothing in the time that there was")
        return [each.result() if each.done() else too_late for each in futures]
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _failures(queries: Iterable[Query], replies: Iterable[Reply | _Failure]) -> dict[str, str]:
    """Return, by knowledge base id, the reason of the first query that failed."""
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
    Remove passages whose documents are being deleted, or that are of another text than the
    record's.

    A deletion takes effect in the index only after a round, so each passage's document is looked
    up; a document without a record isn't shown either. A late call can restore a passage of an
    earlier version, so its text must be one that the record names. While a version replaces
    another, the texts of both are shown.

    Raises RetrievalFailed if the records can't be read.
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
                of_version(each, notes)
                for each in reply.passages
                if (notes := kept.get(_key(each))) is not None and is_current(each, notes)
            ),
        )
        for reply in replies.given
    )
    return replace(replies, given=tuple(given))


def of_version(passage: Passage, notes: DocumentNotes) -> Passage:
    """
    Return the passage with what the record says of its version. A file that was sent or crawled
    doesn't name its version, so the indexed one is assumed.
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
    """Return True if a passage is of a text that its document's record names."""
    sent = passage.sent_text_id
    if sent is not None:
        return sent in (notes.text_id, notes.indexed_text_id)
    # A passage that a job has crawled has a URI and no text; a direct call sends what is indexed
    # now with the id of its text, unless the file could not be read.
    return passage.uri is not None or notes.indexed_text_id is None


def _key(passage: Passage) -> DocumentKey:
    """Return the document's key from the attributes that our sidecar gave the passage."""
    document_id = document_id_in(passage) or passage.attributes.get(DOCUMENT)
    return str(passage.attributes.get(CATALOG)), str(document_id)


def located(
    proven: Iterable[Passage], *, catalog_of: CatalogOf, uri_of: Callable[[str], str]
) -> tuple[Passage, ...]:
    """
    Add the URI of each passage's object; `uri_of` returns the URI of a key.

    A knowledge base reports the uploaded object only if an ingestion job crawled it. A directly
    ingested document has our id, or the URI of our text; its catalog and file name come from its
    attributes. So only proven passages are located: their URI identifies the owner.
    """

    def key_of(passage: Passage) -> str | None:
        catalog_id = passage.attributes.get(tenancy.CATALOG)
        filename = passage.attributes.get("filename")
        if not isinstance(catalog_id, str) or not isinstance(filename, str):
            return None
        catalog = catalog_of(catalog_id)
        return None if catalog is None else catalog.s3_prefix + filename

    def of(passage: Passage) -> Passage:
        is_located = passage.uri is not None and tenancy.text_of(passage) is None
        key = None if is_located else key_of(passage)
        return passage if key is None else replace(passage, uri=uri_of(key))

    return tuple(map(of, proven))
