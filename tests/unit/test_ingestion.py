import pytest

from stackroom.errors import DataSourceBroken, KnowledgeBaseThrottled, RunSuperseded
from stackroom.model import CatalogStatus, DocumentStatus
from stackroom.ports.ingestion import Busy
from stackroom.ports.runs import Lease
from stackroom.runs.leases import LEASE, MAX_FAILURES
from stackroom.runs.progress import LONGEST_WAIT, MAX_STEPS, RunOutcome, waiting_time
from stackroom.settlement.broken_runs import SweepResult
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of

OTHER = "alice/research/other.pdf"


def test_one_job_takes_up_everything_that_waits(pipeline: Pipeline) -> None:
    for number in range(20):
        pipeline.drop(f"alice/research/{number}.txt")

    run = pipeline.started()

    assert list(pipeline.bedrock.jobs) == ["JOB1"]
    statuses = {each.status for each in pipeline.documents.kept.values()}
    jobs = {each.ingestion_job_id for each in pipeline.documents.kept.values()}
    assert (statuses, jobs) == ({DocumentStatus.INDEXING}, {run.progress.job_id})


def test_starting_twice_gets_the_same_job(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.admitted()

    first, _ = pipeline.ingestion.start(run)
    again, _ = pipeline.ingestion.start(run)

    assert first.progress.job_id == again.progress.job_id
    assert len(pipeline.bedrock.jobs) == 1
    assert pipeline.document().attempts == 1


def test_busy_is_an_outcome_with_a_growing_wait_and_touches_no_document(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.bedrock.busy = Busy(why="ConflictException")
    run = pipeline.admitted()

    waits = []
    for _ in range(8):
        run, _ = pipeline.ingestion.start(run)
        assert run.progress.outcome is RunOutcome.BUSY
        waits.append(run.progress.wait_seconds)

    assert waits[0] < waits[-1] <= LONGEST_WAIT * 1.5
    assert pipeline.document().status is DocumentStatus.PENDING


def test_throttled_while_placing_is_waited_out(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.bedrock.fails("is_available", KnowledgeBaseThrottled("GetDataSource"))

    run = pipeline.ingestion.begin(pipeline.live_run())[0]

    assert run.progress.outcome is RunOutcome.WAITING


def test_a_job_whose_answer_got_lost_is_adopted_when_bedrock_says_busy(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    run = pipeline.admitted()
    lost, _ = pipeline.ingestion.start(run)
    pipeline.documents.kept = {
        key: each.model_copy(update={"status": DocumentStatus.PENDING, "ingestion_job_id": None})
        for key, each in pipeline.documents.kept.items()
    }
    pipeline.bedrock.tokens.clear()  # tokens expire
    pipeline.bedrock.busy = Busy(why="ConflictException")

    adopted, _ = pipeline.ingestion.start(run)

    assert adopted.progress.outcome is RunOutcome.STARTED
    assert adopted.progress.job_id == lost.progress.job_id


def test_documents_that_a_broken_run_left_indexing_are_settled_first(pipeline: Pipeline) -> None:
    pipeline.drop()
    broken = pipeline.started()
    pipeline.drop(OTHER)
    pipeline.broken_runs.record(CATALOG, broken.epoch, "broken")

    run = pipeline.started()

    assert run.progress.job_id == broken.progress.job_id
    assert run.progress.served == 0  # so that the run lists again before it ends
    assert pipeline.document(OTHER).status is DocumentStatus.PENDING


def test_a_document_changed_while_the_job_was_being_started_waits_for_the_next_round(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()

    pipeline.documents.before("save", lambda _: pipeline.drop(KEY, "newer"), times=1)
    run = pipeline.started()
    released = pipeline.ingestion.release(run)

    assert pipeline.document().status is DocumentStatus.PENDING
    assert released.progress.outcome is RunOutcome.MORE


def test_with_nothing_left_the_run_ends(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.runs.ask(CATALOG)

    run = pipeline.ingestion.begin(pipeline.live_run())[0]
    outcome = run.progress.outcome
    run = pipeline.ingestion.release(run)

    assert (outcome, run.progress.outcome) == (RunOutcome.NOTHING, RunOutcome.RELEASED)
    assert not pipeline.leases.kept[CATALOG].held


def test_a_lingering_version_is_work_though_nothing_is_pending(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.drop(KEY, "")

    run = pipeline.started()

    assert pipeline.document().ingestion_job_id == run.progress.job_id
    assert pipeline.document().status is DocumentStatus.FAILED


def test_a_grant_that_was_lost_is_queued_up_for_again_at_the_same_position(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    run = pipeline.admitted()
    pipeline.admission.leave(CATALOG, run.epoch)

    again, _ = pipeline.ingestion.start(run)

    assert again.progress.outcome is RunOutcome.GRANT_OVER
    assert again.progress.waiting_since == run.progress.waiting_since
    assert not pipeline.bedrock.jobs


def test_the_grant_is_given_back_when_the_job_is_over(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.started()
    assert run.progress.job_id is not None
    pipeline.bedrock.finish(run.progress.job_id)

    run = pipeline.settlement.poll(run)

    assert run.progress.outcome is RunOutcome.OVER
    assert pipeline.book.read().grants == ()


def test_the_grant_of_a_run_that_broke_is_handed_on_at_once(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.started()

    pipeline.broken_runs.record(CATALOG, run.epoch, "broken")

    assert pipeline.book.read().grants == ()


def test_a_job_is_not_started_before_its_time(pipeline: Pipeline) -> None:
    pipeline.drop("alice/first/a.txt")
    first = pipeline.started(place_of("alice/first/a.txt").catalog_id)
    pipeline.bedrock.finish(str(first.progress.job_id))
    pipeline.settlement.poll(first)
    pipeline.drop()

    run = pipeline.started()

    begun = [job.started_at for job in pipeline.bedrock.jobs.values()]
    assert run.progress.job_id == "JOB2"
    assert (begun[1] - begun[0]).total_seconds() >= 10


def test_a_run_hands_over_before_its_history_is_full(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.live_run()
    tired = run.model_copy(
        update={"progress": run.progress.model_copy(update={"steps": MAX_STEPS})}
    )

    run, _ = pipeline.ingestion.start(tired)
    pipeline.ingestion.hand_over(run)

    assert run.progress.outcome is RunOutcome.HAND_OVER
    assert f"{CATALOG}-2" in pipeline.executions.started
    with pytest.raises(RunSuperseded):
        pipeline.ingestion.start(pipeline.live_run().model_copy(update={"epoch": 1}))


def test_a_delayed_run_waits_before_it_does_anything(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.live_run()
    late = run.model_copy(update={"progress": run.progress.model_copy(update={"delay": 60})})

    waiting = pipeline.ingestion.begin(late)[0]
    then = pipeline.ingestion.begin(waiting)[0]

    assert (waiting.progress.outcome, waiting.progress.wait_seconds) == (RunOutcome.WAITING, 60)
    assert then.progress.outcome is RunOutcome.PLACED


def test_a_superseded_run_touches_nothing(pipeline: Pipeline) -> None:
    pipeline.drop()
    old = pipeline.live_run()
    pipeline.broken_runs.record(CATALOG, old.epoch, "broken")

    for task in (pipeline.ingestion.begin, pipeline.ingestion.start):
        with pytest.raises(RunSuperseded):
            task(old)

    assert not pipeline.bedrock.jobs
    assert not pipeline.bedrock.sources


def test_a_broken_run_leaves_its_documents_waiting_for_the_next(pipeline: Pipeline) -> None:
    pipeline.drop()

    pipeline.broken_runs.record(CATALOG, 1, "AccessDeniedException")

    assert pipeline.document().status is DocumentStatus.PENDING
    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.INDEXING
    assert f"{CATALOG}-2" in pipeline.executions.started


def test_documents_fail_with_the_error_when_run_after_run_has_broken(pipeline: Pipeline) -> None:
    pipeline.drop()

    told = [
        pipeline.broken_runs.record(CATALOG, epoch, "AccessDeniedException")
        for epoch in range(1, MAX_FAILURES + 1)
    ]

    assert [len(each) for each in told] == [0] * (MAX_FAILURES - 1) + [1]
    assert pipeline.document().status is DocumentStatus.FAILED
    assert "AccessDeniedException" in str(pipeline.document().status_reason)
    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.FAILED
    assert not pipeline.leases.kept[CATALOG].held
    assert len(pipeline.executions.started) == MAX_FAILURES


def test_what_is_dropped_while_documents_are_given_up_gets_a_run(pipeline: Pipeline) -> None:
    pipeline.drop()
    for epoch in range(1, MAX_FAILURES):
        pipeline.broken_runs.record(CATALOG, epoch, "AccessDeniedException")

    pipeline.documents.before("save", lambda _: pipeline.drop(OTHER), times=1)
    pipeline.broken_runs.record(CATALOG, MAX_FAILURES, "AccessDeniedException")

    assert pipeline.document(OTHER).status is DocumentStatus.PENDING
    assert f"{CATALOG}-{MAX_FAILURES + 1}" in pipeline.executions.started


def test_the_sweep_follows_a_run_that_ended_without_a_word(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.runs.renew(CATALOG, 1)
    pipeline.clock.pass_by(LEASE.total_seconds() + 1)
    pipeline.executions.ended.add(f"{CATALOG}-1")

    swept = [
        pipeline.broken_runs.sweep(pipeline.runs.expired()),
        pipeline.broken_runs.sweep(pipeline.runs.expired()),
    ]

    assert swept == [SweepResult(followed=[f"{CATALOG}-1"]), SweepResult()]
    assert f"{CATALOG}-2" in pipeline.executions.started


def test_a_sweep_of_all_that_is_held_follows_a_run_whose_lease_has_not_expired(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.runs.renew(CATALOG, 1)
    pipeline.executions.ended.add(f"{CATALOG}-1")

    by_expiry = pipeline.broken_runs.sweep(pipeline.runs.expired())
    by_lease = pipeline.broken_runs.sweep(pipeline.runs.held())

    assert (by_expiry.followed, by_lease.followed) == ([], [f"{CATALOG}-1"])


def test_what_goes_wrong_with_one_run_keeps_no_other_from_being_looked_after(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.drop("bob/notes/a.txt")
    other = place_of("bob/notes/a.txt").catalog_id
    for catalog in (CATALOG, other):
        pipeline.runs.renew(catalog, 1)
        pipeline.executions.ended.add(f"{catalog}-1")
    pipeline.clock.pass_by(LEASE.total_seconds() + 1)

    def refuse(lease: Lease, **_: object) -> None:
        if lease.worklist_id == CATALOG:
            raise ValueError("a record that nobody can read")

    pipeline.leases.before("take", refuse)

    swept = pipeline.broken_runs.sweep(pipeline.runs.expired())

    assert swept.followed == [f"{other}-1"]
    assert list(swept.failures) == [f"{CATALOG}-1"]


def test_a_run_that_waits_for_a_data_source_to_go_hands_over_too(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.catalogs.mark_deleting(CATALOG, at=pipeline.clock())
    pipeline.documents.lose()
    pipeline.bedrock.deletion_seconds = 10_000_000.0
    pipeline.runs.ask(CATALOG)
    run = pipeline.live_run()

    while run.progress.outcome is not RunOutcome.HAND_OVER:
        run = pipeline.ingestion.begin(run)[0]

    assert run.progress.steps == MAX_STEPS + 1


def test_a_data_source_that_never_comes_is_waited_for_longer_each_time_and_then_breaks_the_run(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.bedrock.available = False
    run = pipeline.live_run()

    waits = []
    for _ in range(5):
        run = pipeline.ingestion.begin(run)[0]
        waits.append(run.progress.wait_seconds)
    tired = run.progress.model_copy(update={"steps": MAX_STEPS})

    assert waits == sorted(set(waits))
    with pytest.raises(DataSourceBroken):
        pipeline.ingestion.begin(run.model_copy(update={"progress": tired}))[0]


def test_waits_are_whole_seconds_that_grow_to_a_minute() -> None:
    waits = [waiting_time(polls) for polls in range(10)]

    assert waits == [5, 8, 11, 17, 25, 38, 57, 60, 60, 60]
