"""
Every kind of knowledge base that a pool may have, by the `type` of its members in KB_POOL.

Another store is an adapter for `ports.retrieval.KnowledgeBase`, a function here that makes it of a
member and what the deployment has, and a line in the table. An adapter is imported when its first
knowledge base is made, for a pool rarely has more than one kind.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from stackroom.capacity import INDEX_QUERIES, MANAGED_RETRIEVES, RETRIEVES
from stackroom.model import PoolMember

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stackroom.aws.bedrock.guardrail import Guardrail
    from stackroom.ports.retrieval import KnowledgeBase
    from stackroom.stores.bedrock.retrieve_options import RetrieveOptions
    from stackroom.wiring.adapters import Deployment

logger = logging.getLogger(__name__)

_MOST_CHOICES = 5  # filters in a group of Retrieve [Bedrock user guide: kb-test-config]


def _bedrock(deployment: Deployment, member: PoolMember) -> KnowledgeBase:
    """
    For who searches for somebody, as the deployment says. Whoever only looks whether something is
    found asks the index itself, or Bedrock's Retrieve where no index is known.
    """
    via = getattr(deployment.settings, "retrieve_via", None)
    if via is None and member.index is not None:
        from stackroom.stores.s3vectors.index_presence import IndexPresence

        return IndexPresence(deployment.client("s3vectors"), member.index)
    if via is None:
        return _retrieve(deployment, member)
    found = _retrieve_paced(deployment, member)
    if via == "s3vectors" and member.index is not None:
        found = _s3vectors(deployment, member.index, fallback=found)
    elif via == "s3vectors":
        logger.warning(
            "%r is searched through Retrieve: no index in KB_POOL", member.knowledge_base_id
        )
    return _for_somebody(deployment, found)


def _managed(deployment: Deployment, member: PoolMember) -> KnowledgeBase:
    """There is no index to search in its place; its scores are of its own making."""
    from stackroom.stores.bedrock.retrieve_options import RetrieveOptions

    options = RetrieveOptions(is_managed=True, has_cosine_scores=False)
    if getattr(deployment.settings, "retrieve_via", None) is None:
        return _retrieve(deployment, member, options=options)
    found = _retrieve_paced(deployment, member, options=options)
    return _for_somebody(deployment, found)


def _for_somebody(deployment: Deployment, knowledge_base: KnowledgeBase) -> KnowledgeBase:
    """Reranked by the model that whoever deploys has chosen, if any; equal questions asked once."""
    from stackroom.retrieval.wrappers import Coalesced

    model_arn = getattr(deployment.settings, "rerank_model_arn", None)
    if model_arn is None:
        return Coalesced(knowledge_base)
    from stackroom.aws.bedrock.bedrock_reranking import BedrockReranker
    from stackroom.retrieval.wrappers import Reranked

    client = deployment.client("bedrock-agent-runtime")
    return Coalesced(Reranked(knowledge_base, BedrockReranker(client, model_arn=model_arn)))


def _retrieve(
    deployment: Deployment,
    member: PoolMember,
    *,
    client: str = "bedrock-agent-runtime",
    options: RetrieveOptions | None = None,
) -> KnowledgeBase:
    from stackroom.stores.bedrock.bedrock_adapter import BedrockKnowledgeBase

    return BedrockKnowledgeBase(
        deployment.client(client),
        member.knowledge_base_id,
        first_page=_first_page(deployment),
        guardrail=_guardrail(deployment),
        options=options,
    )


def _retrieve_paced(
    deployment: Deployment, member: PoolMember, *, options: RetrieveOptions | None = None
) -> KnowledgeBase:
    """For who has a control table to take turns by."""
    if not hasattr(deployment.settings, "kb_control_table"):
        return _retrieve(deployment, member, options=options)
    from stackroom.retrieval.rate_limiter import Paced

    taking = deployment.turn_taking("Retrieve", per_second=RETRIEVES)
    if member.is_managed:  # a rate of its own
        operation = f"Retrieve of {member.knowledge_base_id}"
        taking = deployment.turn_taking(operation, per_second=MANAGED_RETRIEVES)
    found = _retrieve(deployment, member, client="searches", options=options)
    return Paced(found, taking, repeats_failures=True)


def _s3vectors(deployment: Deployment, index: str, *, fallback: KnowledgeBase) -> KnowledgeBase:
    from stackroom.aws.bedrock.question_guard import QuestionGuard
    from stackroom.ports.retrieval import Search
    from stackroom.retrieval.rate_limiter import Paced
    from stackroom.stores.s3vectors.index_watch import IndexWatch
    from stackroom.stores.s3vectors.s3vectors_adapter import S3VectorsKnowledgeBase
    from stackroom.stores.s3vectors.vector_passages import VectorReading

    client, embeddings = deployment.client("s3vectors"), deployment.embeddings
    guardrail, guard = _guardrail(deployment), None
    if guardrail is not None:
        guard = QuestionGuard(client=deployment.client("embeddings"), guardrail=guardrail)
    search = Search.HYBRID
    found = S3VectorsKnowledgeBase(
        client,
        index,
        watch=IndexWatch(client, index, search=search, dimensions=embeddings.dimensions),
        embeddings=embeddings,
        fallback=fallback,
        search=search,
        reading=VectorReading(first_page=_first_page(deployment)),
        lets_through=guard.lets_through if guard else None,
    )
    if not hasattr(deployment.settings, "kb_control_table"):
        return found
    return Paced(found, deployment.turn_taking("QueryVectors", per_second=INDEX_QUERIES))


TYPES: Mapping[str, Callable[[Deployment, PoolMember], KnowledgeBase]] = {
    "BEDROCK": _bedrock,
    "MANAGED": _managed,
}


def documents_at_once(member: PoolMember | None) -> int:
    """How many documents one question can name, of whoever only looks what is there."""
    from stackroom.stores.s3vectors.index_presence import AT_ONCE

    has_index = member is not None and member.index is not None and not member.is_managed
    return AT_ONCE if has_index else _MOST_CHOICES


def of_pool(deployment: Deployment, knowledge_base_id: str) -> KnowledgeBase:
    for member in deployment.pool:
        if member.knowledge_base_id == knowledge_base_id:
            return TYPES[member.type](deployment, member)
    # A catalog may lie in one that has left the pool; nobody asks for its shared data source.
    left = PoolMember(knowledge_base_id=knowledge_base_id, data_source_id="")
    return TYPES[left.type](deployment, left)


def _first_page(deployment: Deployment) -> int:
    """Pages are for those who ask; whoever only looks whether something is found reads none."""
    first: int = getattr(deployment.settings, "retrieve_first_page", 1)
    return first


def _guardrail(deployment: Deployment) -> Guardrail | None:
    """Guarded is who shows something to people, not who looks whether something is found."""
    guardrail: Guardrail | None = getattr(deployment.settings, "guardrail", None)
    return guardrail
