"""In which order ministack's queues deliver what several tenants wait for."""

import time
from typing import Any

import pytest
from ministack.services import lambda_svc, sqs

from stackroom_local.ministack.__main__ import deliver_groups_beside_each_other, in_turn

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


@pytest.mark.parametrize(("size", "at_once"), [(1, 2), (10, 1)])
def test_groups_do_not_wait_for_each_other_where_a_batch_is_of_one(
    monkeypatch: pytest.MonkeyPatch, size: int, at_once: int
) -> None:
    monkeypatch.setattr(lambda_svc, "_sqs_esm_concurrency", lambda_svc._sqs_esm_concurrency)
    mapping = {"BatchSize": size, "ScalingConfig": {"MaximumConcurrency": 2}}
    messages = [a_message("a1", ALICE), a_message("a2", ALICE), a_message("b1", BOB)]
    for each in messages:
        each["receipt_handle"] = None
    queue = {"is_fifo": True, "messages": messages}

    deliver_groups_beside_each_other()

    assert lambda_svc._sqs_esm_concurrency(mapping, {}, {}, queue) == at_once
    one_by_one = [sqs._collect_msgs(queue, 1, 30) for _ in range(3)]
    assert [[each["id"] for each in some] for some in one_by_one] == [["a1"], ["b1"], []]
