"""Which catalogs of a shared data source have open documents."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Entry:
    """`stamp` is another one each time that somebody asks for the catalog."""

    catalog_id: str
    stamp: str


class Worklists(Protocol):
    def add(self, worklist_id: str, catalog_id: str) -> None:
        """Let it be looked at; safe to repeat, and news each time."""
        ...

    def entries(self, worklist_id: str, *, after: str | None = None, limit: int) -> Iterator[Entry]:
        """At most so many, by catalog id, those after that one; read consistently."""
        ...

    def drop(self, worklist_id: str, entry: Entry) -> bool:
        """Unless somebody has asked for the catalog since the entry was read."""
        ...
