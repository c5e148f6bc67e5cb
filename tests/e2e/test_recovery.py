"""Stopped, killed, and without an index: nothing is lost, in a local mode of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from stackroom.model.records import DocumentStatus
from stackroom_local.processes import Child, free_ports
from tests.e2e.people import Person, eventually
from tests.local.running import ANY_SCORE, instance_of, kill_hard, none_left, start

pytestmark = pytest.mark.processes


@dataclass
class Running:
    """A local mode that goes on in the same state directory whenever it is started again."""

    state_dir: Path
    port: str
    up: Child

    def start(self) -> Person:
        self.up = start(self.state_dir, "--port", self.port, *ANY_SCORE)
        return self.grace()

    def grace(self) -> Person:
        return Person(instance_of(self.up, self.state_dir), "grace")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    state_dir, port = tmp_path_factory.mktemp("recovery") / "state", str(free_ports(4))
    running = Running(state_dir, port, start(state_dir, "--port", port, *ANY_SCORE))
    running.grace()
    yield running
    running.up.ask_to_stop()
    running.up.end(120)
    assert none_left(state_dir, within=60)


def test_every_document_ends_indexed_wherever_a_kill_cut_it_off(running: Running) -> None:
    grace = running.grace()
    letters = {
        f"letters/letter {n}.txt": f"Letter {n} came from {n} Elm Street." for n in range(12)
    }
    failed = grace.put("letters/empty.txt", "")
    dropped = grace.put_all(letters)
    eventually(
        lambda: any(each.status is DocumentStatus.INDEXING for each in grace.records().values()),
        "the ingestion has begun",
    )

    kill_hard(running.up.pid)
    running.up.process.wait(120)
    gone = none_left(running.state_dir, within=60)
    grace = running.start()
    grace.settle([failed, *dropped])

    records = grace.records()
    assert gone
    assert {records[each.key].status for each in dropped} == {DocumentStatus.INDEXED}
    assert records[failed.key].status_reason == "the file is empty"
    assert grace.files_found(
        "Which letter came from Elm Street?",
        filter={"filename": "letter 7.txt"},
        catalog_id=grace.catalog("letters").catalog_id,
    ) == ["letter 7.txt"]
