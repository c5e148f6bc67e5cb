"""What an agent reads of its knowledge bases from the environment."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from stackroom.stores.linked_knowledge_bases import AnyLinkedSettings, linked_settings
from stackroom.wiring.function_settings import FittingSettings


def flag(on: str) -> BeforeValidator:
    """A variable that has this value, or is empty."""

    def read(value: Any) -> bool:
        if value not in (True, False, on, ""):
            raise ValueError(f"allowed: {on!r}, or empty")
        return value in (True, on)

    return BeforeValidator(read)


class KnowledgeBaseSettings(FittingSettings):
    """KNOWLEDGE_BASES_CONFIG is looked at by `knowledge_bases`, in words that name its entries."""

    knowledge_bases_config: str = ""
    enable_observability: Annotated[bool, flag("true")] = False

    @property
    def knowledge_bases(self) -> tuple[AnyLinkedSettings, ...]:
        """
        None without the variable, or where it is empty.

        Raises LinkedKnowledgeBasesInvalid (a ValueError), whose parts name entry and field.
        """
        text = self.knowledge_bases_config
        return linked_settings(text) if text.strip() else ()
