"""Runs: what they carry, who asks for them, what is tried again, who follows broken ones."""

import pytest

from stackroom.errors import CatalogNotFound, DocumentNotFound, StoreUnavailable
from stackroom.model.records import DocumentStatus
from stackroom.runs.run import DirectCall, DocumentName, Run, RunOutcome
from stackroom.runs.run_leases import MAX_FAILURES
from tests.support.records import NOW
from tests.unit.pipeline import CATALOG, KEY, SHARED_WORKLIST, Pipeline, place_of


def test_run_is_unchanged_by_a_json_round_trip() -> None:
    names = (DocumentName(catalog_id="cat", document_id="doc", version=1),)
    call = DirectCall(accepted_at=NOW, began_at=NOW, documents=names)
    run = Run(worklist_id="cat", epoch=1).with_outcome(
        RunOutcome.STARTED, calls=(call,), job_id="J"
    )

    moved = run.counted(sent=3).counted(sent=2, failed=1).with_outcome(RunOutcome.RUNNING)

    assert Run.model_validate(moved.model_dump(mode="json")) == moved
    assert (moved.progress.steps, moved.progress.job_id) == (2, "J")
    assert (moved.progress.documents.sent, moved.progress.documents.failed) == (5, 1)


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


def test_lease_without_an_execution_gets_one_from_whoever_finds_it(pipeline: Pipeline) -> None:
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


def test_delayed_successor_is_not_started_early_by_other_requests(pipeline: Pipeline) -> None:
    pipeline.runs.ask(CATALOG)
    break_down(pipeline, 1)
    starts: list[str] = []
    pipeline.executions.before("start", lambda name, _: starts.append(name))

    pipeline.runs.ask(CATALOG)

    assert starts == []
    assert pipeline.leases.kept[CATALOG].started


def test_lease_released_during_a_request_is_taken(pipeline: Pipeline) -> None:
    pipeline.runs.ask(CATALOG)
    pipeline.leases.before(
        "ask", lambda _: pipeline.runs.leases.release(CATALOG, 1, served=1), times=1
    )

    pipeline.runs.ask(CATALOG)

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


def test_epochs_from_before_the_control_table_was_lost_are_not_reused(pipeline: Pipeline) -> None:
    for epoch in (1, 2, 3):
        pipeline.executions.start(f"{CATALOG}-{epoch}", {})
        pipeline.executions.ended.add(f"{CATALOG}-{epoch}")

    pipeline.runs.ask(CATALOG)

    lease = pipeline.leases.get(CATALOG)
    assert lease is not None
    assert lease.epoch > 3
    assert pipeline.executions.is_running(lease.execution_name)


OTHER = "bob/letters/first.txt"
BOBS = place_of(OTHER).catalog_id


@pytest.fixture
def shared() -> Pipeline:
    pipeline = Pipeline(shared=True)
    for key in (KEY, OTHER):
        upload(pipeline, key)
    return pipeline


def upload(pipeline: Pipeline, key: str) -> None:
    """Its record is written, and whoever wrote it has yet to ask."""
    pipeline.clock.pass_by(1)
    pipeline.bucket.upload(key, "text")
    pipeline.uploads.reconcile(key, correlation_id="event-1")


def entered(pipeline: Pipeline) -> list[str]:
    return [each.catalog_id for each in pipeline.worklists.entries(SHARED_WORKLIST, limit=100)]


def requested(pipeline: Pipeline) -> dict[str, int]:
    """How often each worklist's run was asked for."""
    return {name: lease.requested for name, lease in pipeline.leases.kept.items()}


def test_catalogs_of_one_shared_data_source_ask_for_one_run_once(shared: Pipeline) -> None:
    failures = shared.requests.ask_all([CATALOG, BOBS])

    assert failures == {}
    assert entered(shared) == sorted([CATALOG, BOBS])
    assert requested(shared) == {SHARED_WORKLIST: 1}
    assert list(shared.executions.started) == [f"{SHARED_WORKLIST}-1"]


def test_failed_request_of_one_catalog_affects_no_other(shared: Pipeline) -> None:
    error = StoreUnavailable("PutItem", "ThrottlingException")
    shared.worklists.fails("add", error, times=1)

    failures = shared.requests.ask_all([CATALOG, BOBS])

    assert failures == {CATALOG: error}
    assert entered(shared) == [BOBS]
    assert requested(shared) == {SHARED_WORKLIST: 1}


def test_no_run_is_requested_for_a_deleted_catalog(shared: Pipeline) -> None:
    assert shared.requests.ask_all(["cat-gone"]) == {}

    assert (entered(shared), requested(shared)) == ([], {})


def test_failed_request_raises_its_error_and_a_reminder_repairs_it(shared: Pipeline) -> None:
    shared.leases.fails("ask", StoreUnavailable("UpdateItem", "ThrottlingException"), times=1)
    with pytest.raises(StoreUnavailable):
        shared.requests.ask(CATALOG)

    reminded = shared.requests.remind()

    assert reminded == [SHARED_WORKLIST]
    assert list(shared.executions.started) == [f"{SHARED_WORKLIST}-1"]


DOCUMENT = place_of(KEY).document_id
REJECTED = "alice/research/a.exe"


def failed(pipeline: Pipeline, *keys: str) -> None:
    """Dropped, taken up three times, and failed by the knowledge base."""
    for key in keys:
        pipeline.drop(key)
        tried = pipeline.document(key).moved(
            DocumentStatus.FAILED, at=pipeline.clock(), reason="Bedrock gave no reason"
        )
        pipeline.documents.save(tried.model_copy(update={"attempts": 3}))


def requests(pipeline: Pipeline) -> int:
    return pipeline.leases.kept[CATALOG].requested


def test_retry_refuses_a_rejected_file_with_the_reason(pipeline: Pipeline) -> None:
    pipeline.drop(REJECTED)

    retried = pipeline.retrying.retry("alice", CATALOG)

    ((document, why),) = retried.refused
    assert document.filename == "a.exe"
    assert (
        "another try would end the same, drop a mended file: File type '.exe' not supported" in why
    )
    assert pipeline.document(REJECTED).status is DocumentStatus.FAILED
    assert CATALOG not in pipeline.leases.kept


def test_a_retry_repeated_after_a_crash_asks_for_the_missing_run(pipeline: Pipeline) -> None:
    failed(pipeline, KEY)

    pipeline.leases.fails("ask", ConnectionError(), times=1)
    with pytest.raises(ConnectionError):
        pipeline.retrying.retry("alice", CATALOG, [DOCUMENT])
    asked_before = requests(pipeline)
    pipeline.retrying.retry("alice", CATALOG, [DOCUMENT])

    document = pipeline.document()
    assert (document.status, document.attempts) == (DocumentStatus.PENDING, 0)
    assert requests(pipeline) == asked_before + 1


def test_retry_refuses_documents_of_a_catalog_being_deleted(pipeline: Pipeline) -> None:
    failed(pipeline, KEY)
    pipeline.catalogs.mark_deleting(CATALOG, at=pipeline.clock())

    retried = pipeline.retrying.retry("alice", CATALOG)

    assert [why for _, why in retried.refused] == ["its catalog is being deleted"]
    assert pipeline.document().status is DocumentStatus.FAILED


def test_retry_of_an_unknown_document_or_foreign_catalog_is_not_found(pipeline: Pipeline) -> None:
    failed(pipeline, KEY)

    with pytest.raises(CatalogNotFound):
        pipeline.retrying.retry("bob", CATALOG)
    with pytest.raises(DocumentNotFound):
        pipeline.retrying.retry("alice", CATALOG, [DOCUMENT, "doc-none"])

    assert pipeline.document().status is DocumentStatus.FAILED


def test_run_left_unstarted_by_a_crash_is_started(pipeline: Pipeline) -> None:
    pipeline.executions.refuse = ConnectionError()
    try:
        pipeline.runs.ask(CATALOG)
    except ConnectionError:
        pipeline.executions.refuse = None
    pipeline.clock.pass_by(3600)

    silent = [each for each in pipeline.runs.expired() if pipeline.runs.is_silent(each)]

    assert silent == []
    assert names(pipeline) == [f"{CATALOG}-1"]


def test_retry_reports_a_document_that_was_removed_meanwhile(pipeline: Pipeline) -> None:
    failed(pipeline, KEY)

    pipeline.documents.before("save", lambda _: pipeline.documents.lose())
    retried = pipeline.retrying.retry("alice", CATALOG, [DOCUMENT])

    assert [why for _, why in retried.refused] == ["it has been removed meanwhile"]
