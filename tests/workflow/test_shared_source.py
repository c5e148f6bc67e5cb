"""Catalogs without a data source of their own: on the shared one, by direct calls."""

from collections.abc import Iterable

import pytest

import stackroom.ingestion.direct_round
from stackroom.keys import Location, locate
from stackroom.model import DataSourceType
from stackroom.runs.worklists import shared_worklist
from stackroom.settlement.verdicts import MAX_ATTEMPTS
from stackroom_local.simulator.disturbances import Kind
from stackroom_local.simulator.rules import DIRECT_DURATION
from tests.workflow.world import World

KEY = "alice/research/report.txt"
NOTES = "alice/research/notes.txt"
OTHER = "bob/letters/first.txt"
MANY = [f"alice/research/{number}.txt" for number in range(15)]
INGEST = "IngestKnowledgeBaseDocuments"
BEGUN = ["BeginRun", "IsRunUnderWay"]
ADMITTED = ["AdmitIngestion", "StartIngestion", "IsIngestionStarted"]
OVER = ["WorklistSettled"]


@pytest.fixture
def shared(one_knowledge_base: str, world: World) -> World:
    """Nobody has a data source of their own there, and new catalogs go to the shared one."""
    world.slots.survey(one_knowledge_base, [])
    return world


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function doesn't stay until documents that are held are settled."""
    monkeypatch.setattr(stackroom.ingestion.direct_round, "STAYS", 0.5)


def drop_all(world: World, keys: Iterable[str]) -> None:
    for key in keys:
        world.drop(key)


def ingested(world: World) -> list[int]:
    """Documents of each call that was answered."""
    return [len(asked["documents"]) for asked in world.bedrock.accepted(INGEST)]


def document_id(key: str) -> str:
    place = locate(key)
    assert isinstance(place, Location), "a test's key has its place"
    return place.document_id


def test_a_new_catalog_is_ingested_directly_by_three_states(shared: World) -> None:
    shared.drop(KEY)

    [execution] = shared.executions()
    assert execution.states == [*BEGUN, *OVER]
    assert shared.catalog(KEY).data_source_type is DataSourceType.CUSTOM
    assert shared.status(KEY) == "indexed"
    assert shared.bedrock.jobs() == []
    assert shared.grants() == []


@pytest.mark.usefixtures("own_first")
def test_a_catalog_that_finds_no_slot_is_left_to_the_shared_run(
    one_knowledge_base: str, world: World
) -> None:
    world.fill(one_knowledge_base)

    world.drop(KEY)

    own, common = world.executions()
    assert own.states == [*BEGUN, "ReleaseRun", "IsWorklistSettled", *OVER]
    assert common.states == [*BEGUN, *OVER]
    assert common.input["worklist_id"] == shared_worklist(one_knowledge_base)
    assert world.status(KEY) == "indexed"
    assert world.grants() == []


def test_what_is_ingested_directly_has_the_attributes_of_its_sidecar(shared: World) -> None:
    shared.drop(KEY)

    shared.executions()
    [attributes] = shared.bedrock.passages()
    document = shared.document(KEY)
    assert document is not None
    assert attributes["user_id"] == "alice"
    assert attributes["document_id"] == document.document_id
    assert attributes["filename"] == "report.txt"


@pytest.mark.usefixtures("own_first")
def test_a_slot_lost_to_someone_elses_data_sources_leads_to_the_shared_one(
    one_knowledge_base: str, world: World
) -> None:
    world.bedrock.crowd(one_knowledge_base)

    world.drop(KEY)

    world.executions()
    assert world.catalog(KEY).data_source_type is DataSourceType.CUSTOM
    assert world.status(KEY) == "indexed"


def test_many_files_take_calls_of_ten(shared: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADMISSION_DIRECT_CALLS", "1")
    shared.functions.before["begin"].append(lambda: drop_all(shared, MANY))

    shared.drop(KEY)

    [execution] = shared.executions()
    assert execution.status == "SUCCEEDED"
    assert {shared.status(key) for key in (KEY, *MANY)} == {"indexed"}
    assert ingested(shared) == [10, 6]


def test_a_removed_file_is_deleted_directly_and_found_no_more(shared: World) -> None:
    shared.drop(KEY)
    shared.executions()

    shared.remove(KEY)

    assert [each.status for each in shared.executions()] == ["SUCCEEDED", "SUCCEEDED"]
    assert shared.document(KEY) is None
    assert (shared.bedrock.documents(), shared.bedrock.passages()) == ([], [])
    assert shared.bedrock.accepted("Retrieve")


def test_a_changed_file_replaces_what_was_ingested_before(shared: World) -> None:
    shared.drop(KEY)
    shared.executions()

    shared.drop(KEY, b"other text")

    shared.executions()
    document = shared.document(KEY)
    assert document is not None
    assert (document.status, document.size) == ("indexed", len(b"other text"))
    assert len(shared.bedrock.documents()) == 1


def test_a_failure_without_a_reason_is_tried_again(shared: World) -> None:
    shared.bedrock.fail(INGEST, Kind.FAILED)

    shared.drop(KEY)

    [execution] = shared.executions()
    assert execution.states == [*BEGUN, *OVER]
    assert ingested(shared) == [1, 1]
    assert shared.status(KEY) == "indexed"


def test_a_failed_document_leaves_the_others_alone(shared: World) -> None:
    shared.bedrock.fail(INGEST, Kind.FAILED, where=document_id(KEY), times=MAX_ATTEMPTS)
    shared.functions.before["begin"].append(lambda: shared.drop(NOTES))

    shared.drop(KEY)

    [execution] = shared.executions()
    assert execution.states[-1] == "WorklistSettled"
    assert [shared.status(KEY), shared.status(NOTES)] == ["failed", "indexed"]


def test_slow_documents_are_left_to_the_next_task_and_sent_once(shared: World, slow: None) -> None:
    shared.bedrock.hold(KEY)
    shared.at("begin", 4, lambda: shared.bedrock.let_go(KEY))

    shared.drop(KEY)

    [execution] = shared.executions()
    assert execution.states.count("BeginRun") >= 4
    assert execution.states[-1:] == OVER
    assert ingested(shared) == [1]
    assert shared.status(KEY) == "indexed"
    assert shared.grants() == []


def test_slow_removals_are_waited_for(shared: World) -> None:
    drop_all(shared, (KEY, NOTES))
    shared.executions()
    shared.bedrock.look_every(DIRECT_DURATION.value / 2.5)  # twice while it goes

    shared.remove(KEY)

    assert {each.status for each in shared.executions()} == {"SUCCEEDED"}
    assert shared.document(KEY) is None
    assert [each["filename"] for each in shared.bedrock.passages()] == ["notes.txt"]


def test_a_refused_call_is_waited_out(shared: World) -> None:
    shared.bedrock.fail(INGEST, Kind.BUSY, times=3)

    shared.drop(KEY)

    [execution] = shared.executions()
    assert execution.states[-1:] == OVER
    assert shared.bedrock.refusals == [INGEST] * 3
    assert shared.status(KEY) == "indexed"
    assert shared.grants() == []


def test_a_catalog_that_comes_later_is_served_by_the_run_that_is_under_way(
    shared: World, slow: None
) -> None:
    shared.bedrock.hold(KEY)
    before: list[str | None] = []

    def look() -> None:
        if not before and shared.status(OTHER) == "indexed":
            before.append(shared.status(KEY))
            shared.bedrock.let_go(KEY)

    shared.at("begin", 2, lambda: shared.drop(OTHER))
    shared.functions.before["begin"].extend([look] * 100)

    shared.drop(KEY)

    [execution] = shared.executions()
    assert execution.states[-1:] == OVER
    assert before == ["indexing"]
    assert [shared.status(KEY), shared.status(OTHER)] == ["indexed", "indexed"]
    assert shared.bedrock.refusals == []


@pytest.mark.usefixtures("own_first")
def test_direct_calls_wait_for_a_job_to_end(one_knowledge_base: str, world: World) -> None:
    world.bedrock.hold(KEY)
    world.drop(KEY)
    world.machine.await_events(world.lease(KEY).execution_name, "WaitStateEntered", times=1)
    world.fill(one_knowledge_base)
    world.drop(OTHER)
    world.machine.await_end(world.lease(OTHER).execution_name)
    world.machine.await_parked(f"{shared_worklist(one_knowledge_base)}-1")

    world.bedrock.let_go(KEY)

    *_, common = world.executions()
    assert common.states == [*BEGUN, *ADMITTED, *OVER]
    assert [world.status(KEY), world.status(OTHER)] == ["indexed", "indexed"]
    assert world.bedrock.refusals == []


@pytest.mark.usefixtures("own_first")
def test_a_job_waits_for_direct_calls_to_be_settled(
    one_knowledge_base: str, world: World, slow: None
) -> None:
    world.fill(one_knowledge_base)
    world.bedrock.hold(KEY)
    world.drop(KEY)
    world.machine.await_end(world.lease(KEY).execution_name)
    world.machine.await_events(f"{shared_worklist(one_knowledge_base)}-1", "TaskSucceeded", times=2)
    world.slots.free(one_knowledge_base, "cat-0")
    world.drop(OTHER)
    world.machine.await_parked(world.lease(OTHER).execution_name)

    world.bedrock.let_go(KEY)

    world.executions()
    assert world.catalog(OTHER).data_source_type is DataSourceType.S3
    assert [world.status(KEY), world.status(OTHER)] == ["indexed", "indexed"]
    assert world.bedrock.refusals == []


@pytest.mark.parametrize(
    ("action", "late"),
    [
        ("begin", False),
        ("begin", True),
        ("admit", False),
        ("admit", True),
        ("start", False),
        ("start", True),
    ],
)
def test_a_task_whose_answer_got_lost_is_safe_to_repeat(
    shared: World, one_knowledge_base: str, action: str, late: bool
) -> None:
    shared.occupy(one_knowledge_base)
    shared.functions.interrupt(action, "Sandbox.Timedout", late=late)
    shared.drop(KEY)
    shared.machine.await_parked(f"{shared_worklist(one_knowledge_base)}-1")

    shared.vacate()
    shared.sweep()

    [execution] = shared.executions()
    assert execution.status == "SUCCEEDED"
    assert not any(shared.functions.interruptions.values())
    assert shared.status(KEY) == "indexed"
    assert shared.grants() == []


def test_a_call_whose_answer_got_lost_is_sent_again(shared: World) -> None:
    for _ in range(3):
        shared.bedrock.fail(INGEST, Kind.DROPPED)
    shared.drop(KEY)

    [execution] = shared.executions()

    assert execution.status == "SUCCEEDED"
    assert shared.status(KEY) == "indexed"
    assert shared.grants() == []
