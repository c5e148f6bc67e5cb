"""Stopped in the middle of its work, and started again: nothing is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from stackroom.model import DocumentStatus
from stackroom_local.processes import Child, free_ports
from tests.e2e.people import Person, eventually
from tests.local.running import (
    instance_of,
    kill_hard,
    none_left,
    stackroom,
    start,
)

pytestmark = pytest.mark.processes

FILES = {
    f"letters/letter {each}.txt": f"Letter {each} came from {each} Elm Street."
    for each in range(12)
}


def by_command(up: Child, state_dir: Path) -> None:
    stackroom("down", state_dir=state_dir)


def by_kill(up: Child, state_dir: Path) -> None:
    kill_hard(up.pid)


@pytest.mark.parametrize("stop", [by_command, by_kill])
def test_every_document_ends_indexed_wherever_it_was_cut_off(
    tmp_path: Path, stop: Callable[[Child, Path], None]
) -> None:
    state_dir, port = tmp_path / "state", str(free_ports(4))
    up = start(state_dir, "--port", port)
    grace = Person(instance_of(up, state_dir), "grace")
    failed = grace.put("letters/empty.txt", "")
    dropped = grace.put_all(FILES)
    eventually(
        lambda: any(each.status is DocumentStatus.INDEXING for each in grace.records().values()),
        "the ingestion has begun",
    )

    stop(up, state_dir)
    up.process.wait(120)
    gone = none_left(state_dir, within=60)
    again = start(state_dir, "--port", port)
    instance_of(again, state_dir)
    grace.settle([failed, *dropped])
    records = grace.records()
    found = grace.files_found(
        "Which letter came from Elm Street?", filter={"filename": "letter 7.txt"}
    )
    again.ask_to_stop()
    again.end(120)

    assert gone
    assert {records[each.key].status for each in dropped} == {DocumentStatus.INDEXED}
    assert records[failed.key].status_reason == "the file is empty"
    assert found == ["letter 7.txt"]
    assert none_left(state_dir, within=60)
