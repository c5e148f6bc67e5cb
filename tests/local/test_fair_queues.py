"""In which order ministack's queues deliver what several tenants wait for."""

import time
from typing import Any

import pytest

from stackroom_local.ministack.__main__ import in_turn

ALICE, BOB, NOBODY = "alice", "bob", None


def a_message(name: str, group: str | None, *, in_flight: bool = False) -> dict[str, Any]:
    now = time.time()  # and not of when this file was imported, which may be long ago
    return {
        "id": name,
        "group_id": group,
        "visible_at": now + 600 if in_flight else now,
        "receive_count": int(in_flight),
    }


def order(*messages: dict[str, Any], is_fifo: bool = False) -> list[str]:
    queue = in_turn({"is_fifo": is_fifo, "messages": list(messages)})
    return [each["id"] for each in queue["messages"] if not each["receive_count"]]


@pytest.mark.parametrize("other", [BOB, NOBODY])
def test_while_one_tenant_is_at_work_others_come_first(other: str | None) -> None:
    waiting = [a_message("a1", ALICE), a_message("a2", ALICE), a_message("other", other)]
    at_work = [a_message(f"w{number}", ALICE, in_flight=True) for number in range(20)]

    assert order(*waiting) == ["a1", "a2", "other"]
    assert order(*at_work, *waiting) == ["other", "a1", "a2"]
    assert order(*at_work, *waiting, is_fifo=True) == ["a1", "a2", "other"]
    little = [a_message("b", BOB, in_flight=True), a_message("n", NOBODY, in_flight=True)]
    assert order(*at_work, *little, *waiting) == ["other", "a1", "a2"]
