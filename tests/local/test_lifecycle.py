"""Starting, stopping, dying: always with every process gone, and every document kept."""

import json
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bedrock_kb_simulator import orders
from bedrock_kb_simulator.fault_orders import PATH
from stackroom.text.document_text import READER_VERSION
from stackroom_cli.sites.site_records import SiteRecords
from stackroom_cli.sites.site_services import SiteServices
from stackroom_local.local_errors import ChildFailed, PortTaken
from stackroom_local.processes import free_ports
from stackroom_local.servers import Ports
from stackroom_local.state import Instance
from tests.local.running import (
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


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_text("The spare key hangs behind the barometer.")
    return path


def test_ingested_documents_survive_down_and_up_but_not_a_fresh_start(
    state_dir: Path, note: Path
) -> None:
    with local_mode(state_dir) as instance:
        dropped = stackroom(
            *("drop", str(note), "--user", "ada", "--catalog", "home", "--wait"),
            state_dir=state_dir,
        )
        second = stackroom("up", "--port", str(free_ports(4)), state_dir=state_dir)
        stackroom("down", state_dir=state_dir)
        left_after_down = none_left(state_dir, within=60)
    with local_mode(state_dir):
        asked = stackroom("ask", "where is the spare key?", "--user", "ada", state_dir=state_dir)
    with local_mode(state_dir, "--fresh"):
        status = stackroom("status", state_dir=state_dir)

    assert dropped.returncode == 0, dropped.stderr
    assert second.returncode == 1, "a directory serves one at a time"
    assert f"already served by process {instance.pid}" in second.stderr
    assert "stackroom down" in second.stderr
    assert left_after_down
    assert "behind the barometer" in asked.stdout
    assert "no documents yet" in status.stdout


def test_a_directory_that_an_older_reader_has_read_is_read_anew_once(
    state_dir: Path, note: Path
) -> None:
    with local_mode(state_dir) as instance:
        drop = ("drop", str(note), "--user", "ada", "--catalog", "home", "--wait")
        stackroom(*drop, state_dir=state_dir)
        [before] = SiteRecords(instance).documents("ada")
        outdated = {"text_id": "0" * 16, "indexed_text_id": None}
        SiteServices(instance).stores.documents.save(before.model_copy(update=outdated))
    fresh, marker = (state_dir / "reader").read_text(), state_dir / "reader"
    marker.unlink()

    with local_mode(state_dir) as instance:
        settled = _eventually(lambda: _text_ids(instance) == {before.text_id} and marker.exists())
        asked = stackroom("ask", "where is the spare key?", "--user", "ada", state_dir=state_dir)
    said = state_dir.with_suffix(".log").read_text()

    assert settled
    assert marker.read_text() == fresh == READER_VERSION
    assert "rereading 1 document from an earlier version" in said
    assert "behind the barometer" in asked.stdout


def _text_ids(instance: Instance) -> set[str | None]:
    """Return the text ids of indexed documents that nothing replaces."""
    documents = SiteRecords(instance).documents("ada")
    return {each.indexed_text_id for each in documents if each.text_id == each.indexed_text_id}


def test_faults_begin_once_it_is_up_and_a_reconciliation_gets_through_them(state_dir: Path) -> None:
    # By this seed a start's first two calls for data sources would fail.
    with local_mode(state_dir, "--faults", "3:0.1") as instance:
        faults = orders.ask("GET", instance.simulator_endpoint + PATH, key=instance.root_key)
        reconciled = stackroom("reconcile", state_dir=state_dir)

    assert json.loads(faults)["chance"]["seed"] == 3
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


def _eventually(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if is_so():
            return True
        time.sleep(0.5)
    return False
