"""Build the pool's knowledge bases, and the usage and caps that searches and runs count."""

import logging
from collections.abc import Callable
from functools import cached_property
from typing import Any

from stackroom.app.deployment import Deployment
from stackroom.aws.bedrock.bedrock_adapter import BedrockKnowledgeBase
from stackroom.aws.bedrock.bedrock_reranking import BedrockReranker
from stackroom.aws.bedrock.configured_filters import MOST_MEMBERS
from stackroom.aws.bedrock.question_embeddings import cache_at, question_embeddings
from stackroom.aws.bedrock.question_guard import QuestionGuard
from stackroom.aws.bedrock.retrieve_options import RetrieveOptions
from stackroom.aws.dynamodb.cap_records import DynamoCaps
from stackroom.aws.dynamodb.usage_records import DynamoUsage
from stackroom.aws.s3vectors.index_presence import AT_ONCE, IndexPresence
from stackroom.aws.s3vectors.s3vectors_adapter import S3VectorsKnowledgeBase
from stackroom.aws.s3vectors.vector_passages import VectorReading
from stackroom.model.caps import CapWatch
from stackroom.model.passages import KnowledgeBase
from stackroom.model.records import PoolMember
from stackroom.runs.capacity import INDEX_QUERIES, MANAGED_RETRIEVES, RETRIEVES
from stackroom.search.cached_embeddings import CachedEmbeddings
from stackroom.search.wrappers import Paced, Reranked, TokenBucket

logger = logging.getLogger(__name__)


class PoolBuilder(Deployment):
    @cached_property
    def usage(self) -> DynamoUsage:
        return DynamoUsage(client=self._dynamodb, table=self._control_table)

    @cached_property
    def caps(self) -> DynamoCaps:
        return DynamoCaps(client=self._dynamodb, table=self._control_table)

    @cached_property
    def cap_watch(self) -> CapWatch:
        return CapWatch(book=self.caps)

    def knowledge_base(self, knowledge_base_id: str) -> KnowledgeBase:
        """Return a knowledge base; one that has left the pool is treated as type BEDROCK."""
        member = self._member(knowledge_base_id)
        return POOL_STORES[member.type](member, self)

    def documents_at_once(self, knowledge_base_id: str) -> int:
        """Return how many documents one presence check can name."""
        return MOST_MEMBERS if _index_of(self._member(knowledge_base_id)) is None else AT_ONCE

    @cached_property
    def embeddings(self) -> CachedEmbeddings:
        """Return embeddings of questions, cached for repeated questions."""
        return question_embeddings(
            self.client,
            model=self.settings.need("embedding_model"),
            dimensions=self.settings.need("embedding_dimensions"),
            cache=cache_at(self.settings.need("redis_url")),
            tally=self.cache_tally,
        )

    def token_bucket(self, operation: str, per_second: float) -> TokenBucket:
        """Return the token bucket that all knowledge bases under one AWS rate limit share."""
        if operation not in self._token_buckets:
            self._token_buckets[operation] = TokenBucket(operation, per_second)
        return self._token_buckets[operation]

    @cached_property
    def _token_buckets(self) -> dict[str, TokenBucket]:
        return {}

    def _member(self, knowledge_base_id: str) -> PoolMember:
        for member in self.pool:
            if member.knowledge_base_id == knowledge_base_id:
                return member
        # A catalog may be in one that has left the pool. Its shared data source is never used.
        return PoolMember(knowledge_base_id=knowledge_base_id, data_source_id="")

    def _bedrock(self, member: PoolMember) -> KnowledgeBase:
        """
        Return the adapter that the deployment's settings choose. Presence checks query the index,
        or Retrieve for a knowledge base without an index, such as a MANAGED one.
        """
        index, via = _index_of(member), self._setting("retrieve_via")
        if via is None and index is not None:
            return IndexPresence(self.client("s3vectors"), index)
        if via is None:
            return self._retrieve(member, client="bedrock-agent-runtime")
        found: KnowledgeBase = self._paced_retrieve(member)
        if via == "s3vectors" and index is not None:
            found = self._query_vectors(index, fallback=found)
        elif via == "s3vectors" and not member.is_managed:
            logger.warning(
                "%r is searched through Retrieve: no index in KB_POOL", member.knowledge_base_id
            )
        return self._reranked(found)

    def _paced_retrieve(self, member: PoolMember) -> KnowledgeBase:
        operation, per_second = "Retrieve", RETRIEVES
        if member.is_managed:  # it has its own rate limit
            operation = f"Retrieve of {member.knowledge_base_id}"
            per_second = MANAGED_RETRIEVES
        found = self._retrieve(member, client="searches")
        return Paced(found, self.token_bucket(operation, per_second), repeats_failures=True)

    def _retrieve(self, member: PoolMember, *, client: str) -> KnowledgeBase:
        return BedrockKnowledgeBase(
            self.client(client),
            member.knowledge_base_id,
            # Searches return pages; presence checks read none.
            first_page=self._setting("retrieve_first_page", 1),
            guardrail=self._setting("guardrail"),
            options=RetrieveOptions(is_managed=member.is_managed),
        )

    def _query_vectors(self, index: str, *, fallback: KnowledgeBase) -> KnowledgeBase:
        guard, guardrail = None, self._setting("guardrail")
        if guardrail is not None:
            guard = QuestionGuard(client=self.client("embeddings"), guardrail=guardrail)
        found = S3VectorsKnowledgeBase(
            self.client("s3vectors"),
            index,
            embeddings=self.embeddings,
            fallback=fallback,
            reading=VectorReading(first_page=self._setting("retrieve_first_page", 1)),
            lets_through=guard.lets_through if guard else None,
        )
        return Paced(found, self.token_bucket("QueryVectors", INDEX_QUERIES))

    def _reranked(self, found: KnowledgeBase) -> KnowledgeBase:
        """Return the knowledge base, reranked by the deployment's reranking model if it has one."""
        arn = self._setting("rerank_model_arn")
        if arn is None:
            return found
        reranker = BedrockReranker(self.client("bedrock-agent-runtime"), model_arn=arn)
        return Reranked(found, reranker)

    def _setting(self, name: str, default: Any = None) -> Any:
        """Return a setting that only functions that search for users have."""
        return getattr(self.settings, name, default)


# Knowledge bases by the `type` of a member of KB_POOL; each also has a line in runs/capacity.py.
POOL_STORES: dict[str, Callable[[PoolMember, PoolBuilder], KnowledgeBase]] = {
    "BEDROCK": lambda member, builder: builder._bedrock(member),
    "MANAGED": lambda member, builder: builder._bedrock(member),
}


def _index_of(member: PoolMember) -> str | None:
    return None if member.is_managed else member.index
