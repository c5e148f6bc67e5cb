"""The passages that a knowledge base searches, as the simulator's other parts use them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

from bedrock_kb_simulator.embedding import Vector
from bedrock_kb_simulator.filters import Sought
from bedrock_kb_simulator.indexes import Index
from bedrock_kb_simulator.memory_index import Owner
from bedrock_kb_simulator.objects import Value


@dataclass(frozen=True, kw_only=True)
class Passage:
    """`parent` is the text that is shown in place of its own: rule chunk.parents."""

    key: str
    text: str
    vector: Vector
    parent: str | None = None


@dataclass(frozen=True, kw_only=True)
class Hit:
    key: str
    text: str
    score: float
    owner: Owner
    attributes: dict[str, Value]
    is_parent: bool = False

    @property
    def shown_as(self) -> tuple[Owner, str]:
        """What only one result of a search has: a parent's text in its document, else the key."""
        return (self.owner, self.text if self.is_parent else self.key)


def new_key() -> str:
    """A chunk's id, as Bedrock gives one."""
    return str(uuid4())


class Vectors(Protocol):
    """The passages of every knowledge base; an owner is a document of a data source."""

    def replace(
        self,
        knowledge_base_id: str,
        owner: Owner,
        *,
        index: Index,
        passages: Sequence[Passage],
        attributes: dict[str, Value],
        late: float = 0.0,
    ) -> None:
        """
        A document's passages, all at once, so many seconds `late` (rule retrieve.filtered-lag);
        those before stay findable until these are.
        """
        ...

    def describe(self, knowledge_base_id: str, owner: Owner, attributes: dict[str, Value]) -> None:
        """New attributes for a document whose passages stay."""
        ...

    def texts(self, owner: Owner) -> dict[str, tuple[str, str | None]]:
        """The texts of a document's current passages and of their parents, by key."""
        ...

    def remove(self, knowledge_base_id: str, owner: Owner) -> None:
        """At once: S3 Vectors is strongly consistent."""
        ...

    def remove_data_source(self, knowledge_base_id: str, data_source_id: str) -> None: ...

    def disown(self, knowledge_base_id: str, data_source_id: str) -> None:
        """Deletion policy RETAIN: still in the index, no longer in the knowledge base."""
        ...

    def forget_index(self, arn: str) -> None: ...

    def search(
        self, knowledge_base_id: str, query: Vector, limit: int, sought: Sought
    ) -> list[Hit]:
        """
        The nearest visible passages of accepted documents; the score is the cosine, 0 to 1.

        Parents take the place of their children, each once: rule chunk.parents.
        """
        ...
