"""
The events of each user, in the control table, and again by document.

    item        pk                                sk
    event       EVENTS#<user_id>                  <number>, 16 digits       event (JSON), event_id,
                                                                            expires_at (TTL)
    history     EVENTS#<user_id>#<document_id>    <time>#<version>#<id>     event, expires_at

    the newest            Query, backwards, consistent, in small pages for their ids
    those after one       Query, consistent
    those of a document   Query, backwards, consistent
    add one               PutItem of its history, whatever stands there, so that a repetition after
                          a crash adds nothing; then PutItem, unless its number is taken
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from stackroom.aws.dynamodb.items import instant, readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.catalogs.changes import DeletionChanged, DocumentChanged, Event
from stackroom.catalogs.event_log import LogEntry, Numbered

_AFTER_ALL = 10**10 - 1  # versions: a deletion follows the document's last change
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
        kept = {
            "event": json.dumps(event.to_json(), ensure_ascii=False),
            "expires_at": int(until.timestamp()),
        }
        if isinstance(event.detail, DocumentChanged | DeletionChanged):
            history = _history_of(user_id, event.detail.document_id)
            self._keep(to_item({"pk": history, "sk": _place(event, event.detail), **kept}))
        values = {"pk": _log_of(user_id), "sk": _digits(numbered.number), "event_id": event.id}
        return self._put(to_item(values | kept), condition="attribute_not_exists(pk)")

    def after(self, user_id: str, number: int) -> Iterator[Numbered]:
        found = self._query(
            "pk = :pk AND sk > :after", {":pk": _log_of(user_id), ":after": _digits(number)}
        )
        return readable(found, _numbered)

    def of_document(self, user_id: str, document_id: str) -> Iterator[Event]:
        history = _history_of(user_id, document_id)
        return readable(self._partition(history, ScanIndexForward=False), _event)


def _numbered(item: Mapping[str, Any]) -> Numbered:
    return Numbered(int(item["sk"]), _event(item))


def _event(item: Mapping[str, Any]) -> Event:
    return Event.model_validate_json(item["event"])


def _log_of(user_id: str) -> str:
    return f"EVENTS#{user_id}"


def _history_of(user_id: str, document_id: str) -> str:
    """
    Return the key of a document's history. User ids have no `#` (documents/keys.py), so that
    nobody's log is another's history.
    """
    return f"{_log_of(user_id)}#{document_id}"


def _place(event: Event, detail: DocumentChanged | DeletionChanged) -> str:
    """
    Return the event's place in the history. Streams report times in seconds: within one, changes
    are in the order of versions.
    """
    version = detail.version if isinstance(detail, DocumentChanged) else _AFTER_ALL
    return f"{instant(event.time)}#{version:010}#{event.id}"


def _digits(number: int) -> str:
    return f"{number:016}"
