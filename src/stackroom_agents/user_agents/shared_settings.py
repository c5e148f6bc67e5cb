"""The knowledge bases that every user's agents may be linked to."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BeforeValidator, InstanceOf

from stackroom.app.function_settings import Settings
from stackroom_agents.user_agents.agent import DEFAULT_LEAST_SCORE
from stackroom_agents.user_agents.available_knowledge_bases import AvailableKnowledgeBase
from stackroom_stores.entries import LinkedSettings, ToolsOwnSettings
from stackroom_stores.linked_knowledge_bases import AnyLinkedSettings, linked_settings


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return linked_settings(value) if value.strip() else ()


class SharedSettings(Settings):
    """The settings with KNOWLEDGE_BASES_CONFIG, which may be missing."""

    knowledge_bases_config: Annotated[
        tuple[InstanceOf[LinkedSettings] | InstanceOf[ToolsOwnSettings], ...],
        BeforeValidator(_read),
    ] = ()


def shared_of(configured: Iterable[AnyLinkedSettings]) -> tuple[AvailableKnowledgeBase, ...]:
    """Return the entries of KNOWLEDGE_BASES_CONFIG that the one retrieval tool serves."""
    return tuple(
        AvailableKnowledgeBase(
            id=each.knowledge_base_id,
            name=each.name,
            description=each.description,
            least_score=DEFAULT_LEAST_SCORE if each.min_score is None else each.min_score,
        )
        for each in configured
        if isinstance(each, LinkedSettings)
    )
