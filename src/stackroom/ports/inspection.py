"""What our own inspection found out about files."""

from collections.abc import Iterable
from typing import Protocol

from stackroom.model import Document


class InspectionResults(Protocol):
    """What our own inspection found wrong with a file, for Bedrock promises no reasons."""

    def reasons_for(self, documents: Iterable[Document]) -> dict[str, str]:
        """By document id, for those of which this very version is found wanting."""
        ...
