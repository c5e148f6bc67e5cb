"""Options of a deployment: data sources of type S3, and MANAGED knowledge bases."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom.model.records import DocumentStatus
from tests.e2e.people import Person, eventually, logs_of_functions
from tests.local.running import ANY_SCORE, local_mode, stackroom

pytestmark = pytest.mark.processes

CROWD = {f"crowd/guest {n}.txt": f"Guest {n} sits at table {n % 7}." for n in range(30)}
PILOT = "ann/harbour/pilot.txt"
REEF = {"reef/corals.txt": "Corals of the reef grow a centimetre a year."}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chosen")


@pytest.fixture(scope="module")
def ann(folder: Path) -> Iterator[Person]:
    """A user where catalogs have data sources of type S3, with thirty files in one catalog."""
    with local_mode(folder / "s3", "-c", "catalog_data_sources=s3", *ANY_SCORE) as running:
        ann = Person(running, "ann")
        ann.settle(ann.put_all({**CROWD, **REEF}))
        yield ann


@pytest.fixture(scope="module")
def host(folder: Path) -> Iterator[Person]:
    """A user with a managed pool."""
    with local_mode(folder / "managed", "-c", "knowledge_base_type=managed") as running:
        host = Person(running, "host")
        host.settle(host.put_all({"room 3/a.txt": "Room 3 has a piano."}))
        yield host


def test_search_whose_guardrail_gives_no_verdict_shows_no_passage(folder: Path) -> None:
    guardrail = ("-c", "guardrail_id=absent", "-c", "guardrail_version=1")
    with local_mode(folder / "guarded", *guardrail, *ANY_SCORE) as running:
        eve = Person(running, "eve")
        eve.put("notes/piano.txt", "Room 3 has a piano.")
        eventually(lambda: _is_indexed(eve, "notes/piano.txt"), "the note is indexed")

        answer = eve.call(query="Which room has a piano?")

    assert not answer["success"]
    assert "Room 3" not in json.dumps(answer)


def test_a_sidecar_that_an_operator_forged_shows_nobody_anothers_document(ann: Person) -> None:
    kim, aws = Person(ann.instance, "kim"), ann.instance.client
    ann.settle([ann.put("harbour/pilot.txt", "The pilot of the quince harbour is Ottokar.")])
    bucket, sidecar = ann.instance.bucket, f"{PILOT}.metadata.json"
    ours = json.loads(aws("s3").get_object(Bucket=bucket, Key=sidecar)["Body"].read())
    forged = {"metadataAttributes": {**ours["metadataAttributes"], "user_id": "kim"}}

    aws("s3").put_object(Bucket=bucket, Key=sidecar, Body=json.dumps(forged).encode())
    harbour = ann.catalog("harbour")
    aws("bedrock-agent").start_ingestion_job(
        knowledgeBaseId=harbour.knowledge_base_id, dataSourceId=harbour.data_source_id
    )
    answer = eventually(lambda: _withheld(kim), "kim's search meets the forged passage")

    assert "Ottokar" not in json.dumps(answer)
    assert PILOT in logs_of_functions(ann.instance)["/aws/lambda/stackroom-retrieve"]


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


def _is_indexed(person: Person, path: str) -> bool:
    record = person.record(path)
    return record is not None and record.status is DocumentStatus.INDEXED


def _withheld(person: Person) -> dict[str, Any] | None:
    answer = person.call(query="the pilot of the quince harbour", top_k=20)
    return answer if answer["metadata"].get("withheld_results") else None
