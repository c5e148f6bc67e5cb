"""
Searching a caller's documents: in which knowledge bases, in parallel, merged into one answer.

    Retrieval(pool={"KB1": BedrockKnowledgeBase(...)}, catalogs=..., documents=..., place_maps=...)
        .search(KNOWLEDGE_BASE_RETRIEVE.parse({"query": "..."}), caller)
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from stackroom.access.identity import Caller
from stackroom.access.search_filter_argument import typed
from stackroom.access.tenancy import DOCUMENT
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.documents.attributes import known_types
from stackroom.documents.filters import Has, any_of
from stackroom.documents.keys import is_user_id
from stackroom.documents.model import Catalog
from stackroom.documents.passages import KnowledgeBase, PlaceMapReader
from stackroom.documents.repositories import Catalogs, StayingDocuments
from stackroom.errors import MissingIdentity, RetrievalError
from stackroom.search.citations import located
from stackroom.search.excerpts import excerpts_of
from stackroom.search.fan_out import (
    Replies,
    SearchScope,
    ask_all,
    only_staying,
    scope_of,
    scope_of_catalog,
)
from stackroom.search.filter_notice import filter_notice
from stackroom.search.names import NamedDocuments
from stackroom.search.ranking import ranked
from stackroom.search.results import SearchAnswer, answer_of, fit
from stackroom.search.search_arguments import (
    DEFAULT_BUDGET,
    Budget,
    RetrieveArguments,
    SearchArguments,
)

# What is asked for in all: enough to choose from by words, and to see which words stand nowhere.
# Bedrock and S3 Vectors answer a hundred in one page. However many are asked, each is for some.
_CANDIDATES = 100
_FEWEST = 25


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """
    `min_score` and `budget` apply where the caller asks for nothing else: passages that score less
    than `min_score` are left out.

    With `sharing`, a caller finds what others share with one of their groups, too; without it,
    their own documents alone.
    `uri_of` makes a URI of an object's key; without it, what was ingested directly has none.
    `named` tells the documents that a question names; without it, none is asked for itself.
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
        self, asked: SearchArguments, caller: Caller | None, *, deadline: Deadline = NO_DEADLINE
    ) -> SearchAnswer:
        """
        The best passages that the caller may see and the context budget holds, by the deadline;
        none of what is being deleted, from when that was asked for.

        The nearest are shown, however far they are; the answer's `relevance` says how near. Some
        queries failing makes a partial answer that says so. Raises Throttled or RetrievalFailed if
        all do, ValidationError for a filter that can't match, KnowledgeBaseNotFound for what isn't
        the caller's, and MissingIdentity if the caller is nobody.
        """
        if caller is None or not is_user_id(caller.user_id):
            raise MissingIdentity
        started = time.perf_counter()
        asked = RetrieveArguments.of(asked)
        scope = scope_of(
            asked, caller, pool=self.pool, catalogs=self.catalogs, sharing=self.sharing
        )
        return self._answer(scope, asked, started, deadline)

    def in_catalog(self, query: str, catalog: Catalog, limit: int) -> SearchAnswer:
        """
        The best passages of one catalog for its owner, as `search` would find them.

        The catalog has been read, and its owner checked. Raises Throttled or RetrievalFailed.
        """
        started = time.perf_counter()
        asked = RetrieveArguments(query=query, top_k=limit, catalog_id=catalog.catalog_id)
        return self._answer(scope_of_catalog(catalog), asked, started)

    def _answer(
        self,
        scope: SearchScope,
        asked: RetrieveArguments,
        started: float,
        deadline: Deadline = NO_DEADLINE,
    ) -> SearchAnswer:
        known = scope.types if scope.knows_all_types else known_types(())
        typed_filter = typed(asked.filter, known)
        searched = asked.model_copy(update={"filter": typed_filter})
        limit = max(_FEWEST, _CANDIDATES // max(1, len(scope.queries)), asked.top_k)
        limits = dict.fromkeys(scope.targets, limit)
        replies = ask_all(
            scope,
            asked.query,
            pool=self.pool,
            conditions=typed_filter,
            limits=limits,
            deadline=deadline,
        )
        if self.named is not None:
            replies = self._with_named(self.named, replies, scope, searched, deadline)
        replies = only_staying(replies, self.documents)
        min_score = self.min_score if asked.min_score is None else asked.min_score
        ranking = ranked(asked.query, replies.given, min_score=min_score)
        passages = ranking.passages
        if self.uri_of is not None:
            passages = located(passages, catalog_of=scope.catalog_of, uri_of=self.uri_of)
        excerpts = excerpts_of(passages, self.place_maps, limit=asked.top_k)
        selection = fit(excerpts, asked.budget(self.budget), self.place_maps)
        answer = answer_of(selection, ranking, replies, scope, started=started)
        return replace(answer, filter_notice=filter_notice(asked.filter, scope, replies))

    def _with_named(
        self,
        names: NamedDocuments,
        replies: Replies,
        scope: SearchScope,
        asked: RetrieveArguments,
        deadline: Deadline,
    ) -> Replies:
        """
        Add passages of the documents that the question names, where the search of all found none.

        Whatever fails of this, the search of all stands.
        """
        assert scope.asker is not None, "a catalog has an owner, and other searches have a caller"
        named = names.named_in(asked.query, scope.asker, asked.catalog_id)
        found = {
            each.attributes.get(DOCUMENT) for reply in replies.given for each in reply.passages
        }
        missing = [each for each in named if each not in found]
        if not missing:
            return replies
        within = (*asked.filter, any_of(Has(DOCUMENT, each) for each in missing))
        limits = dict.fromkeys(scope.targets, _FEWEST)
        try:
            theirs = ask_all(
                scope,
                asked.query,
                pool=self.pool,
                conditions=within,
                limits=limits,
                deadline=deadline,
            )
        except RetrievalError:
            return replies
        return replace(replies, given=(*replies.given, *theirs.given))
