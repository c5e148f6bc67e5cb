"""What a deployment can choose instead: data sources of type S3 for its catalogs, or none."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom.model import DataSourceType, DocumentStatus
from stackroom.runs.placement import data_source_name
from stackroom.runs.worklists import shared_worklist
from tests.e2e.people import Agent, Person, eventually
from tests.e2e.traffic import await_rest, aws_of, data_sources, states_of
from tests.local.running import ANY_SCORE, local_mode

pytestmark = pytest.mark.processes

CROWD = {f"crowd/guest {n}.txt": f"Guest {n} sits at table {n % 7}." for n in range(30)}
PILOT = "ann/harbour/pilot.txt"
REEF = {"reef/corals.txt": "Corals of the reef grow a centimetre a year."}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chosen")


@pytest.fixture(scope="module")
def ann(folder: Path) -> Iterator[Person]:
    """Where catalogs have data sources of type S3; thirty files have come into one of hers."""
    chosen = ("-c", "catalog_data_sources=s3", *ANY_SCORE)
    with local_mode(folder / "s3", *chosen) as running:
        ann = Person(running, "ann")
        ann.settle(ann.put_all({**CROWD, **REEF}))
        yield ann


@pytest.fixture(scope="module")
def sam(folder: Path) -> Iterator[Person]:
    """Where catalogs have none of their own."""
    chosen = ("-c", "catalog_data_sources=shared", *ANY_SCORE)
    with local_mode(folder / "shared", *chosen) as running:
        sam = Person(running, "sam")
        sam.settle(sam.put_all(REEF))
        yield sam


def test_ingestion_jobs_take_in_whatever_lies_under_a_catalog_s_prefix(ann: Person) -> None:
    crowd, reef = ann.catalog("crowd"), ann.catalog("reef")

    described = aws_of(ann.instance)("bedrock-agent").get_data_source(
        knowledgeBaseId=crowd.knowledge_base_id, dataSourceId=crowd.data_source_id
    )["dataSource"]

    assert {crowd.data_source_type, reef.data_source_type} == {DataSourceType.S3}
    assert described["name"] == data_source_name(crowd)
    assert described["dataSourceConfiguration"]["s3Configuration"]["inclusionPrefixes"] == [
        "ann/crowd/"
    ]
    assert {each.status for each in ann.records().values()} == {DocumentStatus.INDEXED}
    assert set(ann.jobs("crowd")) == set(ann.jobs("reef")) == {"COMPLETE"}


def test_thirty_files_at_once_cost_few_jobs(ann: Person) -> None:
    assert len(ann.jobs("crowd")) <= 4


def test_retrieve_names_the_object_that_a_passage_is_from(ann: Person) -> None:
    answer = aws_of(ann.instance)("bedrock-agent-runtime").retrieve(
        knowledgeBaseId=ann.catalog("reef").knowledge_base_id,
        retrievalQuery={"text": "How fast do corals grow?"},
    )

    assert answer["retrievalResults"][0]["location"] == {
        "type": "S3",
        "s3Location": {"uri": f"s3://{ann.instance.bucket}/ann/reef/corals.txt"},
    }
    assert ann.files_found("How fast do corals grow?")[0] == "corals.txt"


def test_a_replaced_file_is_found_as_it_is_now_and_a_removed_one_no_more(ann: Person) -> None:
    ann.settle([ann.put("crowd/guest 3.txt", "Guest 3 has gone to the balcony.")])
    ann.remove("crowd/guest 4.txt")
    ann.await_absence("crowd/guest 4.txt")

    replaced = ann.find("where is the guest?", filter={"filename": "guest 3.txt"})
    removed = ann.find("where is the guest?", filter={"filename": "guest 4.txt"})

    assert [each["content"] for each in replaced] == ["Guest 3 has gone to the balcony."]
    assert removed == []


def test_a_sidecar_that_an_operator_forged_shows_nobody_anothers_document(ann: Person) -> None:
    kim, aws = Person(ann.instance, "kim"), aws_of(ann.instance)
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
    log = ann.instance.state_dir / "gateway" / "logs" / "stackroom-retrieve.log"
    assert PILOT in log.read_text()


def test_a_deleted_catalog_takes_its_s3_data_source_along(ann: Person) -> None:
    reef, aws = ann.catalog("reef"), aws_of(ann.instance)
    await_rest(aws)

    answer = Agent(ann.instance, "ann")("delete_catalog", catalog_id=reef.catalog_id, confirm=True)

    assert answer["metadata"]["data_source_deleted"] is True
    assert data_source_name(reef) not in data_sources(aws, str(reef.knowledge_base_id))
    assert ann.find("How fast do corals grow?", filter={"filename": "corals.txt"}) == []


def test_where_none_has_a_data_source_of_its_own_all_are_on_the_shared_one(sam: Person) -> None:
    reef, aws = sam.catalog("reef"), aws_of(sam.instance)
    home = str(reef.knowledge_base_id)

    await_rest(aws)

    assert data_sources(aws, home) == {"shared": reef.data_source_id}
    assert states_of(aws, reef.catalog_id) == []
    assert "PollIngestion" in states_of(aws, shared_worklist(home))[0]
    assert sam.files_found("How fast do corals grow?") == ["corals.txt"]


def test_a_catalog_that_shares_goes_and_the_shared_data_source_stays(sam: Person) -> None:
    reef, aws = sam.catalog("reef"), aws_of(sam.instance)

    answer = Agent(sam.instance, "sam")("delete_catalog", catalog_id=reef.catalog_id, confirm=True)

    assert answer["content"][0]["text"].endswith("all 1 document. Vectors removed.")
    assert answer["metadata"]["data_source_deleted"] is False
    assert "shared" in data_sources(aws, str(reef.knowledge_base_id))
    assert sam.find("How fast do corals grow?") == []


def _withheld(person: Person) -> dict[str, Any] | None:
    answer = person.call(query="the pilot of the quince harbour", top_k=20)
    return answer if answer["metadata"].get("withheld_results") else None
