"""Tests of the tool that lists a user's events, as the gateway calls it."""

from stackroom.aws import session
from stackroom.aws.dynamodb.event_records import DynamoEvents
from stackroom.catalogs.changes import Stated, change_of
from stackroom.catalogs.event_log import EventLog
from stackroom.model.records import DocumentStatus
from tests.aws.stores import CONTROL_TABLE
from tests.functions.tools import Tools, text_of
from tests.support.records import NOW, a_catalog, a_document


def happen(tools: Tools, *states: Stated, user_id: str = "alice") -> None:
    book = DynamoEvents(client=session.client("dynamodb"), table=CONTROL_TABLE)
    log = EventLog(book=book)
    events = [change_of(None, each, event_id=f"{user_id}-{each!r}", at=NOW) for each in states]
    log.append(user_id, [each for each in events if each])


def test_events_are_listed_oldest_first_in_pages(tools: Tools) -> None:
    failed = a_document(status=DocumentStatus.FAILED, status_reason="it has no text")
    happen(tools, a_catalog(), failed)

    listed = tools.call("list_events", limit=1)
    rest = tools.call("list_events", after=listed["metadata"]["next_after"])
    none = tools.call("list_events", after=rest["metadata"]["next_after"])

    [opened], [broken] = listed["metadata"]["events"], rest["metadata"]["events"]
    assert opened["detail-type"] == "Catalog State Changed"
    assert broken["detail"]["reason"] == "it has no text"
    assert broken["sequence"] == opened["sequence"] + 1 == rest["metadata"]["next_after"]
    assert text_of(rest) == (
        "Found 1 event:\n- 2026-02-03 10:30 UTC, document 'Résumé 1.pdf' (doc-0001): failed:"
        " it has no text\n"
        f"For what comes after them: call list_events with after {broken['sequence']}."
    )
    assert none["metadata"]["events"] == []
    assert none["metadata"]["next_after"] == broken["sequence"]
