"""A catalog that goes with the data source that it has to itself; searches prove that it has."""

from datetime import timedelta

import pytest

from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model.records import CatalogStatus, DocumentStatus
from stackroom.runs.evidence import DocumentOutcome
from stackroom.runs.run import MAX_STEPS, Run, RunOutcome
from tests.fakes.disturbed import Disturbed
from tests.unit.pipeline import CATALOG, KEY, Pipeline

OTHER = "alice/research/other.pdf"


@pytest.fixture(params=["calls", "jobs"])
def pipeline(request: pytest.FixtureRequest) -> Pipeline:
    """
    A pipeline with an indexed catalog of two documents, at its own data source of either type.
    """
    pipeline = Pipeline(by_jobs=request.param == "jobs")
    for key in (KEY, OTHER):
        pipeline.drop(key)
    pipeline.index(KEY, OTHER)
    pipeline.bedrock.direct_calls.clear()
    return pipeline


def if_a_job(pipeline: Pipeline, run: Run) -> None:
    """Then it is over."""
    if run.progress.job_id is not None:
        pipeline.finish_job(run)


def test_catalog_is_deleted_with_its_data_source_slot_and_documents(pipeline: Pipeline) -> None:
    pipeline.deletions.delete_catalog("alice", CATALOG)

    run = pipeline.execute()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert pipeline.bedrock.direct_calls == []  # no call for each ten of its documents
    assert (pipeline.catalogs.kept, pipeline.documents.kept) == ({}, {})
    assert pipeline.bedrock.sources == {}
    assert pipeline.slots.holders("KB1") == frozenset()
    assert run.progress.documents.removed == 2
    assert [each.outcome for each in pipeline.settled[-2:]] == [DocumentOutcome.GONE] * 2
    assert not any(each.is_open for each in pipeline.receipts.of_user("alice"))


def test_deletion_stays_open_while_a_search_finds_the_document(pipeline: Pipeline) -> None:
    pipeline.is_searchable()  # for some time yet
    pipeline.deletions.delete_catalog("alice", CATALOG)

    run = pipeline.execute(until="WaitForDataSource")  # to be gone
    run = pipeline.execute(run=run, until="WaitForDataSource")  # to be found no more
    left = {each.s3_key: each.status for each in pipeline.documents.kept.values()}
    status, held = pipeline.catalogs.kept[CATALOG].status, pipeline.slots.holders("KB1")
    pipeline.knowledge_base.forget()
    pipeline.execute(run=run, state="WaitForDataSource")

    assert left == {KEY: DocumentStatus.DELETING}
    assert (status, [*held]) == (CatalogStatus.DELETING, [CATALOG])
    assert (pipeline.catalogs.kept, pipeline.documents.kept) == ({}, {})


def test_document_that_stays_found_keeps_its_receipt_open(pipeline: Pipeline) -> None:
    pipeline.is_searchable()
    pipeline.deletions.delete_catalog("alice", CATALOG)

    run = pipeline.execute()
    stuck = pipeline.document()
    receipt = pipeline.receipts.get("alice", str(stuck.receipt_id))
    pipeline.knowledge_base.forget()
    pipeline.requests.ask(CATALOG)
    pipeline.execute()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert stuck.status is DocumentStatus.DELETING
    assert receipt is not None
    assert receipt.is_open
    assert pipeline.catalogs.kept == {}


def test_deleted_catalog_closes_after_its_data_source_and_is_not_placed(
    pipeline: Pipeline,
) -> None:
    pipeline.bedrock.deletion_seconds = 100
    began = pipeline.clock()
    pipeline.deletions.delete_catalog("alice", CATALOG)
    placed: list[str | None] = []
    closed_at: list[timedelta] = []
    pipeline.bedrock.before(
        "remove", lambda *_: placed.append(pipeline.catalogs.kept[CATALOG].data_source_id)
    )
    pipeline.catalogs.before("close", lambda _: closed_at.append(pipeline.clock() - began))

    pipeline.execute()

    assert {*placed} == {None}
    assert closed_at[0] > timedelta(seconds=100)
    assert pipeline.catalogs.kept == {}


def test_a_file_dropped_while_its_source_goes_brings_the_catalog_back(pipeline: Pipeline) -> None:
    before = pipeline.source_of()
    pipeline.bedrock.deletion_seconds = 100
    pipeline.deletions.delete_catalog("alice", CATALOG)
    run = pipeline.execute(until="WaitForDataSource")
    pipeline.drop(KEY, "newer")

    run = pipeline.execute(run=run, state="WaitForDataSource", until="WaitForIngestion")
    if_a_job(pipeline, run)
    pipeline.go_on(run)

    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.READY
    assert pipeline.document().status is DocumentStatus.INDEXED
    assert [each.filename for each in pipeline.documents.kept.values()] == ["report.pdf"]
    assert pipeline.source_of().data_source_id != before.data_source_id
    assert pipeline.slots.holders("KB1") == {CATALOG}


def test_a_file_dropped_at_the_last_moment_keeps_the_catalog(pipeline: Pipeline) -> None:
    pipeline.deletions.delete_catalog("alice", CATALOG)
    pipeline.slots.after("free", lambda *_: pipeline.drop(), times=1)

    run = pipeline.work()

    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.INDEXING
    assert pipeline.document().status is DocumentStatus.INDEXING
    assert run.progress.outcome is RunOutcome.STARTED


def test_a_catalog_deleted_during_a_call_is_taken_down_after_it(pipeline: Pipeline) -> None:
    pipeline.drop("alice/research/late.pdf")
    pipeline.bedrock.direct_seconds = 60.0
    run = pipeline.work()
    pipeline.deletions.delete_catalog("alice", CATALOG)
    at_work: list[object] = []
    pipeline.bedrock.before("remove", lambda *_: at_work.extend(pipeline.bedrock.at_work()))

    run = pipeline.go_on(run, until="WaitForIngestion")
    if_a_job(pipeline, run)
    pipeline.go_on(run)

    assert at_work == []
    assert (pipeline.catalogs.kept, pipeline.documents.kept) == ({}, {})
    assert all(not each.deletes for each in pipeline.bedrock.direct_calls)


def test_empty_catalog_deleted_as_its_run_ends_is_removed_by_that_run(pipeline: Pipeline) -> None:
    for key in (KEY, OTHER):
        pipeline.delete(key)
    run = pipeline.work()
    if run.progress.job_id is not None:
        pipeline.finish_job(run, KEY, OTHER, status="NOT_FOUND")
    run = pipeline.go_on(run, until="ReleaseRun")
    pipeline.deletions.delete_catalog("alice", CATALOG)

    run = pipeline.execute(run=run, state="ReleaseRun")

    assert run.progress.outcome is RunOutcome.RELEASED
    assert (pipeline.catalogs.kept, pipeline.documents.kept) == ({}, {})


@pytest.mark.parametrize("step", ["clear_data_source", "remove", "free", "close"])
def test_catalog_takedown_resumes_after_a_crash(pipeline: Pipeline, step: str) -> None:
    pipeline.deletions.delete_catalog("alice", CATALOG)
    ports: dict[str, Disturbed] = {
        "clear_data_source": pipeline.catalogs,
        "remove": pipeline.bedrock,
        "free": pipeline.slots,
        "close": pipeline.catalogs,
    }

    def crash(*_: object) -> None:
        raise ConnectionError

    ports[step].after(step, crash, times=1)
    with pytest.raises(ConnectionError):
        pipeline.execute()
    run = pipeline.execute()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert (pipeline.catalogs.kept, pipeline.documents.kept) == ({}, {})
    assert pipeline.bedrock.sources == {}
    assert pipeline.slots.holders("KB1") == frozenset()


def test_bedrock_that_is_too_busy_to_delete_it_is_waited_out(pipeline: Pipeline) -> None:
    pipeline.deletions.delete_catalog("alice", CATALOG)
    busy = pipeline.bedrock.fails("remove", KnowledgeBaseThrottled("DeleteDataSource"), times=3)

    pipeline.execute()

    assert busy.left == 0
    assert pipeline.catalogs.kept == {}


def test_run_hands_over_if_a_data_source_is_never_deleted(pipeline: Pipeline) -> None:
    pipeline.bedrock.deletion_seconds = 10_000_000.0
    pipeline.deletions.delete_catalog("alice", CATALOG)

    run = pipeline.execute(at_most=4 * MAX_STEPS)

    assert pipeline.visited[-1] == "RunHandedOver"
    assert run.progress.steps <= MAX_STEPS + 2


def test_a_data_source_whose_slot_was_lost_goes_with_its_catalog(pipeline: Pipeline) -> None:
    pipeline.deletions.delete_catalog("alice", CATALOG)
    pipeline.slots.free("KB1", CATALOG)
    pipeline.catalogs.clear_data_source(CATALOG)

    pipeline.execute()

    assert (pipeline.catalogs.kept, pipeline.bedrock.sources) == ({}, {})


def test_a_catalog_on_a_shared_data_source_leaves_that_alone() -> None:
    shared = Pipeline(shared=True)
    shared.drop()
    shared.execute()
    shared.catalogs.mark_deleting(CATALOG, at=shared.clock())
    shared.delete()

    shared.execute()

    assert (shared.catalogs.kept, shared.documents.kept) == ({}, {})
    assert [each.deletes for each in shared.bedrock.direct_calls] == [False, True]
    assert not shared.bedrock.deleting
