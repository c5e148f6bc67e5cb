"""
Search knowledge bases that an agent was given, whoever created them.

    LinkedRetrieval(linked=(LinkedKnowledgeBase(knowledge_base_id="KB1", ...),))
        .search(RETRIEVE_FROM_KNOWLEDGE_BASE.parse({"query": "..."}), caller)

These knowledge bases have no catalogs. Everyone who may ask the agent can read all of one, or an
attribute of each document names the groups that may read it.
"""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from stackroom.access.identity import Caller
from stackroom.access.tenancy import Everyone, Owned, Readers, View
from stackroom.access.tool import Arguments, Text, Tool
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseNotFound, MissingIdentity, StackroomError
from stackroom.model.filters import all_of
from stackroom.model.keys import is_user_id
from stackroom.model.passages import KnowledgeBase, OnlyPlaces, Passage, Search
from stackroom.search.budget import DEFAULT_BUDGET, Budget
from stackroom.search.excerpts import excerpts_of
from stackroom.search.question_words import matched
from stackroom.search.ranking import (
    OrderedBy,
    Ranking,
    distinct,
    fused,
    identity,
    relevance_of,
)
from stackroom.search.replies import Query, Replies, Reply, SearchScope
from stackroom.search.results import Response, SearchAnswer, answer_of, failure, success
from stackroom.search.search import ask_all
from stackroom.search.search_arguments import (
    FILTER_FORM,
    FilterArgument,
    SearchArguments,
    not_boolean,
)
from stackroom.search.wrappers import Narrowed

_REMEDY = "what is searched is not for everyone, so the agent's program must say who is asking"


@dataclass(frozen=True, kw_only=True)
class LinkedKnowledgeBase:
    """
    One linked knowledge base.

    The search requests `limit` passages and drops those that score less than `min_score`. The
    meaning of a score is up to the store, and a score may be negative, so None drops none.
    `groups_in` names the attribute that lists groups: a caller finds only documents that list one
    of their groups. `owner_in` names the attribute that has the user id of the only user who finds
    a document. `embedding` names the embedding model: similarities of one model can be compared.
    """

    knowledge_base_id: str
    knowledge_base: KnowledgeBase
    limit: int = 5
    min_score: float | None = None
    groups_in: str | None = None
    owner_in: str | None = None
    embedding: str | None = None


@dataclass(frozen=True, kw_only=True)
class LinkedRetrieval:
    """The search. `budget` applies unless the caller sets another."""

    linked: Sequence[LinkedKnowledgeBase]
    budget: Budget = DEFAULT_BUDGET

    def search(
        self, request: SearchArguments, caller: Caller | None, *, deadline: Deadline = NO_DEADLINE
    ) -> SearchAnswer:
        """
        Return the best passages that the caller may see, within the token budget and the deadline.

        If some knowledge bases fail, the answer is partial and says so. Raises Throttled or
        RetrievalFailed if all fail, KnowledgeBaseNotFound for one that isn't linked, and
        MissingIdentity if one of them distinguishes callers and there is none.
        """
        started = time.perf_counter()
        chosen = self._chosen(request.knowledge_base_id)
        scope = _scope(chosen.values(), caller)
        replies = ask_all(
            scope,
            request.query,
            pool={key: each.knowledge_base for key, each in chosen.items()},
            conditions=(),
            limits={key: each.limit for key, each in chosen.items()},
            deadline=deadline,
        )
        ordered_by = _order(replies, chosen)
        passages = _in_order(request.query, replies, chosen, ordered_by)
        ranking = Ranking(
            passages=passages,
            searches=tuple(dict.fromkeys(reply.search for reply in replies.given)),
            relevance=relevance_of(request.query, passages),
            ordered_by=ordered_by,
        )
        place_maps = OnlyPlaces(None)  # these are of documents in catalogs
        limit = sum(each.limit for each in chosen.values())
        return answer_of(
            excerpts_of(passages, place_maps, limit=limit),
            ranking,
            replies,
            scope,
            budget=request.budget(self.budget),
            place_maps=place_maps,
            started=started,
        )

    def _chosen(self, named: str | None) -> dict[str, LinkedKnowledgeBase]:
        linked = {each.knowledge_base_id: each for each in self.linked}
        if named is None:
            return linked
        if named not in linked:
            raise KnowledgeBaseNotFound(f"Knowledge base '{named}'")
        return {named: linked[named]}


def _scope(chosen: Iterable[LinkedKnowledgeBase], caller: Caller | None) -> SearchScope:
    queries = [
        Query(target=each.knowledge_base_id, view=view)
        for each in chosen
        for view in _views(each, caller)
    ]
    asker = caller.user_id if caller is not None and is_user_id(caller.user_id) else None
    return SearchScope(queries=tuple(queries), catalog_of=lambda _: None, asker=asker)


def _views(linked: LinkedKnowledgeBase, caller: Caller | None) -> Sequence[View]:
    if linked.groups_in is None and linked.owner_in is None:
        return (Everyone(),)
    if caller is None or not is_user_id(caller.user_id):
        raise MissingIdentity(_REMEDY)
    readers = () if linked.groups_in is None else Readers.of(caller, linked.groups_in)
    if linked.owner_in is None:
        return readers
    if linked.groups_in is None:
        return (Owned(linked.owner_in, caller.user_id),)
    return [Owned(linked.owner_in, caller.user_id, each) for each in readers]


def _order(replies: Replies, chosen: Mapping[str, LinkedKnowledgeBase]) -> OrderedBy | None:
    """
    Return how to order passages of several knowledge bases; None keeps the order of a single one.

    The order is by score if all passages were found by meaning alone, by the same model, and each
    store reports similarities. Search by words and reranking produce scores that don't compare.
    """
    targets = {reply.target for reply in replies.given}
    if len(targets) <= 1:
        return None
    embeddings = {chosen[target].embedding for target in targets}
    compare = (
        len(embeddings) == 1
        and None not in embeddings
        and all(each.search is Search.SEMANTIC and not each.is_reranked for each in replies.given)
        and all(each.similarity is not None for reply in replies.given for each in reply.passages)
    )
    return "score" if compare else "rank"


def _in_order(
    question: str,
    replies: Replies,
    chosen: Mapping[str, LinkedKnowledgeBase],
    ordered_by: OrderedBy | None,
) -> list[Passage]:
    """
    Return all passages in one order: by similarity if similarities compare, else by reciprocal
    rank.

    Of equals, the passage with more of the question's words comes first. A passage in two stores
    keeps the score of the first.
    """
    found: dict[object, Passage] = {}
    orders: list[list[object]] = []
    for target, given in groupby(replies.given, key=lambda reply: reply.target):
        passages = _of_one(list(given), chosen[target])
        orders.append([identity(each) for each in passages])
        found |= {identity(each): each for each in passages} | found
    numbers = {key: number for number, key in enumerate(found)}
    texts = list(found.values())
    by_words = matched(question, [each.text for each in texts]).order
    if ordered_by == "score":
        return sorted(
            (texts[number] for number in by_words), key=lambda each: -(each.similarity or 0.0)
        )
    by_rank = [[numbers[key] for key in order] for order in orders]
    return [texts[number] for number in fused(*by_rank, of_equals=by_words)]


def _of_one(replies: Sequence[Reply], linked: LinkedKnowledgeBase) -> tuple[Passage, ...]:
    """Return the passages in a store's own order, the best of several queries to it."""
    found = [passage for reply in replies for passage in reply.passages if passage.text]
    if len(replies) > 1:
        found.sort(key=lambda passage: -passage.score)
    least = -math.inf if linked.min_score is None else linked.min_score
    return distinct(found, min_score=least)[: linked.limit]


class EveryonesArguments(Arguments):
    query: Text = Field(
        min_length=1,
        max_length=1000,
        description="What to look for, in plain language: text of 1 to 1,000 characters.",
    )
    top_k: (
        Annotated[int, BeforeValidator(not_boolean), WithJsonSchema({"type": "number"})] | None
    ) = Field(
        default=None,
        ge=1,
        le=20,
        description=(
            "How many passages to return at most: a whole number from 1 to 20; by default as many"
            " as is configured."
        ),
    )
    filter: FilterArgument = Field(
        default=(),
        description=(
            f"Only passages with this metadata, such as domain or taxonomy: {FILTER_FORM}"
        ),
    )


RETRIEVE_FOR_EVERYONE = Tool(
    name="knowledge_base_retrieve",
    description=(
        "Search the knowledge base by meaning. Returns the best passages with source, metadata and"
        " relevance score, to answer from and to cite."
    ),
    arguments=EveryonesArguments,
)


def retrieve_for_everyone(
    arguments: object, *, retrieval: LinkedRetrieval, deadline: Deadline = NO_DEADLINE
) -> Response:
    """
    Search for a caller without identity. `arguments` are as a model wrote them.

    A knowledge base that doesn't reply by the deadline is reported as failed. Never raises for what
    a model can get wrong, but returns `{"success": False, "errorType": ...}`. A knowledge base that
    distinguishes callers is not searched, and the answer says so.
    """
    try:
        request = RETRIEVE_FOR_EVERYONE.parse(arguments)
        linked = tuple(_narrowed(each, request) for each in retrieval.linked)
        searched = replace(retrieval, linked=linked)
        return success(
            searched.search(SearchArguments(query=request.query), None, deadline=deadline)
        )
    except StackroomError as error:
        return failure(error)


def _narrowed(linked: LinkedKnowledgeBase, request: EveryonesArguments) -> LinkedKnowledgeBase:
    limited = replace(linked, limit=request.top_k or linked.limit)
    if not request.filter:
        return limited
    narrowed = Narrowed(linked.knowledge_base, all_of(request.filter))
    return replace(limited, knowledge_base=narrowed)
