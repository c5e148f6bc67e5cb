import json
from pathlib import Path

from stackroom_local.interruption import release_messages


def a_queue(*messages: dict[str, float]) -> dict[str, object]:
    return {"payload": {"queues": {"data": {"uploads": {"messages": list(messages)}}}}}


def test_a_message_in_flight_becomes_visible_and_its_delivery_does_not_count(
    tmp_path: Path,
) -> None:
    file = tmp_path / "sqs.json"
    file.write_text(json.dumps(a_queue({"visible_at": 9e9, "receive_count": 2})))

    released = release_messages(file)

    assert released == 1
    assert json.loads(file.read_text()) == a_queue({"visible_at": 0, "receive_count": 1})


def test_a_message_that_nobody_received_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "sqs.json"
    waiting = a_queue({"visible_at": 5.0, "receive_count": 0})
    file.write_text(json.dumps(waiting))

    released = release_messages(file)

    assert released == 0
    assert json.loads(file.read_text()) == waiting


def test_a_first_start_has_nothing_to_release(tmp_path: Path) -> None:
    assert release_messages(tmp_path / "sqs.json") == 0
