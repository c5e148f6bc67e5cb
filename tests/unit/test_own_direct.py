"""Catalogs with a data source of their own, whose documents direct calls bring where sooner."""

from dataclasses import replace

import pytest

from stackroom.deletions.deletions import Deletions
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model import CatalogStatus, DocumentStatus
from stackroom.ports.admission import Mode, Rate
from stackroom.ports.ingestion import Busy
from stackroom.runs.progress import Run, RunOutcome
from tests.fakes.bedrock import BUCKET
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of

OTHER = "alice/research/other.txt"


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline(by_calls=True)


@pytest.fixture
def synced(pipeline: Pipeline) -> Pipeline:
    """With one document, which the first job has brought, in no time worth measuring."""
    pipeline.drop()
    pipeline.index()
    pipeline.book.ledger = replace(pipeline.book.ledger, rates={})
    return pipeline


def begin(pipeline: Pipeline) -> Run:
    pipeline.runs.ask(CATALOG)
    return pipeline.ingestion.begin(pipeline.live_run())[0]


def by_job(pipeline: Pipeline, run: Run) -> Run:
    """What comes of a run that was sent to queue up."""
    assert run.progress.outcome is RunOutcome.PLACED
    pipeline.ingestion.admit(run, "token")
    return pipeline.ingestion.start(run)[0]


def uri(key: str) -> str:
    return f"s3://{BUCKET}/{key}"


def test_the_first_round_of_a_data_source_is_a_job(pipeline: Pipeline) -> None:
    pipeline.drop()

    run = by_job(pipeline, begin(pipeline))

    assert run.progress.outcome is RunOutcome.STARTED
    assert pipeline.bedrock.direct_calls == []


def test_once_it_was_synced_a_document_is_brought_directly_in_one_task(synced: Pipeline) -> None:
    synced.drop(OTHER)

    run = begin(synced)

    assert run.progress.outcome is RunOutcome.RELEASED
    assert synced.document(OTHER).status is DocumentStatus.INDEXED
    assert [call.keys for call in synced.bedrock.direct_calls] == [(("DS1", uri(OTHER)),)]
    assert len(synced.bedrock.jobs) == 1
    assert synced.catalogs.kept[CATALOG].status is CatalogStatus.READY
    assert synced.book.read().grants == ()


def test_a_file_that_is_gone_is_taken_out_directly(synced: Pipeline) -> None:
    synced.delete()

    run = begin(synced)

    [call] = synced.bedrock.direct_calls
    assert (call.keys, call.deletes) == ((("DS1", uri(KEY)),), True)
    assert run.progress.outcome is RunOutcome.RELEASED
    place = place_of(KEY)
    assert synced.documents.get(place.catalog_id, place.document_id) is None


def test_a_name_too_long_for_a_call_is_left_to_a_job(synced: Pipeline) -> None:
    synced.drop(f"alice/research/{'n' * 120}.txt")
    synced.drop(OTHER)

    run = by_job(synced, begin(synced))

    assert run.progress.outcome is RunOutcome.STARTED
    assert synced.bedrock.direct_calls == []
    assert synced.document(OTHER).ingestion_job_id == run.progress.job_id


def test_what_bedrock_refuses_directly_a_job_tries_and_nothing_fails(synced: Pipeline) -> None:
    synced.bedrock.unwelcome.add(place_of(OTHER).document_id)
    synced.drop(OTHER)

    queued = begin(synced)
    run = by_job(synced, queued)

    assert queued.progress.by_job
    assert run.progress.outcome is RunOutcome.STARTED
    document = synced.document(OTHER)
    assert document.status is DocumentStatus.INDEXING
    assert (document.ingestion_job_id, run.progress.job_id) == ("JOB2", "JOB2")


def test_a_data_source_that_says_it_was_never_synced_gets_a_job(synced: Pipeline) -> None:
    synced.drop(OTHER)
    was_complete = dict(synced.bedrock.jobs)
    synced.documents.before("save_all", lambda _: synced.bedrock.forget_jobs(), times=1)

    queued = begin(synced)
    synced.bedrock.jobs.update(was_complete)
    run = by_job(synced, queued)

    assert run.progress.outcome is RunOutcome.STARTED
    assert synced.document(OTHER).ingestion_job_id == run.progress.job_id


def test_after_the_job_that_was_needed_calls_are_tried_again(synced: Pipeline) -> None:
    synced.bedrock.unwelcome.add(place_of(OTHER).document_id)
    synced.drop(OTHER)
    run = by_job(synced, begin(synced))
    job = run.progress.job_id
    assert job is not None
    synced.bedrock.say(OTHER, "INDEXED")
    synced.is_searchable(OTHER)
    synced.bedrock.finish(job)
    synced.settle(run)
    synced.bedrock.unwelcome.clear()
    synced.drop("alice/research/third.txt")

    run = synced.ingestion.begin(run)[0]

    assert run.progress.outcome is not RunOutcome.PLACED
    assert synced.document("alice/research/third.txt").status is DocumentStatus.INDEXED


def test_documents_that_a_broken_run_left_to_its_job_are_settled_first(synced: Pipeline) -> None:
    synced.drop(OTHER)
    synced.documents.kept = {
        key: each.model_copy(update={"status": DocumentStatus.INDEXING, "ingestion_job_id": "JOB1"})
        if each.filename == "other.txt"
        else each
        for key, each in synced.documents.kept.items()
    }

    run = by_job(synced, begin(synced))

    assert (run.progress.outcome, run.progress.job_id) == (RunOutcome.STARTED, "JOB1")
    assert synced.bedrock.direct_calls == []


def test_where_bedrock_cannot_say_whether_it_was_synced_a_job_is_never_wrong(
    synced: Pipeline,
) -> None:
    synced.drop(OTHER)
    synced.bedrock.fails("is_synced", KnowledgeBaseThrottled("ListIngestionJobs"))

    run = begin(synced)

    assert run.progress.outcome is RunOutcome.PLACED
    assert synced.bedrock.direct_calls == []


def test_calls_that_are_refused_for_a_while_are_waited_out(synced: Pipeline) -> None:
    synced.drop(OTHER)
    synced.bedrock.direct_busy = Busy(why="a job runs")

    run = begin(synced)

    assert run.progress.outcome is RunOutcome.BUSY
    assert synced.document(OTHER).status is DocumentStatus.PENDING
    synced.bedrock.direct_busy = None
    assert synced.ingestion.begin(run)[0].progress.outcome is RunOutcome.RELEASED
    assert synced.document(OTHER).status is DocumentStatus.INDEXED


def test_a_catalog_that_is_to_go_is_emptied_directly_and_taken_down(
    synced: Pipeline, deletions: Deletions
) -> None:
    synced.bedrock.deletion_seconds = 0
    deletions.delete_catalog("alice", CATALOG)

    run = begin(synced)
    assert run.progress.outcome is RunOutcome.MORE
    for _ in range(3):
        run = synced.ingestion.begin(run)[0]

    assert run.progress.outcome is RunOutcome.GONE
    assert synced.bedrock.sources == {}
    assert CATALOG not in synced.catalogs.kept
    assert [call.deletes for call in synced.bedrock.direct_calls] == [True]


def test_where_a_job_is_sooner_the_run_queues_up_for_one(synced: Pipeline) -> None:
    synced.drop(OTHER)
    quick = {Mode.EXCLUSIVE: Rate(base_ms=1000)}
    synced.book.ledger = replace(synced.book.ledger, rates=quick, next_start=None)

    run = by_job(synced, begin(synced))

    assert run.progress.outcome is RunOutcome.STARTED
    assert synced.bedrock.direct_calls == []
