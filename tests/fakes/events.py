"""The events of each user, in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.catalogs.changes import Event
from stackroom.catalogs.event_log import LogEntry, Numbered


@dataclass
class FakeEvents:
    kept: dict[tuple[str, int], tuple[Numbered, datetime]] = field(default_factory=dict)

    def newest_first(self, user_id: str) -> Iterator[LogEntry]:
        found = [
            LogEntry(number, each.event.id, until)
            for (owner, number), (each, until) in self.kept.items()
            if owner == user_id
        ]
        return iter(sorted(found, reverse=True))

    def add(self, user_id: str, numbered: Numbered, *, until: datetime) -> bool:
        if (user_id, numbered.number) in self.kept:
            return False
        self.kept[user_id, numbered.number] = (numbered, until)
        return True

    def after(self, user_id: str, number: int) -> Iterator[Numbered]:
        found = [each for (owner, _), (each, _) in self.kept.items() if owner == user_id]
        return iter(sorted(each for each in found if each.number > number))

    def of_document(self, user_id: str, document_id: str) -> Iterator[Event]:
        found = {
            each.event.id: each.event
            for each in self.after(user_id, 0)
            if getattr(each.event.detail, "document_id", None) == document_id
        }
        return iter(sorted(found.values(), key=_moment, reverse=True))


def _moment(event: Event) -> tuple[datetime, int]:
    return event.time, getattr(event.detail, "version", 10**10)
