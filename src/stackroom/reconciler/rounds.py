"""
Full rounds of the reconciler: how far one has come, and when the next is due.

A full round reads all there is, which may take many invocations. The next is due as long after the
last as ten of them take, and an hour after it at the least: a small deployment is compared every
hour, and one of millions spends a tenth of its time on it.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from pydantic import AwareDatetime, Field

from stackroom.model import Record
from stackroom.ports.documents import Page
from stackroom.ports.inventory import Bookmark, Inventory

BETWEEN = timedelta(hours=1)
_SHARE = 10
_CALLS = {"objects": "objects", "records": "records", "indexed": "listed documents"}


class Round(Record):
    """
    When it began and ended, and what has been read since, by what it is; some of it is read more
    than once.
    """

    began: AwareDatetime
    ended: AwareDatetime | None = None
    read: dict[str, int] = Field(default_factory=dict)

    def with_read(self, more: Counter[str]) -> "Round":
        return self.model_copy(update={"read": dict(Counter(self.read) + more)})

    def is_next_due(self, at: datetime) -> bool:
        if self.ended is None:
            return True
        return at - self.ended >= max(BETWEEN, _SHARE * (self.ended - self.began))

    def __str__(self) -> str:
        told = ", ".join(f"{count:,} {what}" for what, count in self.read.items())
        return told or "nothing"


@dataclass
class HeldBookmark:
    """A `Bookmark` for one reconciliation, which nobody else goes on with."""

    cursor: str | None = None

    def read(self) -> str | None:
        return self.cursor

    def keep(self, cursor: str | None) -> None:
        self.cursor = cursor


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """Kept beside the bookmark: the round that is under way, or the last."""

    kept: Bookmark

    def latest(self) -> Round | None:
        kept = self.kept.read()
        return Round.model_validate_json(kept) if kept is not None else None

    def keep(self, latest: Round) -> None:
        self.kept.keep(latest.model_dump_json())


@dataclass(kw_only=True)
class Tally:
    """What has been read through an inventory, by what it is."""

    read: Counter[str] = field(default_factory=Counter)

    def of(self, inventory: Inventory) -> Inventory:
        return cast(Inventory, _Tallied(inventory, self))


@dataclass(frozen=True)
class _Tallied:
    _port: Inventory
    _tally: Tally

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if name not in _CALLS:
            return method

        def tallied(*given: Any, **named: Any) -> Any:
            page: Page[Any] | None = method(*given, **named)
            self._tally.read[_CALLS[name]] += len(page.items) if page is not None else 0
            return page

        return tallied
