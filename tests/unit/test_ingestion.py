"""The tasks of a run, whatever its data source takes: whose turn it is, and runs that break."""

import pytest

from stackroom.errors import DataSourceBroken, KnowledgeBaseThrottled, RunSuperseded
from stackroom.model.records import LARGE, CatalogStatus, DocumentStatus, PoolMember
from stackroom.runs.bedrock_calls import Busy
from stackroom.runs.run import (
    BATCH,
    MAX_STEPS,
    DocumentName,
    Run,
    RunOutcome,
    RunProgress,
    seconds_until_next_try,
)
from stackroom.runs.run_leases import MAX_FAILURES
from stackroom.runs.work_queue import OpenWork, WorkQueue
from tests.fakes.admission import a_waiter
from tests.unit.pipeline import CATALOG, KEY, PARKED, SHARED_WORKLIST, Pipeline, place_of

OTHER = "alice/research/other.pdf"


@pytest.fixture
def jobs() -> Pipeline:
    """The same where catalogs have data sources of their own that take jobs."""
    pipeline = Pipeline(by_jobs=True)
    pipeline.drop()
    return pipeline


# The data source


@pytest.mark.parametrize("by_jobs", [False, True])
def test_the_first_run_makes_the_data_source_and_all_others_use_it(*, by_jobs: bool) -> None:
    pipeline = Pipeline(by_jobs=by_jobs)
    for key in (KEY, OTHER):
        pipeline.drop(key)
        pipeline.index(key)

    assert len(pipeline.bedrock.sources) == 1
    assert {each.status for each in pipeline.documents.kept.values()} == {DocumentStatus.INDEXED}
    assert pipeline.visited.count("WorklistSettled") == 2


def test_a_catalog_without_room_is_left_to_the_shared_run(filled: Pipeline) -> None:
    filled.bedrock.source_limit = 0  # strangers have taken all
    run = filled.execute(CATALOG)
    filled.execute()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert filled.source_of().is_shared
    assert filled.document().status is DocumentStatus.INDEXED


def test_throttled_while_placing_is_waited_out(filled: Pipeline) -> None:
    throttled = filled.bedrock.fails("create", KnowledgeBaseThrottled("Create"), times=3)

    filled.index()

    assert throttled.left == 0
    assert filled.visited.count("WaitForDataSource") == 3


def test_a_data_source_that_never_comes_breaks_the_run_in_the_end(filled: Pipeline) -> None:
    filled.bedrock.available = False
    run = filled.live_run()

    for waits in range(5):
        run = filled.ingestion.ensure(run).run
        assert run.progress.wait_seconds == seconds_until_next_try(waits)

    with pytest.raises(DataSourceBroken):
        filled.ingestion.ensure(run.with_progress(steps=MAX_STEPS))


def test_a_delayed_run_waits_before_it_does_anything(filled: Pipeline) -> None:
    late = filled.live_run().with_progress(delay=60)

    waiting = filled.execute(run=late, until="WaitForDataSource")
    made = dict(filled.bedrock.sources)
    done = filled.execute(run=waiting, state="WaitForDataSource")

    assert (waiting.progress.wait_seconds, made) == (60, {})
    assert done.progress.outcome is RunOutcome.RELEASED


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


def test_busy_is_an_outcome_whose_waits_count_up_and_touches_no_document(jobs: Pipeline) -> None:
    jobs.bedrock.busy = Busy(why="ConflictException")
    run = jobs.execute(until="WaitForKnowledgeBase")
    before = run.progress.waits

    for _ in range(12):
        run = jobs.ingestion.start(run).run
        assert run.progress.wait_seconds > 0

    assert run.progress.waits == before + 12
    assert run.progress.outcome is RunOutcome.BUSY
    assert jobs.document().status is DocumentStatus.PENDING


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


def test_a_grant_that_was_lost_is_queued_up_for_again_at_the_same_position(jobs: Pipeline) -> None:
    jobs.bedrock.busy = Busy(why="ConflictException")
    run = jobs.execute(until="WaitForKnowledgeBase")
    jobs.admission.leave(CATALOG, run.epoch)

    again = jobs.ingestion.start(run).run

    assert again.progress.outcome is RunOutcome.QUEUED
    assert again.progress.waiting_since == run.progress.waiting_since is not None
    assert not jobs.bedrock.jobs


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


BOB = "bob/notes/a.txt"
BOBS = place_of(BOB).catalog_id
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


def names(pipeline: Pipeline, *some: str) -> tuple[DocumentName, ...]:
    return tuple(DocumentName.of(pipeline.document(key)) for key in some)


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


def test_catalogs_take_turns_where_few_calls_are_granted(shared: Pipeline) -> None:
    for user in range(5):
        drop_many(shared, 3 * BATCH, f"user-{user}/notes")
    others = a_waiter("others", 0, knowledge_base_id="KB2", since=shared.clock(), calls=7)
    shared.admission.enter_at_once(others)

    shared.execute(SHARED_WORKLIST)

    whose = {each.document_id: each.catalog_id for each in shared.documents.kept.values()}
    turns = [{whose[name] for _, name in call.keys} for call in shared.bedrock.direct_calls]
    assert turns[:10] == [{each} for each in sorted(shared.catalogs.kept)] * 2


def test_a_catalog_alone_is_read_as_far_as_its_calls_go(pipeline: Pipeline) -> None:
    drop_many(pipeline, 45)
    alone = a_run(place_of(f"{WHALE}/0.txt").catalog_id)

    some = take(pipeline, alone, calls=3)
    all_of_it = take(pipeline, alone, calls=5)

    assert (len(some.small), some.is_more) == (30, True)
    assert (len(all_of_it.small), all_of_it.is_more) == (45, False)


# What is left out, and what goes apart


def test_document_set_aside_is_left_until_it_changes(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.drop(BOB)
    run = a_run(set_aside=names(shared, KEY, BOB))

    before = keys(take(shared, run)), queue_of(shared).has_work(run)
    shared.drop(KEY, "newer")
    after = keys(take(shared, run)), queue_of(shared).has_work(run)

    assert before == ([], False)
    assert after == ([KEY], True)
    assert entries(shared) == {CATALOG, BOBS}


def test_large_removed_and_single_documents_get_their_own_calls(shared: Pipeline) -> None:
    small, large, alone, removed = (f"alice/research/{name}.csv" for name in "abcd")
    for key in (small, alone, removed):
        shared.drop(key)
    shared.drop(large, "x" * LARGE)
    shared.execute(SHARED_WORKLIST)
    for key in (small, alone):
        shared.drop(key, "newer")
    shared.drop(large, "y" * LARGE)
    shared.delete(removed)

    work = take(shared, a_run(alone=names(shared, alone)))

    apart = (work.small, work.large, work.alone, work.removed)
    assert [[each.s3_key for each in some] for some in apart] == [
        [small],
        [large],
        [alone],
        [removed],
    ]


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
