"""Starting, stopping, dying: always with every process gone, and every document kept."""

import json
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bedrock_kb_simulator import orders
from bedrock_kb_simulator.fault_orders import PATH
from simulator.tests.files import scanned_pdf
from stackroom.model.records import DocumentStatus
from stackroom_local.local_errors import ChildFailed, PortTaken
from stackroom_local.processes import free_ports
from stackroom_local.servers import Ports
from tests.e2e.people import Person, eventually
from tests.local.running import (
    ANY_SCORE,
    instance_of,
    local_mode,
    none_left,
    processes_of,
    stackroom,
    start,
)

pytestmark = pytest.mark.processes


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state"


LEASE = scanned_pdf(
    "Annex A\nThe rent is 812 euros.",
    "Annex B\nThe notice period is nine weeks.\nIt begins on the first day of a month.",
    read=["Lease Agreement"],
)
QUESTION = "What is the notice period of the lease?"
GAP = "2 of 3 pages have no text, or hardly any, beside an image: 1-2"


@dataclass
class Ada:
    """A user with a note and a scan; what she meets in three starts of one state directory."""

    state_dir: Path
    first: dict[str, Any] = field(default_factory=dict)
    with_ocr: dict[str, Any] = field(default_factory=dict)
    fresh: dict[str, Any] = field(default_factory=dict)

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        return stackroom(*command, state_dir=self.state_dir)

    def ask(self, question: str) -> str:
        return self.run("ask", question, "--user", "ada").stdout


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Ada:
    folder = tmp_path_factory.mktemp("lifecycle")
    ada = Ada(folder / "state")
    (folder / "note.txt").write_text("The spare key hangs behind the barometer.")
    (folder / "lease.pdf").write_bytes(LEASE)
    files = (str(folder / each) for each in ("note.txt", "lease.pdf"))

    with local_mode(ada.state_dir, *ANY_SCORE) as instance:
        ada.first = {
            "dropped": ada.run("drop", *files, "--user", "ada", "--catalog", "home", "--wait"),
            "records": Person(instance, "ada").records(),
            "of the scan": ada.ask(QUESTION),
            "second": ada.run("up", "--port", str(free_ports(4))),
            "pid": instance.pid,
        }
        ada.run("down")
        ada.first["is gone"] = none_left(ada.state_dir, within=60)
    with local_mode(ada.state_dir, "--ocr", *ANY_SCORE) as instance:
        person = Person(instance, "ada")

        def cited() -> list[int]:
            found = person.find(QUESTION)
            return [each["source"]["page"] for each in found if "nine weeks" in each["content"]]

        ada.with_ocr = {
            "asked": ada.ask("where is the spare key?"),
            "cited": eventually(cited, "the scan is read anew, and found"),
            "settled": person.await_status("home/lease.pdf", DocumentStatus.INDEXED),
            "records": person.records(),
            "passages": ada.run(
                "passages", "lease.pdf", "--user", "ada", "--catalog", "home", "--text"
            ),
            "reread": ada.run("reread", "--user", "ada"),
            "doctor": ada.run("doctor"),
        }
    # By this seed a start's first two calls for data sources would fail.
    with local_mode(ada.state_dir, "--fresh", "--faults", "3:0.1") as instance:
        ada.fresh = {
            "status": ada.run("status"),
            "faults": orders.ask("GET", instance.simulator_endpoint + PATH, key=instance.root_key),
            "reconciled": ada.run("reconcile"),
        }
    return ada


def test_ingested_documents_survive_down_and_up_but_not_a_fresh_start(ada: Ada) -> None:
    dropped, second = ada.first["dropped"], ada.first["second"]

    assert dropped.returncode == 0, dropped.stderr
    assert second.returncode == 1, "a directory serves one at a time"
    assert f"already served by process {ada.first['pid']}" in second.stderr
    assert "stackroom down" in second.stderr
    assert ada.first["is gone"]
    assert "behind the barometer" in ada.with_ocr["asked"]
    assert "no documents yet" in ada.fresh["status"].stdout


def test_pages_without_text_are_found_and_cited_once_ocr_is_on(ada: Ada) -> None:
    lease, note = "ada/home/lease.pdf", "ada/home/note.txt"
    before, after = ada.first["records"], ada.with_ocr["records"]

    assert (before[lease].status, before[lease].gaps) == (DocumentStatus.INDEXED, (GAP,))
    assert "nine weeks" not in ada.first["of the scan"]
    assert ada.with_ocr["cited"] == [2]
    assert after[lease].gaps == ()
    assert after[lease].text_id != before[lease].text_id
    assert after[note] == before[note], "what has no pages is left alone"
    kept = ada.with_ocr["passages"]
    assert "nine weeks" in kept.stdout, "what was indexed, which no reader finds in the file"
    assert "every text is up to date" in ada.with_ocr["reread"].stderr
    assert "Textract" in ada.with_ocr["doctor"].stdout


def test_faults_begin_once_it_is_up_and_a_reconciliation_gets_through_them(ada: Ada) -> None:
    reconciled = ada.fresh["reconciled"]

    assert json.loads(ada.fresh["faults"])["chance"]["seed"] == 3
    assert reconciled.returncode == 0, reconciled.stderr


def test_a_taken_port_is_named_with_who_needs_it(state_dir: Path) -> None:
    port = free_ports(4)

    for offset, server in enumerate(("ministack", "simulator", "gateway", "console")):
        taken = socket.create_server(("127.0.0.1", port + offset))
        with taken, pytest.raises(PortTaken, match=server):
            Ports(aws=port).require_free(patience=0)
    with socket.create_server(("127.0.0.1", port + 2)):
        up = stackroom("up", "--port", str(port), state_dir=state_dir)

    assert up.returncode == 1
    assert f"port {port + 2} on 127.0.0.1, which the gateway needs, is in use" in up.stderr
    assert "--port" in up.stderr


def test_a_start_that_fails_leaves_no_process(state_dir: Path, tmp_path: Path) -> None:
    # a file where the simulator wants its directory
    state_dir.mkdir()
    (state_dir / "simulator").write_text("in the way")
    up = start(state_dir, "--port", str(free_ports(4)))

    with pytest.raises(ChildFailed):
        instance_of(up, state_dir)

    assert "simulator ended with code" in up.log.read_text()
    assert processes_of(state_dir) == []
