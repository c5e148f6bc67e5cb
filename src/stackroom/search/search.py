"""
Searching a caller's documents: in which knowledge bases, in parallel, merged into one answer.

    Retrieval(pool={"KB1": BedrockKnowledgeBase(...)}, catalogs=..., documents=..., place_maps=...)
        .search(KNOWLEDGE_BASE_RETRIEVE.parse({"query": "..."}), caller)
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stackroom.access.identity import Caller
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.documents.keys import is_user_id
from stackroom.documents.model import Catalog
from stackroom.documents.passages import KnowledgeBase, Passage, PlaceMapReader
from stackroom.documents.repositories import Catalogs, StayingDocuments
from stackroom.errors import MissingIdentity
from stackroom.search.calibrations import UNCALIBRATED, Calibration
from stackroom.search.citations import located
from stackroom.search.excerpts import distinct
from stackroom.search.fan_out import (
    Replies,
    SearchScope,
    ask_all,
    only_staying,
    scope_of,
    scope_of_catalog,
)
from stackroom.search.ranking import Weighed, weighed
from stackroom.search.results import Chosen, SearchAnswer, answer_of
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
    `min_score` and `budget` apply where the caller asks for nothing else.

    With `sharing`, a caller finds what others share with one of their groups, too; without it,
    their own documents alone. `calibration` is that of the knowledge bases' embedding model.
    `uri_of` makes a URI of an object's key; without it, what was ingested directly has none.
    """

    pool: Mapping[str, KnowledgeBase]
    catalogs: Catalogs
    documents: StayingDocuments
    place_maps: PlaceMapReader
    sharing: bool = False
    min_score: float = 0.0
    budget: Budget = DEFAULT_BUDGET
    calibration: Calibration = UNCALIBRATED
    uri_of: Callable[[str], str] | None = None

    def search(
        self, asked: SearchArguments, caller: Caller | None, *, deadline: Deadline = NO_DEADLINE
    ) -> SearchAnswer:
        """
        The best passages that the caller may see and the context budget holds, by the deadline;
        none of what is being deleted, from when that was asked for.

        None, if no passage speaks to the question. Some queries failing makes a partial answer that
        says so. Raises Throttled or RetrievalFailed if all do, KnowledgeBaseNotFound for what isn't
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
        limit = max(_FEWEST, _CANDIDATES // max(1, len(scope.queries)), asked.top_k)
        limits = dict.fromkeys(scope.targets, limit)
        replies = ask_all(
            scope,
            asked.query,
            pool=self.pool,
            conditions=asked.filter,
            limits=limits,
            deadline=deadline,
        )
        replies = only_staying(replies, self.documents)
        found = weighed(asked.query, replies.given, limit=limit)
        is_far = _is_far(found, replies, self.calibration, asked.min_score)
        min_score = self.min_score if asked.min_score is None else asked.min_score
        passages = self._near(found) if is_far else distinct(found.passages, min_score=min_score)
        if self.uri_of is not None:
            passages = located(passages, catalog_of=scope.catalog_of, uri_of=self.uri_of)
        chosen = Chosen(
            passages=() if is_far else passages,
            searches=found.searches,
            best_score_below=found.best if is_far and not self.calibration.is_by_words else None,
            words_below=found.words_below if is_far and self.calibration.is_by_words else None,
            nearest=passages[0] if is_far and passages else None,
        )
        return answer_of(
            chosen,
            replies,
            scope,
            place_maps=self.place_maps,
            limit=asked.top_k,
            budget=asked.budget(self.budget),
            started=started,
        )

    def _near(self, found: Weighed) -> tuple[Passage, ...]:
        """The first of them, unless all are far from the question."""
        assert found.best is not None, "something was found that is too far"
        is_near = self.calibration.is_near(found.best, found.searches)
        return tuple(found.passages[:1]) if is_near else ()


def _is_far(
    found: Weighed, replies: Replies, calibration: Calibration, least: float | None
) -> bool:
    """Whether nothing that was found can be an answer; it can from `least` on, if a caller says."""
    # A reranking model's scores are on a scale of their own, which nobody has measured.
    if replies.is_reranked or found.has_most_words or found.best is None:
        return False
    if least is not None and found.best >= least:
        return False
    if calibration.is_by_words:
        return least is None and found.words_below is not None
    return not calibration.is_answered(found.best, found.searches, by_words=found.best_by_words)
