"""Receipts of removals, kept for whoever asked for them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

from stackroom.model import Receipt
from stackroom.ports.documents import Page


class Receipts(Protocol):
    def get(self, user_id: str, receipt_id: str) -> Receipt | None: ...

    def keep(self, receipt: Receipt) -> None:
        """As it is now; but one that is closed stays as it was closed, whoever comes later."""
        ...

    def of_user(self, user_id: str) -> Iterator[Receipt]:
        """The newest first."""
        ...

    def reopen(self, receipt: Receipt, *, at: datetime) -> None:
        """Its document was found at that moment. Raises RecordChanged if it isn't as it was."""
        ...


class OpenReceipts(Protocol):
    def open_ones(self, *, limit: int) -> list[Receipt]:
        """
        Everybody's whose proof is awaited, asked for longest ago first, as they were a moment ago.
        """
        ...


class ProvenReceipts(Receipts, Protocol):
    def proven(self, cursor: str | None) -> Page[Receipt]:
        """Everybody's that a search has closed, the latest first, until they are let go of."""
        ...

    def let_go(self, receipt: Receipt) -> None:
        """It has been looked at for the last time."""
        ...
