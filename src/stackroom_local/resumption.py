"""
What ministack kept, made fit for the next start while nobody has its files open.

Written for the files of ministack 1.5.33; a new version needs a look here.
"""

import json
import re
from pathlib import Path
from typing import Any

_OWN_URL = re.compile(rb"http://localhost:\d+/")


def resume(kept: Path, port: int) -> None:
    """`kept` is ministack's STATE_DIR, `port` where it will serve; repeating it changes nothing."""
    for file in kept.glob("*.json"):
        _move(file, port)
    _release_messages(kept / "sqs.json")


def _move(file: Path, port: int) -> None:
    """It finds a queue by its URL, port included; after a start elsewhere it would find none."""
    before = file.read_bytes()
    after = _OWN_URL.sub(f"http://localhost:{port}/".encode(), before)
    if after != before:
        _replace(file, after)


def _release_messages(file: Path) -> None:
    """
    Messages that a stop caught while a function had them become visible at once.

    On AWS a queue never stops: a message whose consumer died comes back after the visibility
    timeout, six times the function's. Here a dropped file would seem lost for as long.
    """
    if not file.exists():
        return  # never stopped before
    state: dict[str, Any] = json.loads(file.read_bytes())
    caught = [
        message
        for queue in state["payload"]["queues"]["data"].values()
        for message in queue["messages"]
        if message["receive_count"] and message["visible_at"]
    ]
    for message in caught:
        message["visible_at"] = 0
        message["receive_count"] -= 1  # the stop is no failure of its consumer
    if caught:
        _replace(file, json.dumps(state).encode())


def _replace(file: Path, content: bytes) -> None:
    draft = file.with_suffix(".new")
    draft.write_bytes(content)
    draft.replace(file)
