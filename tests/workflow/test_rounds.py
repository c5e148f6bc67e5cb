"""A catalog's run on a data source of its own: by direct calls, as a rule, or by ingestion jobs."""

import pytest

from stackroom.aws import session
from stackroom.keys import Location, locate
from stackroom.runs.placement import data_source_name
from stackroom.settlement.verdicts import MAX_ATTEMPTS
from stackroom_local.simulator.disturbances import Kind
from tests.aws.stores import CATALOG_TABLE
from tests.workflow.world import World

KEY = "alice/research/report.txt"
OTHER = "alice/research/notes.txt"
INGEST = "IngestKnowledgeBaseDocuments"
ENSURED = ["EnsureDataSource", "IsDataSourceReady"]
STARTED = ["StartIngestion", "IsIngestionStarted"]
POLLED = ["WaitForIngestion", "PollIngestion", "IsIngestionOver"]
RELEASED = ["ReleaseRun", "IsWorklistSettled", "WorklistSettled"]
LONG = 3600.0  # AWS seconds


@pytest.fixture(params=["one_knowledge_base", "by_jobs"])
def either(request: pytest.FixtureRequest) -> None:
    """By direct calls, and by jobs."""
    request.getfixturevalue(request.param)


def found(world: World) -> list[str]:
    """The names of the files that a search finds."""
    return sorted(str(each["filename"]) for each in world.bedrock.passages())


def test_a_first_file_is_indexed_by_one_execution_that_makes_a_data_source(world: World) -> None:
    world.drop(KEY)

    [execution] = world.executions()
    # Bedrock's word comes with the first poll, a search's with the next.
    assert execution.states == [*ENSURED, *STARTED, *POLLED, *POLLED, *RELEASED]
    assert execution.status == "SUCCEEDED"
    assert (world.status(KEY), world.catalog(KEY).status) == ("indexed", "ready")
    [source] = world.bedrock.sources()
    assert source["name"] == data_source_name(world.catalog(KEY))
    assert source["dataSourceConfiguration"] == {"type": "CUSTOM"}
    assert not world.lease(KEY).held
    assert world.grants() == []


def test_where_catalogs_are_read_by_jobs_it_waits_for_its_turn_first(
    by_jobs: str, world: World
) -> None:
    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states == [
        *ENSURED,
        *STARTED,
        "AdmitIngestion",
        *STARTED,
        *POLLED,
        *RELEASED,
    ]
    assert world.bedrock.prefixes() == ["alice/research/"]
    assert world.status(KEY) == "indexed"
    assert not world.lease(KEY).held
    assert world.grants() == []


def test_what_is_ingested_has_the_attributes_of_its_sidecar(either: None, world: World) -> None:
    place = locate(KEY)
    assert isinstance(place, Location)

    world.drop(KEY)

    world.executions()
    [attributes] = world.bedrock.passages()
    assert (attributes["user_id"], attributes["catalog_id"]) == ("alice", place.catalog_id)
    assert (attributes["document_id"], attributes["filename"]) == (place.document_id, "report.txt")


def test_a_second_file_finds_the_data_source_there(either: None, world: World) -> None:
    world.drop(KEY)
    world.executions()

    world.drop(OTHER)

    first, second = world.executions()
    assert (first.input["epoch"], second.input["epoch"]) == (1, 2)
    assert second.name == f"{world.catalog(KEY).catalog_id}-2"
    assert len(world.bedrock.sources()) == 1
    assert found(world) == ["notes.txt", "report.txt"]


def test_a_data_source_that_is_being_created_is_waited_for(either: None, world: World) -> None:
    world.bedrock.fail("CreateDataSource", Kind.LATE, seconds=LONG)
    world.at("ensure", 3, lambda: world.bedrock.pass_time(LONG))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[:6] == [*ENSURED, "WaitForDataSource"] * 2
    assert execution.states.count("WaitForDataSource") == 2
    assert world.status(KEY) == "indexed"


def test_an_ingestion_is_polled_until_it_is_over(either: None, world: World) -> None:
    world.bedrock.hold(KEY)
    world.at("poll", 4, lambda: world.bedrock.let_go(KEY))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states.count("PollIngestion") >= 4
    assert execution.states.count("StartIngestion") == len(world.functions.calls_of("start"))
    assert world.status(KEY) == "indexed"


def test_files_that_come_while_one_is_at_work_are_sent_beside_it(world: World) -> None:
    keys = [f"alice/research/{number}.txt" for number in range(5)]
    world.bedrock.hold(KEY)
    before: list[str | None] = []

    def look() -> None:
        if not before and {world.status(key) for key in keys} == {"indexed"}:
            before.append(world.status(KEY))
            world.bedrock.let_go(KEY)

    world.at("poll", 1, lambda: world.drop_all(*keys))
    world.functions.before["poll"].extend([look] * 100)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[-1] == "WorklistSettled"
    assert before == ["indexing"]
    assert world.status(KEY) == "indexed"


def test_files_that_come_during_a_job_share_the_next_one(by_jobs: str, world: World) -> None:
    keys = [f"alice/research/{number}.txt" for number in range(5)]
    world.at("poll", 1, lambda: world.drop_all(*keys))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[-1] == "WorklistSettled"
    assert len(world.bedrock.jobs()) == 2
    assert {world.status(key) for key in (KEY, *keys)} == {"indexed"}


def test_a_file_changed_while_it_is_ingested_is_ingested_again(either: None, world: World) -> None:
    world.at("poll", 1, lambda: world.drop(KEY, b"other text"))

    world.drop(KEY)

    [execution] = world.executions()
    document = world.document(KEY)
    assert execution.status == "SUCCEEDED"
    assert document is not None
    assert (document.status, document.size) == ("indexed", len(b"other text"))
    assert len(world.bedrock.documents()) == 1


def test_an_event_that_comes_twice_has_nothing_done_twice(either: None, world: World) -> None:
    world.at("poll", 1, lambda: world.notify("Object Created", KEY))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[-1] == "WorklistSettled"
    begun = world.bedrock.accepted(INGEST) + world.bedrock.accepted("StartIngestionJob")
    assert len(begun) == 1
    assert world.status(KEY) == "indexed"


def test_a_removed_file_leaves_index_and_table(either: None, world: World) -> None:
    world.drop(KEY)
    world.drop(OTHER)
    world.executions()

    world.remove(KEY)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    assert world.document(KEY) is None
    assert found(world) == ["notes.txt"]
    assert world.catalog(KEY).document_count == 1


def test_a_file_removed_while_it_is_ingested_leaves_index_and_table(
    either: None, world: World
) -> None:
    world.at("poll", 1, lambda: world.remove(KEY))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert world.document(KEY) is None
    assert (world.bedrock.documents(), world.bedrock.passages()) == ([], [])


def test_a_failure_without_a_reason_is_tried_again(world: World) -> None:
    world.bedrock.fail(INGEST, Kind.FAILED)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states.count("StartIngestion") == 2
    assert len(world.bedrock.accepted(INGEST)) == 2
    assert world.status(KEY) == "indexed"


def test_a_failed_document_says_why_and_leaves_the_others_alone(world: World) -> None:
    place = locate(KEY)
    assert isinstance(place, Location)
    world.bedrock.fail(INGEST, Kind.FAILED, where=place.document_id, times=MAX_ATTEMPTS)
    world.at("ensure", 1, lambda: world.drop(OTHER))

    world.drop(KEY)

    [execution] = world.executions()
    document = world.document(KEY)
    assert execution.states[-1] == "WorklistSettled"
    assert document is not None
    assert document.status == "failed"
    assert "Bedrock could not ingest the file" in str(document.status_reason)
    assert world.status(OTHER) == "indexed"


def test_a_document_that_a_job_fails_is_tried_again_by_each_later_one(
    by_jobs: str, world: World
) -> None:
    world.bedrock.fail("StartIngestionJob", Kind.FAILED, where="report.txt")
    world.drop(KEY)
    world.executions()
    failed = world.document(KEY)

    world.drop(OTHER)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    assert failed is not None
    assert (failed.status, failed.attempts) == ("failed", 1)
    assert [world.status(KEY), world.status(OTHER)] == ["indexed", "indexed"]


def test_a_job_that_fails_is_tried_three_times(by_jobs: str, world: World) -> None:
    world.bedrock.refuse_bucket(times=3)

    world.drop(KEY)

    [execution] = world.executions()
    document = world.document(KEY)
    assert execution.status == "SUCCEEDED"
    assert document is not None
    assert document.status == "failed"
    assert "3 ingestion jobs ended failed" in str(document.status_reason)
    assert len(world.bedrock.jobs()) == 3


def test_documents_that_are_decided_on_after_their_job_are_asked_for_again(
    by_jobs: str, world: World
) -> None:
    world.bedrock.fail("StartIngestionJob", Kind.LATE, seconds=LONG)
    world.at("poll", 3, lambda: world.bedrock.pass_time(LONG))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states.count("PollIngestion") >= 3
    assert len(world.bedrock.jobs()) == 1
    assert world.status(KEY) == "indexed"


def test_a_run_whose_catalog_is_gone_ends_well(world: World) -> None:
    def forget() -> None:
        catalog_id = world.catalog(KEY).catalog_id
        key = {"catalog_id": {"S": catalog_id}, "sk": {"S": "METADATA"}}
        session.client("dynamodb").delete_item(TableName=CATALOG_TABLE, Key=key)

    world.at("ensure", 1, forget)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states == [*ENSURED, *RELEASED]
    assert not world.lease(KEY).held
