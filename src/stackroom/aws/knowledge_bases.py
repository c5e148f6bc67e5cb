"""
Every kind of knowledge base that a pool may have, by the `type` of its members in KB_POOL.

Another store is an adapter for `ports.retrieval.KnowledgeBase`, a function here that makes it of a
member and what the deployment has, and a line in the table. An adapter is imported when its first
knowledge base is made, for a pool rarely has more than one kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stackroom.model import PoolMember

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stackroom.aws.deployment import Deployment
    from stackroom.ports.retrieval import KnowledgeBase


def _bedrock(deployment: Deployment, member: PoolMember) -> KnowledgeBase:
    from stackroom.aws.knowledge_base import BedrockKnowledgeBase

    return BedrockKnowledgeBase(
        deployment.client("bedrock-agent-runtime"),
        member.knowledge_base_id,
        # Pages are for those who ask; whoever only looks whether something is found reads none.
        first_page=getattr(deployment.settings, "retrieve_first_page", 1),
    )


TYPES: Mapping[str, Callable[[Deployment, PoolMember], KnowledgeBase]] = {"BEDROCK": _bedrock}


def of_pool(deployment: Deployment, knowledge_base_id: str) -> KnowledgeBase:
    for member in deployment.pool:
        if member.knowledge_base_id == knowledge_base_id:
            return TYPES[member.type](deployment, member)
    # A catalog may lie in one that has left the pool; nobody asks for its shared data source.
    left = PoolMember(knowledge_base_id=knowledge_base_id, data_source_id="")
    return TYPES[left.type](deployment, left)
