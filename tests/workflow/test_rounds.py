"""A catalog's run when nothing goes wrong: rounds, and what may happen while they last."""

import pytest

from stackroom.aws import session
from stackroom_local.simulator.disturbances import Kind
from tests.aws.stores import CATALOG_TABLE
from tests.workflow.world import World

pytestmark = pytest.mark.usefixtures("own_first")

KEY = "alice/research/report.txt"
OTHER = "alice/research/notes.txt"
PLACED = ["BeginRun", "IsRunUnderWay"]
ADMITTED = ["AdmitIngestion"]
STARTED = ["StartIngestion", "IsIngestionStarted"]
OVER = ["WaitForIngestion", "PollIngestion", "IsIngestionOver"]
SETTLED = ["SettleDocuments", "AreDocumentsSettled"]
RELEASED = ["ReleaseRun", "IsWorklistSettled"]
LONG = 3600.0  # AWS seconds


def test_a_dropped_file_is_indexed_by_one_run_of_one_round(world: World) -> None:
    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    begun = [*PLACED, *ADMITTED, *STARTED]
    assert execution.states == [*begun, *OVER, *SETTLED, *RELEASED, "WorklistSettled"]
    assert world.status(KEY) == "indexed"
    assert world.catalog(KEY).status == "ready"
    assert not world.lease(KEY).held


def test_a_job_that_runs_is_polled_until_it_is_over(world: World) -> None:
    world.bedrock.hold(KEY)
    world.at("poll", 4, lambda: world.bedrock.let_go(KEY))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states.count("PollIngestion") == 4
    assert execution.states.count("SettleDocuments") == 1
    assert world.status(KEY) == "indexed"


def test_a_data_source_that_is_being_created_is_waited_for(world: World) -> None:
    world.bedrock.fail("CreateDataSource", Kind.LATE, seconds=LONG)
    world.at("begin", 3, lambda: world.bedrock.pass_time(LONG))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[:5] == [*PLACED, "WaitToBegin", *PLACED]
    assert execution.states.count("WaitToBegin") == 2
    assert world.status(KEY) == "indexed"


def test_a_second_file_finds_its_catalog_placed(world: World) -> None:
    world.drop(KEY)
    world.executions()

    world.drop(OTHER)

    first, second = world.executions()
    assert (first.input["epoch"], second.input["epoch"]) == (1, 2)
    assert second.name == f"{world.catalog(KEY).catalog_id}-2"
    assert len(world.bedrock.sources()) == 1
    assert world.status(OTHER) == "indexed"


def test_what_arrives_during_a_job_is_ingested_after_it_in_one_more_round(world: World) -> None:
    keys = [f"alice/research/{number}.txt" for number in range(5)]

    def drop_all() -> None:
        for key in keys:
            world.drop(key)

    world.functions.before["poll"].append(drop_all)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[-1] == "WorklistSettled"
    # Directly, or by one more job where that is sooner by what the first has taken.
    directly = world.bedrock.accepted("IngestKnowledgeBaseDocuments")
    rounds = len(world.bedrock.jobs()) - 1 + bool(directly)
    assert rounds == 1
    assert [world.status(key) for key in [KEY, *keys]] == ["indexed"] * 6


def test_a_duplicate_event_during_a_job_leads_to_a_round_with_nothing_to_do(world: World) -> None:
    world.functions.before["poll"].append(lambda: world.notify("Object Created", KEY))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[-5:] == [*PLACED, *RELEASED, "WorklistSettled"]
    assert len(world.bedrock.jobs()) == 1
    assert world.status(KEY) == "indexed"


def test_a_file_changed_during_its_job_is_ingested_again(world: World) -> None:
    world.functions.before["settle"].append(lambda: world.drop(KEY, b"other text"))

    world.drop(KEY)

    world.executions()
    document = world.document(KEY)
    assert document is not None
    assert document.status == "indexed"
    assert document.size == len(b"other text")
    assert document.ingestion_job_id == world.bedrock.jobs()[1]["ingestionJobId"]


def test_a_removed_file_leaves_index_and_table(world: World) -> None:
    world.drop(KEY)
    world.executions()

    world.remove(KEY)

    assert [each.status for each in world.executions()] == ["SUCCEEDED", "SUCCEEDED"]
    assert world.document(KEY) is None
    assert (world.bedrock.documents(), world.bedrock.passages()) == ([], [])
    assert world.catalog(KEY).document_count == 0


def test_a_file_removed_during_its_job_leaves_index_and_table(world: World) -> None:
    world.functions.before["poll"].append(lambda: world.remove(KEY))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert world.document(KEY) is None
    assert (world.bedrock.documents(), world.bedrock.passages()) == ([], [])


def test_documents_that_bedrock_has_not_decided_on_are_asked_for_again(world: World) -> None:
    world.bedrock.fail("StartIngestionJob", Kind.LATE, seconds=LONG)
    world.at("settle", 3, lambda: world.bedrock.pass_time(LONG))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states.count("SettleDocuments") == 3
    assert len(world.bedrock.jobs()) == 1
    assert world.status(KEY) == "indexed"


def test_waits_for_undecided_documents_grow(world: World) -> None:
    world.bedrock.fail("StartIngestionJob", Kind.LATE, seconds=LONG)
    world.at("settle", 5, lambda: world.bedrock.pass_time(LONG))

    world.drop(KEY)

    world.executions()
    polls = [call["progress"]["polls"] for call in world.functions.calls_of("poll")]
    assert polls == [0, 1, 2, 3, 4]


def test_a_document_that_no_verdict_names_gets_another_job(world: World) -> None:
    world.at("settle", 1, lambda: world.bedrock.forget(KEY))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states.count("StartIngestion") == 2
    assert world.status(KEY) == "indexed"


def test_a_failed_document_says_why_and_leaves_the_others_alone(world: World) -> None:
    # The next job tries it again.
    world.bedrock.fail("StartIngestionJob", Kind.FAILED, where="report.txt", times=2)

    world.drop(KEY)
    world.executions()
    world.drop(OTHER)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    document = world.document(KEY)
    assert document is not None
    assert (document.status, document.attempts) == ("failed", 1)
    assert "Bedrock could not ingest the file" in str(document.status_reason)
    assert world.status(OTHER) == "indexed"


def test_a_job_that_fails_is_tried_three_times(world: World) -> None:
    world.bedrock.refuse_bucket(times=3)

    world.drop(KEY)

    [execution] = world.executions()
    document = world.document(KEY)
    assert execution.status == "SUCCEEDED"
    assert document is not None
    assert document.status == "failed"
    assert "3 ingestion jobs ended failed" in str(document.status_reason)
    assert len(world.bedrock.jobs()) == 3


def test_a_run_whose_catalog_is_gone_ends_well(world: World) -> None:
    def forget() -> None:
        catalog_id = world.catalog(KEY).catalog_id
        key = {"catalog_id": {"S": catalog_id}, "sk": {"S": "METADATA"}}
        session.client("dynamodb").delete_item(TableName=CATALOG_TABLE, Key=key)

    world.functions.before["begin"].append(forget)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states == [*PLACED, *RELEASED, "WorklistSettled"]
    assert not world.lease(KEY).held
