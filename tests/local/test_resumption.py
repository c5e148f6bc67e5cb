import json
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.local_errors import NotOurs
from stackroom_local.supervisor import resume


@pytest.fixture
def queues(tmp_path: Path) -> Path:
    return tmp_path / "sqs.json"


def a_queue(
    *messages: dict[str, Any], url: str = "http://localhost:4566/0/uploads"
) -> dict[str, object]:
    return {"payload": {"queues": {"data": {url: {"messages": list(messages)}}}}}


def a_message(body: str, *, visible_at: float = 5.0, receive_count: int = 0) -> dict[str, Any]:
    return {"body": body, "visible_at": visible_at, "receive_count": receive_count}


def given_up(event: object) -> dict[str, Any]:
    return a_message(json.dumps({"requestPayload": event}))


def test_message_in_flight_becomes_visible_without_counting_its_delivery(queues: Path) -> None:
    waiting, in_flight = a_message("no JSON"), a_message("no JSON", visible_at=9e9, receive_count=2)
    queues.write_text(json.dumps(a_queue(in_flight, waiting)))

    for _ in range(2):  # resuming twice is resuming once
        resume(queues.parent, 4566)

    seen = a_queue(a_message("no JSON", visible_at=0, receive_count=1), waiting)
    assert json.loads(queues.read_text()) == seen


@pytest.mark.parametrize(
    "event",
    [
        {"action": "sweep", "thorough": True},
        {"action": "reconcile", "idle_before": "2026-11-28T22:51:32.996287+00:00"},
    ],
    ids=["sweep", "reconcile"],
)
def test_event_that_every_start_sends_is_not_kept_as_given_up(
    queues: Path, event: dict[str, Any]
) -> None:
    kept = [
        given_up({"action": "sweep"}),
        given_up({"action": "recover", "execution_name": "cat-1-2"}),
        given_up("idle_before"),
        given_up(None),
        a_message(json.dumps(event)),
        a_message("[]"),
        a_message("no JSON"),
    ]
    queues.write_text(json.dumps(a_queue(given_up(event), *kept)))

    resume(queues.parent, 4566)

    assert json.loads(queues.read_text()) == a_queue(*kept)


def test_queues_move_with_the_port(queues: Path) -> None:
    queues.write_text(json.dumps(a_queue()))

    resume(queues.parent, 5000)

    assert json.loads(queues.read_text()) == a_queue(url="http://localhost:5000/0/uploads")


def test_a_damaged_file_of_the_state_keeps_it_from_being_served(queues: Path) -> None:
    queues.with_name("dynamodb.json").write_text('{"payload": {"tables"')

    with pytest.raises(
        NotOurs, match=r"/dynamodb.json is damaged \(.+\); name an empty or new one"
    ):
        resume(queues.parent, 4566)


def test_a_first_start_has_nothing_to_resume(tmp_path: Path) -> None:
    resume(tmp_path / "never", 4566)

    assert not (tmp_path / "never").exists()
