"""Stopped, killed, and without an index: nothing is lost, in a local mode of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bedrock_kb_simulator import orders
from bedrock_kb_simulator.fault_orders import PATH as FAULTS
from simulator.tests import files
from stackroom.model.records import DocumentStatus
from stackroom_local.processes import Child, free_ports
from tests.e2e.people import Person, eventually
from tests.local.mishaps import held_back, index_missing, lose_inspections
from tests.local.running import ANY_SCORE, instance_of, kill_hard, none_left, stackroom, start

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


def test_files_of_an_outage_are_pending_and_found_by_themselves_after_it(
    running: Running,
) -> None:
    heidi = Person(running.grace().instance, "heidi")
    faults = [
        {"operation": each, "kind": "failed", "times": 100_000}
        for each in ("IngestKnowledgeBaseDocuments", "StartIngestionJob")
    ]
    url = heidi.instance.simulator_endpoint + FAULTS
    orders.send(url, {"faults": faults}, heidi.instance.root_key)
    letters = {f"letters/{n}.txt": f"Letter {n} is from Bruges." for n in range(6)}
    dropped = heidi.put_all(letters)
    heidi.settle(dropped)
    before = [heidi.record(each) for each in letters]

    orders.ask("DELETE", url, key=heidi.instance.root_key)

    for each in letters:
        heidi.await_status(each, DocumentStatus.INDEXED)
    assert {record.status for record in before if record} == {DocumentStatus.PENDING}
    assert all("Bedrock fails" in str(record.status_reason) for record in before if record)


def test_document_that_no_index_could_take_is_found_once_there_is_one(running: Running) -> None:
    heidi = Person(running.grace().instance, "heidi")
    with index_missing(heidi.instance):
        heidi.settle([heidi.put("letters/first.txt", "The first letter is from Bruges.")])
        waits = heidi.record("letters/first.txt")

    heidi.await_status("letters/first.txt", DocumentStatus.INDEXED)

    assert waits is not None
    assert waits.status is DocumentStatus.PENDING


def test_files_whose_readings_were_lost_are_read_after_a_reconciliation(running: Running) -> None:
    """Until then nobody knows their text, and no run takes them up."""
    ida = Person(running.grace().instance, "ida")
    with held_back(ida.instance, "stackroom-inspect"):
        ida.put("manuals/secret.pdf", files.encrypted_pdf())
        ida.put("manuals/lock.pdf", files.pdf("Keys are cut here.", "A lock has a bolt."))
        for path in ("manuals/secret.pdf", "manuals/lock.pdf"):
            ida.await_unread(path)
        lose_inspections(ida.instance)
    before = ida.find("What does a lock have?")

    def reconciled() -> bool:
        stackroom("reconcile", state_dir=ida.instance.state_dir)
        told = ida.record("manuals/secret.pdf")
        is_explained = told is not None and "password" in str(told.status_reason)
        pages = _pages(ida.find("What does a lock have?"))
        return is_explained and bool(pages) and None not in pages

    eventually(reconciled, "its owner is told what is wrong, and passages have their pages")
    assert before == []


def _pages(passages: list[dict[str, Any]]) -> set[int | None]:
    return {each["source"]["page"] for each in passages}
