"""Settlement of a job's documents: the job's statements, and how far they are believed."""

from datetime import timedelta

import pytest

from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.model.records import CatalogStatus, DocumentStatus
from stackroom.runs.bedrock_calls import JobState
from stackroom.runs.by_job import JOB_DEADLINE
from stackroom.runs.evidence import FOUND_BY_NO_SEARCH, MAX_ATTEMPTS
from stackroom.runs.ledger import Mode
from stackroom.runs.run import (
    Run,
    RunOutcome,
    seconds_until_first_poll,
    seconds_until_next_poll,
)
from stackroom.runs.verdicts import TaskResult
from tests.fakes.pipeline import BUCKET
from tests.unit.pipeline import CATALOG, KEY, Pipeline

OTHER = "alice/research/other.pdf"


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline(by_jobs=True)


@pytest.fixture
def searched() -> Pipeline:
    """A pipeline whose searches find only what a test makes findable."""
    return Pipeline(by_jobs=True, finds_at_once=False)


@pytest.fixture
def run(pipeline: Pipeline) -> Run:
    """Return the run of a dropped file, whose job is at work."""
    pipeline.drop()
    return pipeline.work()


def over(
    pipeline: Pipeline,
    run: Run,
    state: JobState = JobState.COMPLETE,
    *reasons: str,
    failed: int = 0,
) -> TaskResult:
    """The run's job is over, and looked at."""
    pipeline.clock.pass_by(1)
    pipeline.bedrock.finish(str(run.progress.job_id), state, *reasons, failed=failed)
    return pipeline.poll(run)


def says(pipeline: Pipeline, status: str, *keys: str) -> None:
    pipeline.clock.pass_by(1)
    for key in keys or (KEY,):
        pipeline.bedrock.say(key, status)


def settled_with(pipeline: Pipeline, status: str, *keys: str) -> None:
    """One job over a dropped file, after which Bedrock says `status` of it."""
    for key in keys or (KEY,):
        pipeline.drop(key)
    run = pipeline.work()
    says(pipeline, status, *keys)
    next_job(pipeline, over(pipeline, run))


def next_job(pipeline: Pipeline, polled: TaskResult) -> Run:
    """The one that the same run begins after that."""
    return pipeline.execute(run=polled.run, state="IsIngestionOver", until="WaitForIngestion")


# What Bedrock says


def test_indexed_document_has_its_time_title_and_gaps(pipeline: Pipeline) -> None:
    gaps = ("1 of 2 pages looks garbled: 2",)
    pipeline.findings.titles["etag of text"] = "travel policy"
    pipeline.findings.gaps["etag of text"] = gaps
    pipeline.drop()
    run = pipeline.work()
    says(pipeline, "INDEXED")

    polled = over(pipeline, run)

    document = pipeline.document()
    assert (document.status, document.status_reason) == (DocumentStatus.INDEXED, None)
    assert (document.title_words, document.shown_gaps) == ("travel policy", gaps)
    assert document.moved(DocumentStatus.PENDING, at=document.updated_at).shown_gaps == ()
    assert document.indexed_at == pipeline.clock()
    assert pipeline.catalogs.kept[CATALOG].document_count == 1
    assert polled.run.progress.documents.indexed == 1
    assert pipeline.book.read().grants == ()


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("PARTIALLY_INDEXED", "indexed only a part of the file"),
        ("METADATA_PARTIALLY_INDEXED", "part of the file's attributes"),
        ("METADATA_UPDATE_FAILED", "could not store the file's attributes"),
        ("IGNORED", "does not take this file"),
    ],
)
def test_every_bad_status_fails_with_a_reason(pipeline: Pipeline, status: str, reason: str) -> None:
    settled_with(pipeline, status)

    assert pipeline.document().status is DocumentStatus.FAILED
    assert reason in str(pipeline.document().status_reason)


@pytest.mark.parametrize(
    "status", ["PENDING", "STARTING", "IN_PROGRESS", "DELETING", "DELETE_IN_PROGRESS"]
)
def test_a_document_still_under_way_keeps_the_run_looking(
    pipeline: Pipeline, run: Run, status: str
) -> None:
    says(pipeline, status)

    polled = over(pipeline, run)

    assert (polled.run.progress.outcome, polled.settled) == (RunOutcome.RUNNING, [])
    assert pipeline.document().status is DocumentStatus.INDEXING


def test_indexed_contradicted_by_a_failed_vector_write_is_failed(filled: Pipeline) -> None:
    filled.drop(KEY + ".txt")
    run = filled.work()
    says(filled, "INDEXED", KEY, KEY + ".txt")

    over(filled, run, JobState.COMPLETE, f"Invalid record [Files: s3://{BUCKET}/{KEY}.txt]")

    assert filled.document(KEY).status is DocumentStatus.INDEXED
    assert filled.document(KEY + ".txt").status is DocumentStatus.FAILED
    assert "Invalid record" in str(filled.document(KEY + ".txt").status_reason)


def test_document_that_the_job_left_out_fails_with_the_jobs_reason(
    pipeline: Pipeline, run: Run
) -> None:
    reason = (
        f"Ignored 2 files as too large. [Files: s3://docs/x, s3://{BUCKET}/{KEY}]. Call failed."
    )
    over(pipeline, run, JobState.COMPLETE, reason)

    assert pipeline.document().status is DocumentStatus.FAILED
    assert str(pipeline.document().status_reason).startswith("Bedrock: ")
    assert "s3://docs/x" not in str(pipeline.document().status_reason)


# What we find out ourselves


def test_our_inspections_reason_beats_bedrocks_silence(pipeline: Pipeline) -> None:
    pipeline.findings.reasons["etag of text"] = "the PDF is encrypted"

    settled_with(pipeline, "FAILED")

    assert pipeline.document().status_reason == "the PDF is encrypted"


@pytest.mark.parametrize(
    ("found", "status"), [(True, DocumentStatus.INDEXED), (False, DocumentStatus.FAILED)]
)
def test_indexed_status_against_inspection_is_believed_only_if_found(
    searched: Pipeline, *, found: bool, status: DocumentStatus
) -> None:
    searched.findings.reasons["etag of text"] = "no text was found in the PDF"
    settled_with(searched, "INDEXED")
    run = searched.live_run().with_progress(job_id="JOB1")
    if found:
        searched.is_searchable()

    searched.clock.pass_by(10)
    searched.poll(run)

    assert searched.document().status is status


def test_indexed_of_an_earlier_job_that_no_search_confirms_is_failed(searched: Pipeline) -> None:
    searched.drop()
    says(searched, "INDEXED")  # though its vectors were refused
    searched.clock.pass_by(60)
    run = searched.work()

    over(searched, run)

    assert searched.document().status_reason == FOUND_BY_NO_SEARCH


# Which version it is of


def test_a_version_that_job_after_job_passes_over_is_indexed_in_the_end(filled: Pipeline) -> None:
    filled.bedrock.say(KEY, "INDEXED")  # by a job that saw it before its handler was done
    document = filled.document()
    later = {"present_since": filled.clock() + timedelta(milliseconds=50)}
    filled.documents.save(document.model_copy(update=later))
    run = filled.work()

    statuses = []
    for _ in range(MAX_ATTEMPTS):
        polled = over(filled, run)
        statuses.append(filled.document().status)
        run = next_job(filled, polled)

    assert statuses == [DocumentStatus.PENDING, DocumentStatus.PENDING, DocumentStatus.INDEXED]


def test_a_job_adopted_after_a_crash_speaks_for_no_newer_version(filled: Pipeline) -> None:
    filled.documents.fails("save", ConnectionError(), times=1)
    with pytest.raises(ConnectionError):
        filled.work()  # the job runs, and nobody wrote it down
    filled.drop(KEY, "newer")
    says(filled, "INDEXED")  # of the first version

    run = filled.ingestion.start(filled.live_run()).run
    over(filled, run)

    assert len(filled.bedrock.jobs) == 1
    assert filled.document().status is DocumentStatus.PENDING


# Jobs that end badly, late or never


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.STOPPED])
def test_failed_or_stopped_jobs_are_repeated_before_documents_fail(
    pipeline: Pipeline, run: Run, state: JobState
) -> None:
    for _ in range(MAX_ATTEMPTS):
        run = next_job(pipeline, over(pipeline, run, state, "the role may not"))

    assert len(pipeline.bedrock.jobs) == MAX_ATTEMPTS
    assert pipeline.document().status is DocumentStatus.FAILED
    assert "the role may not" in str(pipeline.document().status_reason)
    assert run.progress.outcome is RunOutcome.RELEASED


def test_a_job_past_its_deadline_is_stopped_and_its_documents_fail(
    pipeline: Pipeline, run: Run
) -> None:
    says(pipeline, "IN_PROGRESS")
    pipeline.clock.pass_by(JOB_DEADLINE + 1)

    running = pipeline.poll(run).run
    over(pipeline, running, JobState.STOPPED)

    assert running.progress.outcome is RunOutcome.RUNNING
    assert pipeline.bedrock.stopped == [run.progress.job_id]
    assert "did not finish in time" in str(pipeline.document().status_reason)


def test_a_job_that_never_stops_is_given_up(pipeline: Pipeline, run: Run) -> None:
    says(pipeline, "IN_PROGRESS")
    pipeline.clock.pass_by(JOB_DEADLINE + 3601)

    polled = pipeline.poll(run)

    assert polled.run.progress.outcome is RunOutcome.SETTLED
    assert pipeline.document().status is DocumentStatus.FAILED
    assert pipeline.book.read().grants == ()


@pytest.mark.parametrize(
    "error",
    [KnowledgeBaseThrottled("GetIngestionJob"), KnowledgeBaseUnavailable("GetIngestionJob", "5")],
)
@pytest.mark.parametrize("call", ["get", "details"])
def test_a_knowledge_base_that_does_not_answer_is_asked_again(
    pipeline: Pipeline, run: Run, call: str, error: Exception
) -> None:
    says(pipeline, "INDEXED")
    failing = pipeline.bedrock.fails(call, error, times=2)

    polled = over(pipeline, run)
    pipeline.execute(run=polled.run, state="IsIngestionOver")

    assert (polled.run.progress.outcome, polled.settled) == (RunOutcome.RUNNING, ())
    assert failing.left == 0
    assert pipeline.document().status is DocumentStatus.INDEXED


def test_polling_waits_by_the_jobs_age(pipeline: Pipeline, run: Run) -> None:
    first = run.progress.wait_seconds
    pipeline.clock.pass_by(100)

    later = pipeline.poll(run).run

    assert first == seconds_until_first_poll(Mode.JOB)
    assert later.progress.wait_seconds == seconds_until_next_poll(Mode.JOB, 100)


def test_settling_twice_changes_nothing_more(filled: Pipeline) -> None:
    filled.drop(OTHER)
    run = filled.work()
    says(filled, "INDEXED", KEY, OTHER)

    first = over(filled, run)
    second = filled.poll(run)

    assert (len(first.settled), len(second.settled)) == (2, 0)
    assert second.run.progress.outcome is RunOutcome.SETTLED
    assert filled.catalogs.kept[CATALOG].status is CatalogStatus.READY


# What failed before, and what every job tries again


def test_a_failed_document_that_a_later_job_indexes_is_indexed(pipeline: Pipeline) -> None:
    settled_with(pipeline, "FAILED")

    pipeline.drop(OTHER)
    run = pipeline.work()
    says(pipeline, "INDEXED", KEY, OTHER)
    pipeline.is_searchable()
    over(pipeline, run)

    assert pipeline.document().status is DocumentStatus.INDEXED
    assert pipeline.document().status_reason is None


def test_rejected_document_stays_rejected_although_bedrock_lists_it(pipeline: Pipeline) -> None:
    pipeline.drop(body="")

    pipeline.drop(OTHER)
    run = pipeline.work()
    says(pipeline, "INDEXED", KEY, OTHER)  # with its quarantine sidecar
    over(pipeline, run)

    assert pipeline.document().status is DocumentStatus.FAILED
    assert pipeline.document().status_reason == "the file is empty"


# Removals


def test_a_deleted_document_is_forgotten_once_bedrock_does_not_know_it(indexed: Pipeline) -> None:
    indexed.delete()
    run = indexed.work()

    still_there = over(indexed, run)
    meanwhile = indexed.document().status
    run = next_job(indexed, still_there)
    indexed.bedrock.forget(KEY)
    over(indexed, run)

    assert still_there.run.progress.outcome is RunOutcome.MORE
    assert meanwhile is DocumentStatus.DELETING
    assert not indexed.documents.kept
    assert indexed.catalogs.kept[CATALOG].document_count == 0


@pytest.fixture
def rejected(searched: Pipeline) -> Pipeline:
    """An indexed file is replaced by one that is rejected; a search may find the earlier one."""
    searched.is_searchable()
    settled_with(searched, "INDEXED")
    searched.drop(KEY, "")
    return searched


def test_a_rejected_file_is_evicted_by_a_job_after_its_sidecar(rejected: Pipeline) -> None:
    run = rejected.work()
    rejected.knowledge_base.forget()  # the job has made it nobody's

    over(rejected, run)

    gone = "the file is empty; the version before it is not found any more"
    assert rejected.document().status_reason == gone
    assert not rejected.document().lingering
    assert rejected.bedrock.direct_calls == []


def test_rejected_file_that_is_still_found_after_some_jobs_is_reported(rejected: Pipeline) -> None:
    run = rejected.work()

    for _ in range(MAX_ATTEMPTS):
        run = next_job(rejected, over(rejected, run))

    assert str(rejected.document().status_reason).endswith("may still be searchable")
    assert rejected.document().lingering


def test_a_rejected_file_that_no_job_went_over_is_not_called_evicted(rejected: Pipeline) -> None:
    run = rejected.work()
    rejected.knowledge_base.forget()

    over(rejected, run, JobState.FAILED)

    assert rejected.document().lingering
