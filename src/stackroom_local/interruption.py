"""
Messages that a stop caught while a function had them, made visible again before the next start.

On AWS queues never stop: a message whose consumer died comes back after the visibility timeout, six
times the function's. Here that would be six minutes after `make up` in which a dropped file seems
lost. ministack keeps its queues in a file, which nobody else has open while it is down.
"""

import json
from pathlib import Path
from typing import Any


def release_messages(queues_file: Path) -> int:
    """How many were released. ministack 1.5.33 writes the file; a new version needs a look here."""
    try:
        state: dict[str, Any] = json.loads(queues_file.read_bytes())
    except FileNotFoundError:
        return 0  # never stopped before
    released = 0
    for queue in state["payload"]["queues"]["data"].values():
        for message in queue["messages"]:
            if message["visible_at"] and message["receive_count"]:
                message["visible_at"] = 0
                message["receive_count"] -= 1  # the stop is no failure of its consumer
                released += 1
    if released:
        draft = queues_file.with_suffix(".new")
        draft.write_text(json.dumps(state))
        draft.replace(queues_file)
    return released
