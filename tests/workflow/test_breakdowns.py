"""Every Catch, every bad ending, and that no document is forgotten over them."""

from typing import Any

import pytest

from stackroom.aws.documents import DynamoDocuments
from stackroom.clock import utc_now
from stackroom.errors import StoreUnavailable
from stackroom.runs.leases import MAX_FAILURES
from tests.workflow.world import World

pytestmark = pytest.mark.usefixtures("by_jobs")  # by way of all tasks

KEY = "alice/research/report.txt"
OTHER = "alice/research/notes.txt"
TASKS = ["ensure", "admit", "start", "poll", "release"]


@pytest.mark.parametrize("action", TASKS)
def test_a_run_that_broke_is_followed_by_one_that_ends_the_work(
    world: World, no_delay: None, action: str
) -> None:
    world.functions.interrupt(action, "KeyError")

    world.drop(KEY)

    broken, successor = world.executions()
    assert (broken.status, successor.status) == ("FAILED", "SUCCEEDED")
    assert successor.states[-1] == "WorklistSettled"
    assert world.status(KEY) == "indexed"
    assert not world.lease(KEY).held
    assert len(world.bedrock.jobs()) == 1


def test_what_arrives_while_a_broken_run_has_a_job_is_not_forgotten(
    world: World, no_delay: None
) -> None:
    def break_down() -> None:
        world.drop(OTHER)
        world.functions.interrupt("poll", "KeyError")

    world.functions.before["poll"].append(break_down)

    world.drop(KEY)

    world.executions()
    assert world.status(KEY) == "indexed"
    assert world.status(OTHER) == "indexed"
    assert not world.lease(KEY).held


def test_documents_that_a_cut_short_start_left_behind_are_not_forgotten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_all = DynamoDocuments.save_all
    saving: list[str] = []

    def save_one(documents: DynamoDocuments, given: Any) -> Any:
        saving.append("once")
        if len(saving) > 1:
            return save_all(documents, given)
        save_all(documents, list(given)[:1])
        raise StoreUnavailable("PutItem", "ThrottlingException")

    patched = (DynamoDocuments, "save_all", save_one)
    world.at("start", 2, lambda: monkeypatch.setattr(*patched))
    world.at("ensure", 1, lambda: world.drop(OTHER))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert len(saving) > 1
    assert [world.status(KEY), world.status(OTHER)] == ["indexed", "indexed"]


@pytest.mark.parametrize("action", TASKS)
def test_a_run_that_lost_its_lease_ends_and_touches_nothing_more(world: World, action: str) -> None:
    world.functions.interrupt(action, "RunSuperseded")

    world.drop(KEY)

    [execution] = world.executions()
    assert (execution.status, execution.error) == ("FAILED", "RunSuperseded")
    assert execution.states[-1] == "RunSuperseded"
    assert "record_failure" not in world.functions.actions()


@pytest.mark.parametrize("action", TASKS)
def test_a_run_notices_that_another_has_taken_its_lease(world: World, action: str) -> None:
    def take() -> None:
        assert world.leases.take(world.lease(KEY), until=utc_now(), failures=0)

    world.functions.before[action].append(take)

    world.drop(KEY)

    [execution] = world.executions()
    assert (execution.status, execution.error) == ("FAILED", "RunSuperseded")
    assert world.functions.actions()[-1] == action
    assert world.lease(KEY).epoch == 2


@pytest.mark.parametrize("action", ["ensure", "start", "poll"])
@pytest.mark.parametrize("outcome", ["recorded", "a word of tomorrow"])
def test_an_outcome_that_no_choice_names_breaks_the_run(
    world: World, action: str, outcome: str
) -> None:
    world.functions.answers[action].append(outcome)

    world.drop(KEY)

    broken, successor = world.executions()
    [recorded] = world.functions.calls_of("record_failure")
    assert broken.states[-3:] == ["UnknownOutcome", "RecordFailure", "RunBroke"]
    assert recorded["error"]["Error"] == "UnknownOutcome"
    assert successor.input["progress"] == {"delay": 60}


def test_an_unknown_outcome_of_a_release_that_was_done_has_no_successor(world: World) -> None:
    world.functions.answers["release"].append("a word of tomorrow")

    world.drop(KEY)

    [broken] = world.executions()
    assert broken.states[-3:] == ["UnknownOutcome", "RecordFailure", "RunBroke"]
    assert world.status(KEY) == "indexed"
    assert not world.lease(KEY).held


def test_the_delay_grows_with_every_run_that_breaks(world: World) -> None:
    world.functions.interrupt("ensure", "KeyError")
    world.drop(KEY)

    for _ in range(2):
        world.executions()
        world.machine.stop()
        world.tell_of_broken_runs()

    executions = world.executions()
    assert [each.input["progress"]["delay"] for each in executions] == [0, 60, 120, 240]
    assert world.lease(KEY).failures == 3


def test_after_ten_broken_runs_the_documents_fail_with_the_error(
    world: World, no_delay: None
) -> None:
    world.functions.interrupt("start", "KeyError", times=MAX_FAILURES)

    world.drop(KEY)

    broken = world.executions()
    document = world.document(KEY)
    assert [each.error for each in broken] == ["RunBroke"] * MAX_FAILURES
    assert document is not None
    assert document.status == "failed"
    assert "broke 10 times, the last time with KeyError" in str(document.status_reason)


def test_a_failure_that_could_not_be_recorded_is_told_by_eventbridge(
    world: World, no_delay: None
) -> None:
    world.functions.interrupt("start", "KeyError")
    world.functions.interrupt("record_failure", "KeyError")
    world.drop(KEY)
    [broken] = world.executions()

    world.tell_of_broken_runs()
    world.tell_of_broken_runs()

    assert broken.states[-2:] == ["RecordFailure", "RunBroke"]
    assert [each.status for each in world.executions()] == ["FAILED", "SUCCEEDED"]
    assert world.status(KEY) == "indexed"


def test_an_execution_that_was_aborted_is_followed(world: World, no_delay: None) -> None:
    world.functions.before["poll"].append(world.machine.stop_at_once)
    world.drop(KEY)
    [aborted] = world.executions()

    world.tell_of_broken_runs()

    assert aborted.status == "ABORTED"
    assert world.executions()[1].status == "SUCCEEDED"
    assert world.status(KEY) == "indexed"


def test_the_sweep_follows_a_run_that_ended_without_a_word(world: World, no_delay: None) -> None:
    world.functions.before["poll"].append(world.machine.stop_at_once)
    world.drop(KEY)
    [aborted] = world.executions()
    world.expire_lease(KEY)

    followed = world.sweep()

    assert followed == [aborted.name]
    assert world.executions()[1].status == "SUCCEEDED"
    assert world.status(KEY) == "indexed"
    assert world.sweep() == []


def test_the_sweep_leaves_a_successor_alone_that_still_waits(world: World) -> None:
    world.functions.interrupt("start", "KeyError")
    world.drop(KEY)
    before = world.executions()

    followed = world.sweep()

    assert followed == []
    assert world.executions() == before


def test_a_lease_taken_by_someone_who_died_is_started_by_the_next_upload(world: World) -> None:
    world.drop(KEY)
    world.executions()
    assert world.leases.take(world.lease(KEY), until=utc_now(), failures=0)

    world.drop(OTHER)

    assert [each.input["epoch"] for each in world.executions()] == [1, 2]
    assert world.status(OTHER) == "indexed"


def test_a_lease_taken_by_someone_who_died_is_started_by_the_sweep(world: World) -> None:
    world.drop(KEY)
    world.executions()
    assert world.leases.take(world.lease(KEY), until=utc_now(), failures=0)

    world.sweep()

    assert [each.status for each in world.executions()] == ["SUCCEEDED", "SUCCEEDED"]
    assert not world.lease(KEY).held


def test_an_execution_started_by_hand_under_any_name_disturbs_nothing(world: World) -> None:
    world.drop(KEY)
    world.executions()

    told = world.ingest({"action": "recover", "execution_name": "a-try-of-mine"})

    assert told == {"failed_documents": 0}
    assert len(world.executions()) == 1
