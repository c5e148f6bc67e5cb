"""
The account's default bus, which costs nothing by itself: others' rules choose what they receive.

EventBridge gives each event an id of its own; ours is in the detail, the same if it is sent twice.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from stackroom.aws.error_mapping import store_errors
from stackroom.catalogs.changes import Event


@dataclass(frozen=True, kw_only=True)
class DefaultEventBus:
    client: Any

    def put(self, events: Sequence[Event]) -> int:
        with store_errors():
            answer = self.client.put_events(
                Entries=[
                    {
                        "Source": each.source,
                        "DetailType": each.detail_type,
                        "Time": each.time,
                        "Detail": json.dumps(each.to_json()["detail"]),
                    }
                    for each in events
                ]
            )
        # Both are optional in the API model; an answer that leaves them out tells of none taken.
        entries = answer.get("Entries", ())
        return sum(1 for _ in takewhile(lambda each: "ErrorCode" not in each, entries))
