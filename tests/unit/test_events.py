import json

import pytest

from stackroom.errors import MalformedEvent
from stackroom.uploads.events import object_event

EVENT = {
    "id": "event-1",
    "detail-type": "Object Created",
    "detail": {
        "bucket": {"name": "docs"},
        "object": {"key": "alice/a b+c%20.pdf", "sequencer": "1"},
    },
}


def test_an_events_key_is_taken_as_it_is() -> None:
    event = object_event(json.dumps(EVENT))

    assert event.key == "alice/a b+c%20.pdf"
    assert event.correlation_id == "event-1"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("no json", "body"),
        ("[]", "body"),
        (json.dumps({**EVENT, "detail": {"bucket": {"name": "docs"}}}), "detail.object"),
        (json.dumps({**EVENT, "id": ""}), "id"),
    ],
)
def test_a_malformed_event_is_refused_and_says_where(body: str, named: str) -> None:
    with pytest.raises(MalformedEvent, match=named):
        object_event(body)
