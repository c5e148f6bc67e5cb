"""
Caps that an operator sets for a user, or for all users without caps of their own.

Pure rules, and the port of the records. A round leaves documents that exceed a cap waiting
(stackroom.runs.user_caps).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Protocol, Self

from pydantic import AwareDatetime, Field, NonNegativeInt

from stackroom.model.records import CapKind, Catalog, Document, Record
from stackroom.model.usage import month_of

_DIGITS = 6  # behind the point of dollars
EVERYBODY = "*"  # whose caps hold for who has none of their own; no user id


class Caps(Record):
    """The caps of one user; None means unlimited."""

    documents: NonNegativeInt | None = None
    bytes: NonNegativeInt | None = None
    dollars: Annotated[Decimal, Field(ge=0)] | None = None  # a month

    def over(self, used: "InUse") -> CapKind | None:
        """Return the cap that is exceeded, if any; the dollar cap is exceeded once it is spent."""
        if self.dollars is not None and used.dollars >= self.dollars:
            return CapKind.DOLLARS
        if self.documents is not None and used.documents > self.documents:
            return CapKind.DOCUMENTS
        if self.bytes is not None and used.size > self.bytes:
            return CapKind.BYTES
        return None

    def shares(self, used: "InUse") -> Iterator[tuple[CapKind, Decimal, Decimal]]:
        """Yield, for each cap, what is used and the cap."""
        documents = used.documents if self.documents is None else used.placed(self.documents)
        counts = (Decimal(documents), Decimal(used.size), Decimal(used.dollars))
        limits = (self.documents, self.bytes, self.dollars)
        for kind, there, limit in zip(CapKind, counts, limits, strict=True):
            if limit is not None:
                yield kind, there, Decimal(limit)

    def waiting_reason(self, kind: CapKind, used: "InUse", *, size: int | None) -> str:
        """
        Return why a document of that size waits for that cap. Without a size, it is one of several
        that its catalog would send together.
        """
        if kind is CapKind.DOLLARS:
            limit = self.dollars or Decimal()
            spent, whole = (format_dollars(each, limit) for each in (used.dollars, limit))
            return (
                f"Over the monthly cap ({spent} of {whole})."
                f" Wait until {used.next_month}, or ask an operator to raise it."
            )
        if kind is CapKind.BYTES:
            cap, there = self.bytes or 0, used.size
            if size is not None and size > cap:
                return f"Larger than the cap of {cap:,} bytes. Ask an operator to raise it."
        else:
            cap, there = self.documents or 0, used.documents
            there = there if size is None else used.placed(cap)
        what = "document" if kind is CapKind.DOCUMENTS else "byte"
        together = " with its whole catalog" if size is None else ""
        return (
            f"Over the {what} cap{together} ({there:,} of {cap:,}). Delete some, or ask an operator"
            " to raise it."
        )


def format_dollars(count: float | Decimal, cap: Decimal) -> str:
    """Return dollars as text, with as many digits as the cap needs."""
    return f"${count:,.{2 if cap >= 1 else _DIGITS}f}"


class CapReached(Record):
    """An event: a user has reached a percentage of a cap. `dollars` are as shown to people."""

    user_id: str
    month: str
    cap: CapKind
    percent: int
    used: Decimal
    limit: Decimal
    at: AwareDatetime


class CapBook(Protocol):
    def all(self) -> Mapping[str, Caps]:
        """Return the caps by user, and of EVERYBODY, with a consistent read."""

    def keep(self, user_id: str, caps: Caps) -> None:
        """Replace the user's caps."""

    def remove(self, user_id: str) -> None:
        """Remove the user's caps, if there are any."""

    def note(self, reached: CapReached) -> None:
        """Save the event once for a user, month, cap and percentage; an earlier one stays."""


def caps_of(user_id: str, book: Mapping[str, Caps]) -> Caps | None:
    """Return a user's own caps, or else those of EVERYBODY."""
    return book.get(user_id, book.get(EVERYBODY))


@dataclass(frozen=True, kw_only=True)
class InUse:
    """
    The use that counts against a user's caps in documents and bytes: all that their catalogs count,
    except documents over a cap that were never indexed. `waiting` of them have yet to be indexed.
    `dollars` are those of the month, if there is a cap on them; `next_month` begins the next.
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

    def placed(self, cap: int) -> int:
        """Return the documents without those over the cap that are not held back yet."""
        return max(min(self.documents, cap), self.documents - self.waiting)

    def with_all(self, catalog: Catalog) -> "InUse":
        """Return the use including all documents of the catalog that are held back."""
        return replace(
            self,
            documents=self.documents + catalog.over_new_count,
            size=self.size + catalog.over_new_bytes,
            waiting=self.waiting + catalog.over_new_count,
        )

    def after(self, document: Document, *, is_held: bool) -> "InUse":
        """Return the use after the document is held back or released. An earlier version counts."""
        if document.indexed_at is not None:
            return self
        by = -1 if is_held else 1
        return replace(
            self,
            documents=self.documents + by,
            size=self.size + by * document.size,
            waiting=self.waiting + by,
        )


PERCENTS = (80, 100)
_KEPT = 10_000  # of a process; what it forgets is looked for in the book again


@dataclass(frozen=True, kw_only=True)
class CapWatch:
    """Saves an event (stackroom.catalogs) when a user reaches a percentage of a cap."""

    book: CapBook
    noted: set[tuple[str, str, CapKind, int]] = field(default_factory=set)

    def check(
        self, user_id: str, caps: Caps, used: InUse, *, at: datetime, over: CapKind | None = None
    ) -> None:
        """Compare use with caps. `over` is the cap for which a document waits; it is reached."""
        for kind, there, limit in caps.shares(used):
            for percent in PERCENTS:
                key = (user_id, month := month_of(at), kind, percent)
                is_over = kind is over and percent == max(PERCENTS)
                if (100 * there < percent * limit and not is_over) or key in self.noted:
                    continue
                self.book.note(
                    CapReached(
                        user_id=user_id,
                        month=month,
                        cap=kind,
                        percent=percent,
                        used=round(there, _DIGITS),
                        limit=limit,
                        at=at,
                    )
                )
                if len(self.noted) >= _KEPT:
                    self.noted.clear()
                self.noted.add(key)
