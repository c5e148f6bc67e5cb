"""The interface of a store's world, and the troubles that it can be told to have."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Protocol

from stackroom.model.passages import KnowledgeBase
from tests.contract.stores.document_sets import DocumentSet


class Trouble(StrEnum):
    """A trouble of every call to the store while it lasts."""

    THROTTLED = "throttled"
    DOWN = "down"
    EXPIRED = "expired credentials"
    NOT_JSON = "no JSON"
    EMPTY = "an empty answer"  # without the members that it must have
    LATE = "late"  # no answer comes while it lasts, to no call of any kind


class Ranks(Enum):
    BY_MEANING = auto()
    BY_WORDS = auto()
    BY_BOTH = auto()


@dataclass(frozen=True, kw_only=True)
class Store:
    """
    Facts about a store before its world is started, so that tests know which stores they are for.

    `fixture` gives the world. `is_variant` of a client that another store here has already: it
    keeps the promises that it could break by itself, nobody else's data first. `score_of` makes of
    a cosine what is shown: the store's documented distance, as a score from 0 to 1; None where
    passages are not scored by meaning. `dimensions` are those of its vectors. `is_process`
    says that its stand-in is a process or a server of its own: its tests have the marker
    `processes`, which `make quick` leaves out, and its deadlines are tested.
    """

    fixture: str
    ranks: Ranks
    troubles: frozenset[Trouble]
    score_of: Callable[[float], float] | None = None
    dimensions: int = 1024
    is_process: bool = True
    is_variant: bool = False


class World(Protocol):
    """A store with a stand-in of its own, filled once for each document set."""

    @property
    def calls(self) -> int:
        """How many have come to the stand-in, of any kind: a page is one, an embedding is one."""
        ...

    def holding(self, document_set: DocumentSet) -> KnowledgeBase:
        """
        All documents of the document set, and no other, and all of them are found already.

        The same adapter however often it is asked for, as one instance of a function has it.
        """
        ...

    def in_trouble(self, trouble: Trouble) -> AbstractContextManager[None]:
        """Afterwards all is well again, at once, for adapters that were made before, too."""
        ...


def clipped(cosine: float) -> float:
    """The score of a store that shows cosines as they are, but none below nought."""
    return min(1.0, max(0.0, cosine))
