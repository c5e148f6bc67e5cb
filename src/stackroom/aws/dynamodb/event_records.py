"""
The events of each user, in the control table.

    item     pk                  sk
    event    EVENTS#<user_id>    <number>, 16 digits    event (JSON), event_id, expires_at (TTL)

    the newest            Query, backwards, consistent, in small pages for their ids
    those after one       Query, consistent
    add one               PutItem, unless its number is taken
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from stackroom.aws.dynamodb.items import readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.catalogs.changes import Event
from stackroom.catalogs.event_log import LogEntry, Numbered

PAGE = 10  # events, of which few are looked at as a rule: 3.5 read units


class DynamoEvents(DynamoTable):
    def newest_first(self, user_id: str) -> Iterator[LogEntry]:
        for each in self._partition(_log_of(user_id), ScanIndexForward=False, Limit=PAGE):
            yield LogEntry(
                number=int(each["sk"]),
                event_id=each["event_id"],
                until=datetime.fromtimestamp(int(each["expires_at"]), UTC),
            )

    def add(self, user_id: str, numbered: Numbered, *, until: datetime) -> bool:
        event = numbered.event
        values = {
            "pk": _log_of(user_id),
            "sk": _digits(numbered.number),
            "event": json.dumps(event.told(), ensure_ascii=False),
            "event_id": event.id,
            "expires_at": int(until.timestamp()),
        }
        return self._put(to_item(values), condition="attribute_not_exists(pk)")

    def after(self, user_id: str, number: int) -> Iterator[Numbered]:
        found = self._query(
            "pk = :pk AND sk > :after", {":pk": _log_of(user_id), ":after": _digits(number)}
        )
        return readable(found, _numbered)

    def latest(self, user_id: str) -> Iterator[Numbered]:
        return readable(self._partition(_log_of(user_id), ScanIndexForward=False), _numbered)


def _numbered(item: Mapping[str, Any]) -> Numbered:
    return Numbered(int(item["sk"]), Event.model_validate_json(item["event"]))


def _log_of(user_id: str) -> str:
    return f"EVENTS#{user_id}"


def _digits(number: int) -> str:
    return f"{number:016}"
