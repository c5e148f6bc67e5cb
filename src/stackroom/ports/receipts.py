"""Receipts of removals, kept for whoever asked for them."""

from collections.abc import Iterator
from typing import Protocol

from stackroom.model import Receipt


class Receipts(Protocol):
    def get(self, user_id: str, receipt_id: str) -> Receipt | None: ...

    def keep(self, receipt: Receipt) -> None:
        """As it is now; but one that is closed stays as it was closed, whoever comes later."""
        ...

    def of_user(self, user_id: str) -> Iterator[Receipt]:
        """The newest first."""
        ...


class OpenReceipts(Protocol):
    def open_ones(self, *, limit: int) -> list[Receipt]:
        """
        Everybody's whose proof is awaited, asked for longest ago first, as they were a moment ago.
        """
        ...
