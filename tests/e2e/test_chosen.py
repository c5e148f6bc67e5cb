"""Options of a deployment: a guardrail, and MANAGED knowledge bases."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.function_processes import process_hook
from stackroom_local.state import Instance
from tests.campaigns.gateways import changed_functions
from tests.e2e.people import Person
from tests.local.running import local_mode, stackroom

pytestmark = pytest.mark.processes


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Person]:
    """A user with a managed pool."""
    with local_mode(tmp_path / "managed", "-c", "knowledge_base_type=managed") as running:
        host = Person(running, "host")
        host.settle(host.put_all({"room 3/a.txt": "Room 3 has a piano."}))
        yield host


def test_search_whose_guardrail_gives_no_verdict_shows_no_passage(instance: Instance) -> None:
    eve, question = Person(instance, "eve"), "Which room has a piano?"
    eve.settle([eve.put("notes/piano.txt", "Room 3 has a piano.")])
    assert eve.files_found(question) == ["piano.txt"]

    with changed_functions(instance, _guarded):
        answer = eve.call(query=question)

    assert not answer["success"]
    assert "Room 3" not in json.dumps(answer)


def _guarded(function: dict[str, Any]) -> dict[str, Any]:
    # Its role was not deployed for a guardrail, so test_permissions must not judge these calls.
    unrecorded = {process_hook.VARIABLE: ""}
    variables = {"GUARDRAIL_ID": "absent", "GUARDRAIL_VERSION": "1", **unrecorded}
    return {"Environment": {"Variables": function["Environment"]["Variables"] | variables}}


def test_managed_pool_shows_a_file_only_to_its_owner_until_deleted(
    host: Person,
) -> None:
    [found] = host.find("a piano", catalog_id=host.catalog("room 3").catalog_id)

    assert found["content"] == "Room 3 has a piano."
    assert found["source"]["uri"].endswith("/host/room 3/a.txt")
    assert found["metadata"].keys() == {"uploaded_at"}
    assert Person(host.instance, "stranger").find("a piano") == []

    deleted = stackroom("delete", "host/room 3/a.txt", state_dir=host.instance.state_dir)
    audit = stackroom("reconcile", state_dir=host.instance.state_dir)

    assert deleted.returncode == 0, deleted.stderr
    assert "unsearchable since 20" in " ".join(deleted.stdout.split())
    assert host.find("an instrument", catalog_id=host.catalog("room 3").catalog_id) == []
    assert (audit.returncode, audit.stderr) == (0, "")
    assert "no discrepancies" in audit.stdout
