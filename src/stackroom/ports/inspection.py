"""What our own inspection found out about files."""

from collections.abc import Iterable
from typing import Protocol

from stackroom.model import Document


class InspectionResults(Protocol):
    """What our own inspection found wrong with a file, for Bedrock promises no reasons."""

    def results_for(self, documents: Iterable[Document]) -> dict[str, str | None]:
        """
        By document id, of those of which this very version was inspected: what is wrong with it, or
        None. Of sound files those are told that may have places (stackroom.formats).
        """
        ...


class InspectionRequests(Protocol):
    def ask(self, key: str) -> None:
        """Have the file that lies there inspected; safe to repeat."""
        ...
