"""Bedrock fails over sound files for a while: nothing fails that a later try would have healed."""

from collections.abc import Iterable

import pytest

from stackroom.model.records import SERVICE_FAILURE, UNEXPLAINED_FAILURE, DocumentStatus
from stackroom.reconciler.discrepancies import Kind
from stackroom.runs.bedrock_calls import JobState
from stackroom.runs.estimates import DocumentStage
from stackroom.runs.evidence import MAX_ATTEMPTS
from stackroom.runs.run import Run, RunOutcome
from stackroom.text.gaps import UNREAD
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of
from tests.unit.reconciling import LONG, Reconciled

MINUTE, QUARTER, HOUR, DAY = 60.0, 900.0, 3600.0, 86_400.0
KEYS = [KEY, *(f"alice/research/{number}.txt" for number in range(5))]
ELSEWHERE = "bob/plans/other.pdf"


@pytest.fixture
def by_jobs() -> Reconciled:
    return Reconciled(by_jobs=True)


def fails(pipeline: Pipeline, keys: Iterable[str] = (KEY,), status: str = "FAILED") -> None:
    for key in keys:
        pipeline.bedrock.becomes(place_of(key).document_id, status)


def recovers(pipeline: Pipeline, keys: Iterable[str] = (KEY,)) -> None:
    fails(pipeline, keys, "INDEXED")


def work_off(world: Reconciled, key: str = KEY, at_most: int = 900) -> None:
    """The live run, if any, to its end."""
    lease = world.leases.kept.get(world.worklist_of(key))
    if lease is not None and lease.held:
        run = world.execute(world.worklist_of(key), at_most=at_most)
        world.executions.ended.add(f"{run.worklist_id}-{run.epoch}")


def pass_by(world: Reconciled, seconds: float, key: str = KEY) -> list[Kind]:
    """Let time pass with a reconciler's look each quarter of an hour, and return its findings."""
    end, told = world.clock().timestamp() + seconds, list[Kind]()
    work_off(world, key)
    while world.clock().timestamp() < end:
        world.clock.pass_by(QUARTER)
        told += [kind for kind, _ in world.found_between()]
        work_off(world, key)
    return told


def statuses(world: Reconciled) -> set[str]:
    return {each.status for each in world.documents.kept.values()}


def drop_all(world: Reconciled) -> None:
    for key in KEYS:
        world.drop(key)


def staying(world: Reconciled) -> Run:
    """The run as it first waits for Bedrock to recover."""
    return world.execute(world.worklist_of(), until="WaitForKnowledgeBase")


# As long as it lasts


def test_file_that_bedrock_fails_over_is_pending_and_says_until_when(world: Reconciled) -> None:
    world.drop()
    fails(world)

    run = staying(world)

    document = world.document()
    assert document.status is DocumentStatus.PENDING
    assert document.retry_at is not None
    assert f"{document.retry_at:%Y-%m-%d %H:%M} UTC" in str(document.status_reason)
    assert "Bedrock fails" in str(document.status_reason)
    assert run.progress.outcome is RunOutcome.BUSY
    assert world.book.read().grants == ()
    told = world.estimates.of(world.catalogs.kept[CATALOG])
    assert [each.stage for each in told.documents] == [DocumentStage.POSTPONED]
    assert told.eta_seconds is None


@pytest.mark.parametrize("seconds", [1.0, MINUTE, 2 * HOUR])
def test_every_file_is_indexed_soon_after_an_outage(world: Reconciled, seconds: float) -> None:
    drop_all(world)
    fails(world, KEYS)
    ends = world.clock().timestamp() + seconds

    run = staying(world)
    while world.clock().timestamp() < ends and run.progress.outcome is RunOutcome.BUSY:
        world.clock.pass_by(10)
        run = world.execute(run=run, state="StartIngestion", until="WaitForKnowledgeBase")
    world.executions.ended.add(f"{run.worklist_id}-{run.epoch}")
    told = pass_by(world, max(0.0, ends - world.clock().timestamp())) if seconds > HOUR else []
    before = statuses(world)
    recovers(world, KEYS)
    if world.leases.kept[world.worklist_of()].held:
        world.execute(run=run, state="StartIngestion")
    told += pass_by(world, HOUR)

    assert "failed" not in before
    assert statuses(world) == {"indexed"}
    assert told == []


def test_one_document_at_a_time_probes_and_the_first_taken_frees_all(world: Reconciled) -> None:
    drop_all(world)
    fails(world, KEYS)
    run = staying(world)
    first = len(world.bedrock.direct_calls)

    world.clock.pass_by(MINUTE)
    run = world.execute(run=run, state="StartIngestion", until="WaitForKnowledgeBase")
    probes = world.bedrock.direct_calls[first:]
    recovers(world, KEYS)
    world.clock.pass_by(2 * MINUTE)
    world.execute(run=run, state="StartIngestion")

    assert [len(each.keys) for each in probes] == [1]
    assert statuses(world) == {"indexed"}
    assert {each.failing_since for each in world.documents.kept.values()} == {None}


def direct_calls(world: Reconciled) -> list[int]:
    """How many documents each was for."""
    return [len(each.keys) for each in world.bedrock.direct_calls]


def test_200_documents_in_an_outage_are_sent_once_then_one_by_one(world: Reconciled) -> None:
    keys = [f"alice/research/{number}.txt" for number in range(200)]
    for key in keys:
        world.drop(key)
    fails(world, keys)

    run, began = staying(world), world.clock()
    first, sizes = len(world.bedrock.direct_calls), direct_calls(world)
    while (world.clock() - began).total_seconds() < HOUR:
        if run.progress.outcome is RunOutcome.BUSY:
            world.clock.pass_by(10)
            run = world.execute(run=run, state="StartIngestion", until="WaitForKnowledgeBase")
        else:
            world.executions.ended.add(f"{run.worklist_id}-{run.epoch}")
            pass_by(world, QUARTER, keys[0])
    probes = direct_calls(world)[first:]

    assert (sum(sizes), first) == (200, 20)
    assert set(probes) <= {1}
    assert 1 <= len(probes) <= 8
    assert statuses(world) == {"pending"}


def test_new_file_is_not_kept_waiting_behind_many_that_fail(world: Reconciled) -> None:
    keys = [f"alice/research/{number}.txt" for number in range(150)]
    for key in keys:
        world.drop(key)
    fails(world, keys)
    run = staying(world)
    world.clock.pass_by(HOUR)
    world.drop()

    world.execute(run=run, state="StartIngestion", until="WaitForIngestion")

    assert world.document().status is DocumentStatus.INDEXING


def test_pauses_grow_to_an_hour_and_end_after_a_day(world: Reconciled) -> None:
    world.drop()
    fails(world)

    told = pass_by(world, DAY + 2 * HOUR)

    document = world.document()
    assert (document.status, document.status_reason) == (DocumentStatus.FAILED, SERVICE_FAILURE)
    assert MAX_ATTEMPTS + 20 <= len(world.bedrock.direct_calls) <= MAX_ATTEMPTS + 35
    assert told == []


def test_new_version_of_a_file_that_waits_is_tried_at_once(world: Reconciled) -> None:
    world.drop()
    fails(world)
    run = staying(world)
    recovers(world)

    world.drop(KEY, "another text")
    began = world.clock()
    world.execute(run=run, state="StartIngestion")

    assert world.document().status is DocumentStatus.INDEXED
    assert (world.clock() - began).total_seconds() < MINUTE


def test_retry_tries_a_file_that_waits_for_bedrock_at_once(world: Reconciled) -> None:
    world.drop()
    fails(world)
    run = staying(world)
    recovers(world)

    retried = world.retrying.retry("alice", CATALOG, [world.document().document_id])
    world.execute(run=run, state="StartIngestion", at_most=30)

    assert len(retried.again) == 1
    assert world.document().status is DocumentStatus.INDEXED


# By jobs


def failing_job(world: Reconciled, run: Run) -> Run:
    """The run's job is over, and failed over every document."""
    world.finish_job(run, *KEYS, status="FAILED")
    return world.execute(run=run, state="PollIngestion", until="WaitForKnowledgeBase")


def test_file_that_a_job_fails_over_is_taken_by_a_later_one(by_jobs: Reconciled) -> None:
    drop_all(by_jobs)
    run = failing_job(by_jobs, by_jobs.work())
    before = statuses(by_jobs)

    by_jobs.clock.pass_by(MINUTE)
    run = by_jobs.execute(run=run, state="StartIngestion", until="WaitForIngestion")
    by_jobs.finish_job(run, *KEYS)
    by_jobs.go_on(run)

    assert before == {"pending"}
    assert statuses(by_jobs) == {"indexed"}
    assert len(by_jobs.bedrock.jobs) == 2


def test_jobs_cut_short_without_a_reason_postpone_their_files(by_jobs: Reconciled) -> None:
    by_jobs.drop()
    run = by_jobs.work()
    for _ in range(MAX_ATTEMPTS - 1):
        by_jobs.bedrock.finish(str(run.progress.job_id), JobState.FAILED)
        run = by_jobs.go_on(run, until="WaitForIngestion")
    by_jobs.bedrock.finish(str(run.progress.job_id), JobState.FAILED)

    by_jobs.go_on(run, until="WaitForKnowledgeBase")

    assert by_jobs.document().status is DocumentStatus.PENDING
    assert "Bedrock fails" in str(by_jobs.document().status_reason)


# Whose fault it is


def test_file_that_our_reader_gave_up_fails_after_a_few_tries(world: Reconciled) -> None:
    world.drop()
    world.findings.gaps["etag of text"] = (UNREAD,)
    fails(world)

    run = world.execute()

    assert world.document().status_reason == UNEXPLAINED_FAILURE
    assert len(world.bedrock.direct_calls) == world.document().attempts == MAX_ATTEMPTS
    assert run.progress.documents.again == MAX_ATTEMPTS - 1


def test_without_its_result_only_a_document_with_a_text_is_retried(world: Reconciled) -> None:
    world.drop(KEY)
    world.drop(KEYS[1])
    world.change(KEY, text_id="t1")
    world.findings.everything = False
    fails(world, [KEY, KEYS[1]])

    pass_by(world, HOUR)

    assert world.document(KEY).retry_at is not None
    assert world.document(KEYS[1]).status_reason == UNEXPLAINED_FAILURE


def test_file_failing_for_a_day_while_others_succeed_is_final(world: Reconciled) -> None:
    world.drop()
    fails(world)
    pass_by(world, HOUR)
    world.drop(KEYS[1])

    pass_by(world, DAY + HOUR)
    world.reconcile()

    assert world.document().status is DocumentStatus.FAILED
    assert "while it took others" in str(world.document().status_reason)


# Afterwards


def test_reconciler_takes_up_failures_of_bedrocks_once_others_succeed(world: Reconciled) -> None:
    world.drop()
    fails(world)
    pass_by(world, DAY + 2 * HOUR)
    before = world.found()

    recovers(world)
    world.drop(ELSEWHERE)
    work_off(world, ELSEWHERE)
    found = [kind for kind, what in world.found() if what == KEY]
    work_off(world)

    assert KEY not in {what for _, what in before}
    assert Kind.FAILED_BY_BEDROCK in found
    assert world.document().status is DocumentStatus.INDEXED


def test_reconciler_reports_no_file_that_waits_for_bedrock(world: Reconciled) -> None:
    drop_all(world)
    fails(world, KEYS)
    work_off(world)

    world.clock.pass_by(LONG)

    assert world.found() == []
    assert statuses(world) == {"pending"}
