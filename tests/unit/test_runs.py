from stackroom.runs.leases import MAX_FAILURES
from tests.unit.pipeline import CATALOG, Pipeline


def names(pipeline: Pipeline) -> list[str]:
    return list(pipeline.executions.started)


def break_down(pipeline: Pipeline, epoch: int) -> None:
    lease = pipeline.runs.held_by(CATALOG, epoch)
    assert lease is not None
    pipeline.runs.recover(lease)


def test_asking_while_a_run_is_live_starts_no_other(pipeline: Pipeline) -> None:
    for _ in range(50):
        pipeline.runs.ask(CATALOG)

    assert names(pipeline) == [f"{CATALOG}-1"]
    assert pipeline.leases.kept[CATALOG].requested == 50


def test_whoever_finds_a_lease_without_execution_starts_it(pipeline: Pipeline) -> None:
    pipeline.executions.refuse = ConnectionError()
    try:
        pipeline.runs.ask(CATALOG)
    except ConnectionError:
        pipeline.executions.refuse = None

    pipeline.runs.ask(CATALOG)

    assert names(pipeline) == [f"{CATALOG}-1"]
    assert pipeline.leases.kept[CATALOG].requested == 2


def test_a_run_that_broke_before_its_first_task_is_followed_and_counted(pipeline: Pipeline) -> None:
    pipeline.runs.ask(CATALOG)
    pipeline.executions.ended.add(f"{CATALOG}-1")
    pipeline.runs.ask(CATALOG)
    asked = names(pipeline)
    pipeline.clock.pass_by(3600)

    pipeline.broken_runs.sweep(pipeline.runs.expired())

    assert asked == [f"{CATALOG}-1"]
    assert names(pipeline) == [f"{CATALOG}-1", f"{CATALOG}-2"]
    assert pipeline.leases.kept[CATALOG].failures == 1


def test_a_follower_that_waits_for_its_time_is_not_started_by_everybody(pipeline: Pipeline) -> None:
    pipeline.runs.ask(CATALOG)
    break_down(pipeline, 1)
    starts: list[str] = []
    pipeline.executions.before("start", lambda name, _: starts.append(name))

    pipeline.runs.ask(CATALOG)

    assert starts == []
    assert pipeline.leases.kept[CATALOG].started


def test_a_lease_that_was_given_back_while_somebody_asked_is_taken(pipeline: Pipeline) -> None:
    pipeline.runs.ask(CATALOG)
    pipeline.leases.before("ask", lambda _: pipeline.runs.release(CATALOG, 1, served=1), times=1)

    pipeline.runs.ask(CATALOG)

    assert names(pipeline) == [f"{CATALOG}-1", f"{CATALOG}-2"]


def test_a_broken_run_is_followed_once_however_often_it_is_told(pipeline: Pipeline) -> None:
    pipeline.runs.ask(CATALOG)

    for _ in range(3):
        if lease := pipeline.runs.held_by(CATALOG, 1):
            pipeline.runs.recover(lease)

    assert names(pipeline) == [f"{CATALOG}-1", f"{CATALOG}-2"]


def test_followers_of_broken_runs_wait_longer_each_time_up_to_an_hour(pipeline: Pipeline) -> None:
    pipeline.runs.ask(CATALOG)

    for epoch in range(1, MAX_FAILURES + 1):
        break_down(pipeline, epoch)

    inputs = list(pipeline.executions.started.values())[1:]
    # A payload's values are objects to the port; these are ours.
    delays = [each["progress"]["delay"] for each in inputs]  # type: ignore[index]
    assert delays == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600]
    assert sum(delays[:-1]) > 3 * 3600


def test_what_a_crash_left_unstarted_is_started(pipeline: Pipeline) -> None:
    pipeline.executions.refuse = ConnectionError()
    try:
        pipeline.runs.ask(CATALOG)
    except ConnectionError:
        pipeline.executions.refuse = None
    pipeline.clock.pass_by(3600)

    silent = [each for each in pipeline.runs.expired() if pipeline.runs.is_silent(each)]

    assert silent == []
    assert names(pipeline) == [f"{CATALOG}-1"]


def test_epochs_from_before_the_control_table_was_lost_are_not_reused(pipeline: Pipeline) -> None:
    for epoch in (1, 2, 3):
        pipeline.executions.start(f"{CATALOG}-{epoch}", {})
        pipeline.executions.ended.add(f"{CATALOG}-{epoch}")

    pipeline.runs.ask(CATALOG)

    lease = pipeline.leases.get(CATALOG)
    assert lease is not None
    assert lease.epoch > 3
    assert pipeline.executions.is_running(lease.execution_name)


def test_a_run_that_ended_before_it_was_marked_is_not_followed(pipeline: Pipeline) -> None:
    def end_at_once(name: str, _: object) -> None:
        pipeline.leases.release(CATALOG, 1, served=1)
        pipeline.executions.ended.add(name)

    pipeline.executions.before("start", end_at_once)

    pipeline.runs.ask(CATALOG)

    lease = pipeline.leases.get(CATALOG)
    assert lease is not None
    assert (lease.epoch, lease.held) == (1, False)
