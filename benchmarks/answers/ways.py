"""
The ways to search that are compared, each by the product's own adapters and as its function has it.

Five rank passages: Retrieve as it is; with words among its candidates; and S3 Vectors by meaning,
by words, by both. Two give whole answers, as agents get them: one for each value of RETRIEVE_VIA.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from benchmarks.answers.given import CANDIDATES, Given, Way, of_passage, of_result, reply_of
from benchmarks.answers.library import USER
from benchmarks.retrieve import retrieve_function
from benchmarks.serving import NotMeasured
from stackroom.access.identity import Caller
from stackroom.access.tenancy import Tenant
from stackroom.aws import session
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.documents.filters import Filter
from stackroom.documents.model import PoolMember
from stackroom.documents.passages import KnowledgeBase, PlaceMapReader, Retrieved, Search
from stackroom.search.calibrations import Calibration
from stackroom.search.ranking import weighed
from stackroom.search.search_arguments import RetrieveArguments
from stackroom.stores.bedrock.bedrock_adapter import BedrockKnowledgeBase
from stackroom.stores.s3vectors.s3vectors_adapter import IndexWatch, S3VectorsKnowledgeBase
from stackroom.wiring.adapters import Deployment
from stackroom.wiring.use_cases import UseCases
from stackroom_local.state import REGION, Instance

SHOWN = 5  # of a whole answer: the tool's default
BARE, FUSED = "Retrieve as it is", "Retrieve, words among candidates"
VECTOR, TEXT, HYBRID = "S3 Vectors, by meaning", "S3 Vectors, by words", "S3 Vectors, hybrid"
BY_RETRIEVE, BY_VECTORS = "answer, RETRIEVE_VIA=bedrock", "answer, RETRIEVE_VIA=s3vectors"
RANKINGS = (BARE, FUSED, VECTOR, TEXT, HYBRID)
ANSWERS = (BY_RETRIEVE, BY_VECTORS)
SEARCHES = {VECTOR: Search.SEMANTIC, TEXT: Search.TEXT, HYBRID: Search.HYBRID}
_PATIENCE, _LOOK_SECONDS = 120.0, 1.0


@contextmanager
def as_function(instance: Instance) -> Iterator[None]:
    """The retrieve function's environment, as the gateway gives it: its tables, bucket and role."""
    region = {"AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION}
    with patch.dict(os.environ, {**retrieve_function(instance).environment, **region}):
        yield


def ways() -> dict[str, Way]:
    """
    By name; each has a cache of questions' vectors of its own, and nothing in it yet.

    To be made and asked inside `as_function`.
    """
    bare = _retrieve()
    rankings: dict[str, KnowledgeBase] = {BARE: bare, FUSED: _ByWords(bare)}
    rankings |= {name: _vectors(search) for name, search in SEARCHES.items()}
    return {
        **{name: _ranking(each) for name, each in rankings.items()},
        BY_RETRIEVE: _answering(_use_cases("bedrock")),
        BY_VECTORS: _answering(_use_cases("s3vectors")),
    }


def calibration() -> Calibration:
    """What the product weighs with, as deployed."""
    return _use_cases("s3vectors").retrieval.calibration


def default() -> str:
    """The way of the whole answers that is deployed."""
    return {"bedrock": BY_RETRIEVE, "s3vectors": BY_VECTORS}[_settings().retrieve_via]


def _settings(via: str | None = None) -> Any:
    """As deployed, or by another way."""
    # Imported here, because its logger takes the environment as it is then.
    from stackroom.wiring.function_settings import RetrieveSettings  # noqa: PLC0415 - see above

    deployed = RetrieveSettings.from_env()
    return deployed if via is None else deployed.model_copy(update={"retrieve_via": via})


def _use_cases(via: str) -> UseCases:
    return UseCases.of(_settings(via), session.client)


def _retrieve() -> BedrockKnowledgeBase:
    [member] = _settings("bedrock").kb_pool
    return BedrockKnowledgeBase(session.client("bedrock-agent-runtime"), member.knowledge_base_id)


def _vectors(search: Search) -> S3VectorsKnowledgeBase:
    settings = _settings("s3vectors")
    [member] = settings.kb_pool
    if member.index is None:
        raise NotMeasured("KB_POOL names no index of the knowledge base")
    s3vectors = session.client("s3vectors")
    dimensions = settings.embedding_dimensions
    watch = IndexWatch(s3vectors, member.index, search=search, dimensions=dimensions)
    _wait_for(watch)
    return S3VectorsKnowledgeBase(
        s3vectors,
        member.index,
        embeddings=Deployment(settings=settings).embeddings,
        fallback=_retrieve(),
        search=search,
    )


def _wait_for(watch: IndexWatch) -> None:
    """Text search is added to the index at the start, and it takes a while until it's built."""
    deadline = time.monotonic() + _PATIENCE
    while (reason := watch.why_not()) is not None:
        if time.monotonic() > deadline:
            raise NotMeasured(f"the index can't be searched: {reason}")
        time.sleep(_LOOK_SECONDS)
        watch.refused(reason)  # so that it looks again


def _ranking(knowledge_base: KnowledgeBase) -> Way:
    condition = Tenant(USER).filter()

    def ask(question: str) -> Given:
        retrieved = knowledge_base.retrieve(question, condition, CANDIDATES)
        if retrieved.notice is not None:  # a figure of one way must not be made of another's
            raise NotMeasured(retrieved.notice)
        return Given(
            found=tuple(map(of_passage, retrieved.passages)),
            passages=retrieved.passages,
            search=retrieved.search,
        )

    return ask


def _answering(use_cases: UseCases) -> Way:
    retrieval = use_cases.retrieval

    def ask(question: str) -> Given:
        answer = retrieval.search(RetrieveArguments(query=question, top_k=SHOWN), Caller(USER))
        if answer.notices:
            raise NotMeasured(f"searched in another way: {dict(answer.notices)}")
        return Given(
            found=tuple(map(of_result, answer.results)),
            is_refused=answer.is_held_back,
        )

    return ask


@dataclass(frozen=True)
class _ByWords:
    """What another finds, ranked by its words, too, as whole answers have it."""

    knowledge_base: KnowledgeBase

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        found = self.knowledge_base.retrieve(query, condition, limit, deadline=deadline)
        ordered = weighed(query, [reply_of(found)], limit=limit)
        return replace(found, passages=ordered.passages, search=Search.RANKED)


def shelf() -> Callable[[str, str], bool]:
    """
    Whether a shelf with one file alone has no answer to a question, asked in the default way.

    It is made by a filter of the caller's.
    """
    retrieval = _use_cases(_settings().retrieve_via).retrieval

    def is_refused(filename: str, question: str) -> bool:
        arguments = {"query": question, "filter": {"filename": filename}}
        asked = RetrieveArguments.model_validate(arguments)
        return retrieval.search(asked, Caller(USER)).is_held_back

    return is_refused


def vectors_of(instance: Instance) -> int:
    """How many the index has. Nothing of the product lists them, so nothing of it may."""
    return count_of(instance, str(pool_member().index))


def count_of(instance: Instance, index_arn: str) -> int:
    pages = instance.client("s3vectors").get_paginator("list_vectors")
    return sum(len(page["vectors"]) for page in pages.paginate(indexArn=index_arn))


def pool_member() -> PoolMember:
    """The one knowledge base that the library is in."""
    [member] = _settings("s3vectors").kb_pool
    assert isinstance(member, PoolMember), "the settings say so"
    return member


def place_maps() -> PlaceMapReader:
    """Those of the library's documents."""
    return _use_cases("bedrock").retrieval.place_maps
