"""Catalogs without a data source of their own: on the shared one, by direct calls."""

from collections.abc import Iterable
from datetime import timedelta

import pytest

import stackroom.admission.admission
import stackroom.ingestion.direct_round
from stackroom.keys import Location, locate
from stackroom.model import DataSourceType
from stackroom.settlement.verdicts import MAX_ATTEMPTS
from stackroom_local.simulator.disturbances import Kind
from stackroom_local.simulator.rules import DIRECT_DURATION
from tests.workflow.world import World

KEY = "alice/research/report.txt"
NOTES = "alice/research/notes.txt"
OTHER = "bob/letters/first.txt"
MANY = [f"alice/research/{number}.txt" for number in range(15)]
INGEST = "IngestKnowledgeBaseDocuments"
PLACED = ["BeginRun", "IsRunUnderWay", "AdmitIngestion"]
STARTED = ["StartIngestion", "IsIngestionStarted"]
OVER = ["WaitForIngestion", "PollIngestion", "IsIngestionOver"]
SETTLED = ["SettleDocuments", "AreDocumentsSettled"]
RELEASED = ["ReleaseRun", "IsWorklistSettled", "WorklistSettled"]


@pytest.fixture
def full(one_knowledge_base: str, world: World) -> World:
    """No data source is left to give."""
    world.fill(one_knowledge_base)
    return world


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function never stays until documents are settled."""
    monkeypatch.setattr(stackroom.ingestion.direct_round, "_STAYS", 0.0)


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


def test_a_catalog_that_finds_no_slot_is_ingested_directly(full: World) -> None:
    full.drop(KEY)

    [execution] = full.executions()
    assert execution.states == [*PLACED, *STARTED, *RELEASED]
    assert full.catalog(KEY).data_source_type is DataSourceType.CUSTOM
    assert full.status(KEY) == "indexed"
    assert full.bedrock.jobs() == []
    assert full.grants() == []


def test_what_is_ingested_directly_has_the_attributes_of_its_sidecar(full: World) -> None:
    full.drop(KEY)

    full.executions()
    [attributes] = full.bedrock.passages()
    document = full.document(KEY)
    assert document is not None
    assert attributes["user_id"] == "alice"
    assert attributes["document_id"] == document.document_id
    assert attributes["filename"] == "report.txt"


def test_a_slot_lost_to_someone_elses_data_sources_leads_to_the_shared_one(
    one_knowledge_base: str, world: World
) -> None:
    world.bedrock.crowd(one_knowledge_base)

    world.drop(KEY)

    world.executions()
    assert world.catalog(KEY).data_source_type is DataSourceType.CUSTOM
    assert world.status(KEY) == "indexed"


def test_many_files_take_calls_of_ten(full: World) -> None:
    full.functions.before["begin"].append(lambda: drop_all(full, MANY))

    full.drop(KEY)

    [execution] = full.executions()
    assert execution.status == "SUCCEEDED"
    assert {full.status(key) for key in (KEY, *MANY)} == {"indexed"}
    assert ingested(full) == [10, 6]


def test_a_removed_file_is_deleted_directly_and_found_no_more(full: World) -> None:
    full.drop(KEY)
    full.executions()

    full.remove(KEY)

    assert [each.status for each in full.executions()] == ["SUCCEEDED", "SUCCEEDED"]
    assert full.document(KEY) is None
    assert (full.bedrock.documents(), full.bedrock.passages()) == ([], [])
    assert full.bedrock.accepted("Retrieve")


def test_a_changed_file_replaces_what_was_ingested_before(full: World) -> None:
    full.drop(KEY)
    full.executions()

    full.drop(KEY, b"other text")

    full.executions()
    document = full.document(KEY)
    assert document is not None
    assert (document.status, document.size) == ("indexed", len(b"other text"))
    assert len(full.bedrock.documents()) == 1


def test_a_failure_without_a_reason_is_tried_again(full: World) -> None:
    full.bedrock.fail(INGEST, Kind.FAILED)

    full.drop(KEY)

    [execution] = full.executions()
    assert execution.states == [*PLACED, *STARTED, "AdmitIngestion", *STARTED, *RELEASED]
    assert full.status(KEY) == "indexed"


def test_a_failed_document_leaves_the_others_alone(full: World) -> None:
    full.bedrock.fail(INGEST, Kind.FAILED, where=document_id(KEY), times=MAX_ATTEMPTS)
    full.functions.before["begin"].append(lambda: full.drop(NOTES))

    full.drop(KEY)

    [execution] = full.executions()
    assert execution.states[-1] == "WorklistSettled"
    assert [full.status(KEY), full.status(NOTES)] == ["failed", "indexed"]


def test_slow_documents_are_left_to_the_poller(full: World, slow: None) -> None:
    full.bedrock.hold(KEY)
    full.at("poll", 4, lambda: full.bedrock.let_go(KEY))

    full.drop(KEY)

    [execution] = full.executions()
    assert execution.states == [*PLACED, *STARTED, *OVER * 4, *SETTLED, *RELEASED]
    assert full.status(KEY) == "indexed"
    assert full.grants() == []


def test_slow_removals_are_left_to_the_poller(full: World, monkeypatch: pytest.MonkeyPatch) -> None:
    drop_all(full, (KEY, NOTES))
    first = full.executions()
    monkeypatch.setattr(stackroom.ingestion.direct_round, "_STAYS", 0.0)
    full.bedrock.look_every(DIRECT_DURATION.value / 2.5)  # twice while it goes

    full.remove(KEY)

    second = full.executions()[len(first)]
    assert second.states == [*PLACED, *STARTED, *OVER * 3, *SETTLED, *RELEASED]
    assert full.document(KEY) is None


def test_a_refused_call_is_waited_out(full: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stackroom.ingestion.direct_round, "_TAKES_UP", 0.001)
    full.bedrock.fail(INGEST, Kind.BUSY, times=3)

    full.drop(KEY)

    [execution] = full.executions()
    assert execution.states[-1] == "WorklistSettled"
    assert full.status(KEY) == "indexed"
    assert full.grants() == []


def test_two_catalogs_share_the_knowledge_base(full: World, slow: None) -> None:
    full.bedrock.hold(KEY)
    full.drop(KEY)
    full.machine.await_events(full.lease(KEY).execution_name, "WaitStateEntered", times=1)

    full.drop(OTHER)
    full.machine.await_end(full.lease(OTHER).execution_name)
    while_the_first_is_at_work = [full.status(KEY), full.status(OTHER)]
    full.bedrock.let_go(KEY)

    executions = full.executions()
    assert {each.states[-1] for each in executions} == {"WorklistSettled"}
    assert while_the_first_is_at_work == ["indexing", "indexed"]
    assert [full.status(KEY), full.status(OTHER)] == ["indexed", "indexed"]
    assert full.bedrock.refusals == []


def test_direct_calls_wait_for_a_job_to_end(one_knowledge_base: str, world: World) -> None:
    world.bedrock.hold(KEY)
    world.drop(KEY)
    world.machine.await_events(world.lease(KEY).execution_name, "WaitStateEntered", times=1)
    world.fill(one_knowledge_base)
    world.drop(OTHER)
    world.machine.await_parked(world.lease(OTHER).execution_name)

    world.bedrock.let_go(KEY)

    _, second = world.executions()
    assert second.states == [*PLACED, *STARTED, *RELEASED]
    assert [world.status(KEY), world.status(OTHER)] == ["indexed", "indexed"]
    assert world.bedrock.refusals == []


def test_a_job_waits_for_direct_calls_to_be_settled(
    full: World, one_knowledge_base: str, slow: None
) -> None:
    full.bedrock.hold(KEY)
    full.drop(KEY)
    full.machine.await_events(full.lease(KEY).execution_name, "WaitStateEntered", times=1)
    full.slots.free(one_knowledge_base, "cat-0")
    full.drop(OTHER)
    full.machine.await_parked(full.lease(OTHER).execution_name)

    full.bedrock.let_go(KEY)

    _, second = full.executions()
    assert full.catalog(OTHER).data_source_type is DataSourceType.S3
    assert second.states[:5] == [*PLACED, *STARTED]
    assert [full.status(KEY), full.status(OTHER)] == ["indexed", "indexed"]
    assert full.bedrock.refusals == []


@pytest.mark.parametrize("action", ["start", "poll", "settle", "release"])
@pytest.mark.parametrize("late", [False, True])
def test_a_task_whose_answer_got_lost_is_safe_to_repeat(
    full: World, slow: None, action: str, late: bool
) -> None:
    full.functions.interrupt(action, "Sandbox.Timedout", late=late)

    full.drop(KEY)

    [execution] = full.executions()
    assert execution.status == "SUCCEEDED"
    assert full.status(KEY) == "indexed"
    assert full.grants() == []


def test_a_call_whose_answer_got_lost_is_taken_up_again(full: World) -> None:
    full.bedrock.fail(INGEST, Kind.DROPPED, times=3)

    full.drop(KEY)

    [execution] = full.executions()
    assert execution.status == "SUCCEEDED"
    assert full.status(KEY) == "indexed"


def test_a_grant_ends_when_others_wait_and_goes_on_after_them(
    full: World, one_knowledge_base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADMISSION_DIRECT_CALLS", "1")
    monkeypatch.setattr(stackroom.admission.admission, "LONGEST_WHILE_OTHERS_WAIT", timedelta(0))
    full.occupy(one_knowledge_base)
    full.functions.before["begin"].append(lambda: drop_all(full, MANY))
    full.drop(KEY)
    full.machine.await_parked(full.lease(KEY).execution_name)
    full.drop(OTHER)
    full.machine.await_parked(full.lease(OTHER).execution_name)

    full.vacate()
    full.sweep()

    first, second = full.executions()
    assert first.states == [*PLACED, *STARTED, "AdmitIngestion", *STARTED, *RELEASED]
    assert second.states == [*PLACED, *STARTED, *RELEASED]
    assert ingested(full) == [10, 1, 6]
    assert {full.status(key) for key in (KEY, OTHER, *MANY)} == {"indexed"}
