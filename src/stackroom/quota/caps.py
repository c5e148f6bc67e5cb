"""
How much one user may have, by the operator's word: caps for a user, or for all who have none.

Pure, with the port of where they are kept. What is over a cap is held back where a round takes up
work (stackroom.ingestion.user_caps).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any, Protocol, Self

from pydantic import Field, NonNegativeInt

from stackroom.documents.model import CapKind, Catalog, Document, Record

EVERYBODY = "*"  # whose caps hold for who has none of their own; no user id


class Caps(Record):
    """Of one user; what is None has no end."""

    documents: NonNegativeInt | None = None
    bytes: NonNegativeInt | None = None
    dollars: Annotated[Decimal, Field(ge=0)] | None = None  # a month

    def over(self, used: "InUse") -> CapKind | None:
        """Which cap so much is over, if any; of dollars none is left once they are spent."""
        if self.dollars is not None and used.dollars >= self.dollars:
            return CapKind.DOLLARS
        if self.documents is not None and used.documents > self.documents:
            return CapKind.DOCUMENTS
        if self.bytes is not None and used.size > self.bytes:
            return CapKind.BYTES
        return None

    def told(self, kind: CapKind, used: "InUse", *, with_all: bool = False) -> str:
        """
        Why a document waits over that cap, where so much is used; `with_all` that would come with
        it at once.
        """
        if kind is CapKind.DOLLARS:
            digits = 2 if self.dollars and self.dollars >= 1 else 6
            return (
                f"waits: ${used.dollars:,.{digits}f} of ${self.dollars:,.{digits}f} a month; until"
                f" {used.next_month} or the operator raises the cap"
            )
        if kind is CapKind.BYTES:
            cap, there = self.bytes or 0, used.size
        else:
            cap, there = self.documents or 0, used.documents
            if not with_all:
                # Others that are over it may not have been held back yet, and wait as well.
                there = max(min(there, cap), there - used.waiting)
        at_once = ", with all that its catalog takes up at once" if with_all else ""
        return (
            f"waits: {there:,} of {cap:,} {kind}{at_once}; until some are deleted or the operator"
            " raises the cap"
        )


class CapBook(Protocol):
    def all(self) -> Mapping[str, Caps]:
        """By user, and of EVERYBODY; read consistently."""

    def keep(self, user_id: str, caps: Caps) -> None:
        """In place of those that were kept for them."""

    def remove(self, user_id: str) -> None:
        """Also where there are none."""


def caps_of(user_id: str, book: Mapping[str, Caps]) -> Caps | None:
    """A user's own stand in place of everybody's."""
    return book.get(user_id, book.get(EVERYBODY))


@dataclass(frozen=True, kw_only=True)
class InUse:
    """
    What counts against a user's caps, in documents and bytes: all that their catalogs count, but
    for what waits over a cap and was never indexed. `waiting` of them have yet to be indexed.
    `dollars` are those of the month, for who has a cap on them; `next_month` begins the next.
    """

    documents: int = 0
    size: int = 0
    waiting: int = 0
    dollars: float = 0.0
    next_month: str = ""

    @classmethod
    def of(cls, catalogs: Iterable[Catalog], **spent: Any) -> Self:
        counted = list(catalogs)
        return cls(
            documents=sum(each.document_count - each.over_new_count for each in counted),
            size=sum(each.total_bytes - each.over_new_bytes for each in counted),
            waiting=sum(each.waiting_count for each in counted),
            **spent,
        )

    def with_all(self, catalog: Catalog) -> "InUse":
        """With all that is held back in the catalog."""
        return replace(
            self,
            documents=self.documents + catalog.over_new_count,
            size=self.size + catalog.over_new_bytes,
            waiting=self.waiting + catalog.over_new_count,
        )

    def after(self, document: Document, *, is_held: bool) -> "InUse":
        """With the document held back, or let go. An earlier version keeps its place."""
        if document.indexed_at is not None:
            return self
        by = -1 if is_held else 1
        return replace(
            self,
            documents=self.documents + by,
            size=self.size + by * document.size,
            waiting=self.waiting + by,
        )
