"""The tasks of a run, whatever its data source takes: whose turn it is, and runs that break."""

import pytest

from stackroom.errors import DataSourceBroken, RunSuperseded
from stackroom.model.records import CatalogStatus, DocumentStatus, PoolMember
from stackroom.runs.bedrock_calls import Busy
from stackroom.runs.run import (
    MAX_STEPS,
    Run,
    RunOutcome,
    RunProgress,
    seconds_until_next_try,
)
from stackroom.runs.run_leases import MAX_FAILURES
from stackroom.runs.work_queue import OpenWork, WorkQueue
from tests.unit.pipeline import CATALOG, KEY, PARKED, SHARED_WORKLIST, Pipeline

OTHER = "alice/research/other.pdf"


@pytest.fixture
def jobs() -> Pipeline:
    """The same where catalogs have data sources of their own that take jobs."""
    pipeline = Pipeline(by_jobs=True)
    pipeline.drop()
    return pipeline


# The data source


def test_a_catalog_without_room_is_left_to_the_shared_run(filled: Pipeline) -> None:
    filled.bedrock.source_limit = 0  # strangers have taken all
    run = filled.execute(CATALOG)
    filled.execute()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert filled.source_of().is_shared
    assert filled.document().status is DocumentStatus.INDEXED


def test_a_data_source_that_never_comes_breaks_the_run_in_the_end(filled: Pipeline) -> None:
    filled.bedrock.available = False
    run = filled.live_run()

    for waits in range(5):
        run = filled.ingestion.ensure(run).run
        assert run.progress.wait_seconds == seconds_until_next_try(waits)

    with pytest.raises(DataSourceBroken):
        filled.ingestion.ensure(run.with_progress(steps=MAX_STEPS))


# The end


def test_repeated_release_after_a_lost_answer_has_the_same_result(filled: Pipeline) -> None:
    run = filled.execute(until="ReleaseRun")
    filled.ingestion.release(run)

    again = filled.ingestion.release(run)

    assert again.progress.outcome is RunOutcome.RELEASED
    assert [*filled.executions.started] == [f"{CATALOG}-1"]


def test_file_dropped_as_a_run_ends_keeps_the_run_going(filled: Pipeline) -> None:
    filled.leases.before("release", lambda *_, **__: filled.drop(OTHER), times=1)

    filled.execute()

    assert [*filled.executions.started] == [f"{CATALOG}-1"]
    assert filled.document(OTHER).status is DocumentStatus.INDEXED


def test_run_whose_catalog_is_gone_ends_and_gives_its_grant_back(filled: Pipeline) -> None:
    run = filled.work()
    filled.catalogs.lose()

    run = filled.go_on(run)

    assert run.progress.outcome is RunOutcome.RELEASED
    assert filled.book.read().grants == ()


def test_a_superseded_run_touches_nothing(filled: Pipeline) -> None:
    old = filled.live_run()
    filled.broken_runs.record(CATALOG, old.epoch, "broken")

    for task in (
        filled.ingestion.ensure,
        filled.ingestion.start,
        filled.ingestion.release,
        filled.polling.poll,
    ):
        with pytest.raises(RunSuperseded):
            task(old)

    assert (filled.bedrock.sources, filled.bedrock.direct_calls) == ({}, [])


def test_a_run_that_was_handed_over_is_superseded(filled: Pipeline) -> None:
    run = filled.live_run()

    filled.execute(run=run.with_progress(steps=MAX_STEPS))

    assert filled.visited[-1] == "RunHandedOver"
    assert filled.executions.started[f"{CATALOG}-2"]["progress"] == {"delay": 0}
    with pytest.raises(RunSuperseded):
        filled.ingestion.start(run)


# Starting a job


def test_starting_twice_gets_the_same_job(jobs: Pipeline) -> None:
    run = jobs.execute(until="StartIngestion")
    queued = jobs.execute(run=run, state="StartIngestion", until=PARKED)
    woken = jobs.execute(run=queued, state=PARKED, until="StartIngestion")

    first = jobs.ingestion.start(woken).run
    again = jobs.ingestion.start(woken).run

    assert first.progress.job_id == again.progress.job_id == "JOB1"
    assert len(jobs.bedrock.jobs) == 1
    assert jobs.document().attempts == 1


def test_a_job_whose_answer_got_lost_is_adopted_when_bedrock_says_busy(jobs: Pipeline) -> None:
    died = jobs.documents.fails("save", ConnectionError(), times=1)
    with pytest.raises(ConnectionError):
        jobs.work()
    jobs.bedrock.tokens.clear()  # tokens expire
    jobs.bedrock.busy = Busy(why="ConflictException")

    adopted = jobs.ingestion.start(jobs.live_run()).run

    assert died.left == 0
    assert (adopted.progress.outcome, adopted.progress.job_id) == (RunOutcome.STARTED, "JOB1")


def test_documents_that_a_broken_run_left_to_their_job_are_settled_first(jobs: Pipeline) -> None:
    broken = jobs.work()
    jobs.drop(OTHER)
    jobs.broken_runs.record(CATALOG, broken.epoch, "broken")

    run = jobs.work()

    assert run.progress.job_id == broken.progress.job_id
    assert jobs.document(OTHER).status is DocumentStatus.PENDING
    jobs.finish_job(run)
    assert jobs.go_on(run, until="WaitForIngestion").progress.job_id == "JOB2"
    assert jobs.document(OTHER).status is DocumentStatus.INDEXING


def test_a_document_changed_while_its_job_was_started_waits_for_the_next(jobs: Pipeline) -> None:
    jobs.documents.before("save", lambda _: jobs.drop(KEY, "newer"), times=1)

    run = jobs.work()
    status = jobs.document().status
    jobs.finish_job(run)
    run = jobs.go_on(run, until="WaitForIngestion")

    assert status is DocumentStatus.PENDING
    assert (jobs.document().status, run.progress.job_id) == (DocumentStatus.INDEXING, "JOB2")


# Runs that break


def test_documents_wait_for_another_run_and_fail_when_all_have_broken(filled: Pipeline) -> None:
    refused = "AccessDeniedException"
    told = [filled.broken_runs.record(CATALOG, 1, refused)]
    after_one = filled.document().status, filled.catalogs.kept[CATALOG].status
    later = range(2, MAX_FAILURES + 1)
    told += [filled.broken_runs.record(CATALOG, epoch, refused) for epoch in later]

    assert after_one == (DocumentStatus.PENDING, CatalogStatus.INDEXING)
    assert [len(each) for each in told] == [0] * (MAX_FAILURES - 1) + [1]
    assert filled.document().status is DocumentStatus.FAILED
    assert "AccessDeniedException" in str(filled.document().status_reason)
    assert filled.catalogs.kept[CATALOG].status is CatalogStatus.FAILED
    assert not filled.leases.kept[CATALOG].held
    assert len(filled.executions.started) == MAX_FAILURES


def test_file_dropped_while_documents_are_given_up_gets_a_run(filled: Pipeline) -> None:
    for epoch in range(1, MAX_FAILURES):
        filled.broken_runs.record(CATALOG, epoch, "AccessDeniedException")

    filled.documents.before("save", lambda _: filled.drop(OTHER), times=1)
    filled.broken_runs.record(CATALOG, MAX_FAILURES, "AccessDeniedException")

    assert filled.document(OTHER).status is DocumentStatus.PENDING
    assert f"{CATALOG}-{MAX_FAILURES + 1}" in filled.executions.started


def test_a_run_that_was_stopped_with_all_else_is_followed_at_once(filled: Pipeline) -> None:
    filled.runs.renew(CATALOG, 1)
    filled.executions.ended.add(f"{CATALOG}-1")

    by_expiry = filled.broken_runs.sweep(filled.runs.expired())
    by_lease = filled.broken_runs.sweep(filled.leases.held(), were_stopped=True)

    assert (by_expiry.followed, by_lease.followed) == ([], [f"{CATALOG}-1"])
    assert filled.executions.started[f"{CATALOG}-2"]["progress"] == {"delay": 0}
    assert filled.leases.kept[CATALOG].failures == 0


@pytest.mark.parametrize("were_stopped", [False, True])
def test_run_that_has_ended_silently_gives_its_grant_back(
    filled: Pipeline, *, were_stopped: bool
) -> None:
    run = filled.work()
    granted = [each.worklist_id for each in filled.book.read().grants]
    filled.executions.ended.add(f"{CATALOG}-{run.epoch}")

    filled.broken_runs.sweep(filled.leases.held(), were_stopped=were_stopped)

    assert granted == [CATALOG]
    assert filled.book.read().grants == ()


WHALE = "alice/whale"


@pytest.fixture
def shared() -> Pipeline:
    """A pipeline where every catalog uses the shared data source."""
    return Pipeline(shared=True)


def drop_many(pipeline: Pipeline, count: int, folder: str = WHALE) -> None:
    for number in range(count):
        pipeline.drop(f"{folder}/{number}.txt")


def queue_of(pipeline: Pipeline) -> WorkQueue:
    return WorkQueue(
        worklists=pipeline.worklists,
        catalogs=pipeline.catalogs,
        documents=pipeline.documents,
        caps=pipeline.caps,
        now=pipeline.clock,
    )


def a_run(worklist_id: str = SHARED_WORKLIST, **progress: object) -> Run:
    return Run(worklist_id=worklist_id, epoch=1, progress=RunProgress.model_validate(progress))


def take(pipeline: Pipeline, run: Run | None = None, *, calls: int = 1) -> OpenWork:
    return queue_of(pipeline).take(run or a_run(), calls=calls)


def keys(work: OpenWork) -> list[str]:
    return [each.s3_key for each in work.small]


def entries(pipeline: Pipeline) -> set[str]:
    return set(pipeline.worklists.kept.get(SHARED_WORKLIST, {}))


# Fair turns


def test_each_catalog_has_a_turn_of_one_call_before_anybody_has_another(shared: Pipeline) -> None:
    drop_many(shared, 100)
    small = [f"user-{number:03}/notes/a.txt" for number in range(250)]  # pages of the worklist
    for key in small:
        shared.drop(key)

    work = take(shared, calls=30)

    found = keys(work)
    assert {*small} <= {*found}
    assert len([each for each in found if each.startswith(WHALE)]) == 300 - len(small)
    assert work.is_more


# What leaves the worklist


def test_catalog_without_open_work_leaves_unless_requested_again(shared: Pipeline) -> None:
    shared.drop(KEY)
    late = "alice/research/late.txt"
    shared.worklists.before("remove_if_unchanged", lambda *_: shared.drop(late), times=1)

    run = shared.execute(SHARED_WORKLIST)

    assert run.progress.outcome is RunOutcome.RELEASED
    assert shared.document(late).status is DocumentStatus.INDEXED
    assert entries(shared) == set()


def test_catalogs_of_a_knowledge_base_that_left_wait_for_its_return(shared: Pipeline) -> None:
    elsewhere = PoolMember(knowledge_base_id="KB9", data_source_id="SHARED9").shared_source
    shared.bucket.upload(KEY)
    shared.uploads.reconcile(KEY, correlation_id="event-1")
    shared.catalogs.place(CATALOG, elsewhere)
    shared.requests.ask(CATALOG)

    run = shared.execute("shared-KB9")

    assert run.progress.outcome is RunOutcome.RELEASED
    assert shared.worklists.kept["shared-KB9"].keys() == {CATALOG}
    assert shared.document().status is DocumentStatus.PENDING
