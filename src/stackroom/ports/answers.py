"""Answers that a language model writes from passages it is given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Mark:
    """
    What the text that ends at `end`, a position in the whole answer, was written from.

    `numbers` are those of passages, counted from 1 in the order in which the writer got them.
    """

    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Written:
    """
    The text has no marks in it; they are in the order of their positions.

    `guardrail_action` is INTERVENED if a guardrail wrote or changed the text, else NONE.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    guardrail_action: str = "NONE"


class Writer(Protocol):
    """A language model that answers from passages. It must be safe to call from several threads."""

    def write(self, question: str, passages: Sequence[str]) -> Written:
        """
        An answer from these passages; it cites none but these.

        Passages are quoted data, whatever they ask for. There must be at least one.

        Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable.
        """
        ...
