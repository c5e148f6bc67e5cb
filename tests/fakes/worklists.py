"""Worklists in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from stackroom.runs.lease import WorklistEntry
from tests.fakes.disturbed import Disturbed


@dataclass
class FakeWorklists(Disturbed):
    """By worklist and catalog, the stamp."""

    kept: dict[str, dict[str, str]] = field(default_factory=dict)
    _stamps: "count[int]" = field(default_factory=count)

    def add(self, worklist_id: str, catalog_id: str) -> None:
        self.kept.setdefault(worklist_id, {})[catalog_id] = str(next(self._stamps))

    def entries(
        self, worklist_id: str, *, after: str | None = None, limit: int
    ) -> Iterator[WorklistEntry]:
        listed = sorted(self.kept.get(worklist_id, {}).items())
        return iter(
            [
                WorklistEntry(catalog_id=catalog_id, stamp=stamp)
                for catalog_id, stamp in listed
                if after is None or catalog_id > after
            ][:limit]
        )

    def drop(self, worklist_id: str, entry: WorklistEntry) -> bool:
        kept = self.kept.get(worklist_id, {})
        if kept.get(entry.catalog_id, entry.stamp) != entry.stamp:
            return False
        kept.pop(entry.catalog_id, None)
        return True
