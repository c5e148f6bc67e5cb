import json
from pathlib import Path

import pytest

from stackroom_local.supervisor import resume


@pytest.fixture
def queues(tmp_path: Path) -> Path:
    return tmp_path / "sqs.json"


def a_queue(
    *messages: dict[str, float], url: str = "http://localhost:4566/0/uploads"
) -> dict[str, object]:
    return {"payload": {"queues": {"data": {url: {"messages": list(messages)}}}}}


def test_message_in_flight_becomes_visible_without_counting_its_delivery(queues: Path) -> None:
    waiting = {"visible_at": 5.0, "receive_count": 0}
    queues.write_text(json.dumps(a_queue({"visible_at": 9e9, "receive_count": 2}, waiting)))

    for _ in range(2):  # resuming twice is resuming once
        resume(queues.parent, 4566)

    seen = a_queue({"visible_at": 0, "receive_count": 1}, waiting)
    assert json.loads(queues.read_text()) == seen


def test_queues_move_with_the_port(queues: Path) -> None:
    queues.write_text(json.dumps(a_queue()))

    resume(queues.parent, 5000)

    assert json.loads(queues.read_text()) == a_queue(url="http://localhost:5000/0/uploads")


def test_a_first_start_has_nothing_to_resume(tmp_path: Path) -> None:
    resume(tmp_path / "never", 4566)

    assert not (tmp_path / "never").exists()
