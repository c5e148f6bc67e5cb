"""
The composition of a search over linked knowledge bases, for whoever runs an agent.

    linked_retrieval(linked_settings(os.environ["KNOWLEDGE_BASES_CONFIG"]), session.client)

Another store is an adapter of `ports.retrieval.KnowledgeBase` and a line in the table; its name
stands in linked_entries.STORES.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stackroom.aws.knowledge_base import BedrockKnowledgeBase
from stackroom.aws.linked_entries import STORES, LinkedSettings
from stackroom.retrieval.linked import LinkedKnowledgeBase, LinkedRetrieval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from stackroom.aws.linked_settings import AnyLinkedSettings
    from stackroom.ports.retrieval import KnowledgeBase

    Clients = Callable[[str], Any]


def linked_retrieval(
    settings: Iterable[AnyLinkedSettings], client: Clients, *, max_tokens: int = 4000
) -> LinkedRetrieval:
    """Of those that have no tool of their own; `client` makes a service's boto3 client."""
    return LinkedRetrieval(
        linked=tuple(
            _linked(each, client) for each in settings if isinstance(each, LinkedSettings)
        ),
        max_tokens=max_tokens,
    )


def _linked(settings: LinkedSettings, client: Clients) -> LinkedKnowledgeBase:
    return LinkedKnowledgeBase(
        knowledge_base_id=settings.knowledge_base_id,
        knowledge_base=_STORES[settings.vector_store_type](settings, client),
        limit=settings.number_of_results,
        min_score=settings.min_score,
        groups_in=settings.groups_in,
    )


def _by_retrieve(settings: LinkedSettings, client: Clients) -> KnowledgeBase:
    return BedrockKnowledgeBase(
        client("bedrock-agent-runtime"),
        settings.knowledge_base_id,
        guardrail=settings.guardrail,
        options=settings.options,
    )


_STORES: Mapping[str, Callable[[LinkedSettings, Clients], KnowledgeBase]] = dict.fromkeys(
    STORES, _by_retrieve
)
