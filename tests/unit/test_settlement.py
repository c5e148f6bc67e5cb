from datetime import timedelta

import pytest

from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model import UNEXPLAINED_FAILURE, CatalogStatus, DocumentStatus
from stackroom.ports.ingestion import Busy, JobState
from stackroom.runs.progress import Run, RunOutcome
from stackroom.settlement.job_standing import DEADLINE
from stackroom.settlement.rounds import REMOVAL_DEADLINE
from stackroom.settlement.statuses import KNOWN_STATUSES
from stackroom.settlement.verdicts import MAX_ATTEMPTS, NOT_FOUND, DocumentOutcome
from tests.fakes.pipeline import BUCKET
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of

OTHER = "alice/research/other.pdf"
REJECTED = "alice/research/report.doc"


def settled_with(pipeline: Pipeline, status: str, reason: str | None = None) -> None:
    """One round over a dropped file in which Bedrock says `status` of it."""
    pipeline.drop()
    run = pipeline.started()
    pipeline.clock.pass_by(1)
    pipeline.bedrock.say(KEY, status, reason)
    pipeline.bedrock.finish(str(run.progress.job_id))
    pipeline.settle(run)


def another_round(pipeline: Pipeline, run: Run) -> Run:
    """Of the run, which was asked for one."""
    run = pipeline.ingestion.release(pipeline.settlement.poll(run))
    assert run.progress.outcome is RunOutcome.MORE
    run, _ = pipeline.ingestion.begin(run)
    pipeline.ingestion.admit(run, f"token of round {run.progress.round}")
    run, _ = pipeline.ingestion.start(run)
    assert run.progress.outcome is RunOutcome.STARTED
    return run


def test_an_indexed_document_says_since_when(pipeline: Pipeline) -> None:
    settled_with(pipeline, "INDEXED")

    document = pipeline.document()
    assert document.status is DocumentStatus.INDEXED
    assert document.indexed_at == pipeline.clock()
    assert document.status_reason is None
    assert pipeline.catalogs.kept[CATALOG].document_count == 1


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("FAILED", UNEXPLAINED_FAILURE),
        ("PARTIALLY_INDEXED", "indexed only a part of the file"),
        ("METADATA_PARTIALLY_INDEXED", "part of the file's attributes"),
        ("METADATA_UPDATE_FAILED", "could not store the file's attributes"),
        ("IGNORED", "does not take this file"),
    ],
)
def test_every_bad_status_fails_the_document_with_a_reason(
    pipeline: Pipeline, status: str, reason: str
) -> None:
    settled_with(pipeline, status)

    assert pipeline.document().status is DocumentStatus.FAILED
    assert reason in str(pipeline.document().status_reason)


@pytest.mark.parametrize(
    "status", ["PENDING", "STARTING", "IN_PROGRESS", "DELETING", "DELETE_IN_PROGRESS"]
)
def test_a_document_still_under_way_keeps_the_round_open(pipeline: Pipeline, status: str) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.bedrock.say(KEY, status)
    pipeline.bedrock.finish(str(run.progress.job_id))

    outcome, settled = pipeline.settle(run)

    assert (outcome, settled) == (RunOutcome.UNSETTLED, [])
    assert pipeline.document().status is DocumentStatus.INDEXING


def test_all_twelve_statuses_are_known_and_a_thirteenth_fails_its_own_document_by_name(
    pipeline: Pipeline,
) -> None:
    settled_with(pipeline, "SOMETHING_NEW")

    assert pipeline.document().status is DocumentStatus.FAILED
    assert "SOMETHING_NEW" in str(pipeline.document().status_reason)
    assert len(KNOWN_STATUSES) == 12


def test_our_inspections_reason_beats_bedrocks_silence(pipeline: Pipeline) -> None:
    pipeline.findings.reasons["etag of text"] = "the PDF is encrypted"

    settled_with(pipeline, "FAILED")

    assert pipeline.document().status_reason == "the PDF is encrypted"


def test_an_inspection_that_ends_while_we_write_is_not_missed(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.bedrock.say(KEY, "FAILED")
    pipeline.bedrock.finish(str(run.progress.job_id))

    def inspected(_: object) -> None:
        pipeline.findings.reasons["etag of text"] = "the PDF is damaged"

    pipeline.documents.before("save", inspected)
    _, settled = pipeline.settle(run)

    assert pipeline.document().status_reason == "the PDF is damaged"
    assert settled[0].document == pipeline.document()


def test_indexed_contradicted_by_a_failed_vector_write_is_failed(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.drop(KEY + ".txt")
    run = pipeline.started()
    pipeline.clock.pass_by(1)
    for key in (KEY, KEY + ".txt"):
        pipeline.bedrock.say(key, "INDEXED")
    why = f"Invalid record [Files: s3://{BUCKET}/{KEY}.txt]"
    pipeline.bedrock.finish(str(run.progress.job_id), JobState.COMPLETE, why)

    pipeline.settle(run)

    assert pipeline.document(KEY).status is DocumentStatus.INDEXED
    assert pipeline.document(KEY + ".txt").status is DocumentStatus.FAILED
    assert "Invalid record" in str(pipeline.document(KEY + ".txt").status_reason)


@pytest.mark.parametrize(
    "why",
    [
        "Encountered error: Ignored 2 files as {limit}. [Files: s3://docs/x, {uri}]. Call failed.",
        "Issue occurred while processing file: {uri}. Call to the store failed.",
    ],
)
def test_a_document_that_the_job_left_out_fails_with_the_jobs_reason(
    pipeline: Pipeline, why: str
) -> None:
    pipeline.drop()
    run = pipeline.started()
    reason = why.format(uri=f"s3://{BUCKET}/{KEY}", limit="the metadata was too large")
    pipeline.bedrock.finish(str(run.progress.job_id), JobState.COMPLETE, reason)

    pipeline.settle(run)

    assert pipeline.document().status is DocumentStatus.FAILED
    assert str(pipeline.document().status_reason).startswith("Bedrock: ")
    assert "s3://docs/x" not in str(pipeline.document().status_reason)


def test_a_document_dropped_again_meanwhile_is_left_to_the_next_round(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.drop(KEY, "newer")
    pipeline.bedrock.say(KEY, "INDEXED")
    pipeline.bedrock.finish(str(run.progress.job_id))

    outcome, settled = pipeline.settle(run)
    released = pipeline.ingestion.release(run)

    assert (outcome, settled) == (RunOutcome.SETTLED, [])
    assert pipeline.document().status is DocumentStatus.PENDING
    assert released.progress.outcome is RunOutcome.MORE


def test_an_old_indexed_does_not_speak_for_a_new_version(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.drop(KEY, "newer")
    run = pipeline.started()
    pipeline.bedrock.finish(str(run.progress.job_id))  # and INDEXED still stands from before

    pipeline.settle(run)

    assert pipeline.document().status is DocumentStatus.PENDING
    assert pipeline.ingestion.release(run).progress.outcome is not RunOutcome.RELEASED


def test_a_version_that_job_after_job_passes_over_is_indexed_in_the_end(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.bedrock.say(KEY, "INDEXED")  # by a job that saw it before its handler was done
    pipeline.is_searchable()
    document = pipeline.document()
    later = {"present_since": pipeline.clock() + timedelta(milliseconds=50)}
    pipeline.documents.save(document.model_copy(update=later))

    statuses = []
    for _ in range(MAX_ATTEMPTS):
        run = pipeline.started()
        pipeline.bedrock.finish(str(run.progress.job_id))
        pipeline.settle(run)
        pipeline.bedrock.tokens.clear()
        statuses.append(pipeline.document().status)

    assert statuses == [DocumentStatus.PENDING, DocumentStatus.PENDING, DocumentStatus.INDEXED]


def test_a_job_adopted_after_a_crash_does_not_speak_for_a_version_dropped_since(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    run = pipeline.admitted()
    pipeline.documents.fails("save", ConnectionError(), times=1)
    with pytest.raises(ConnectionError):
        pipeline.ingestion.start(run)  # the job runs, and nobody wrote it down
    pipeline.drop(KEY, "newer")
    pipeline.clock.pass_by(1)
    pipeline.bedrock.say(KEY, "INDEXED")  # of the first version

    run, _ = pipeline.ingestion.start(run)
    pipeline.bedrock.finish(str(run.progress.job_id))
    pipeline.settle(run)

    assert len(pipeline.bedrock.jobs) == 1
    assert pipeline.document().status is DocumentStatus.PENDING


def test_unchanged_since_an_earlier_job_counts_when_this_one_went_over_everything(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.clock.pass_by(1)
    pipeline.bedrock.say(KEY, "INDEXED")  # by a job before this round, of this very version
    pipeline.is_searchable()
    run = pipeline.started()
    pipeline.bedrock.finish(str(run.progress.job_id))

    pipeline.settle(run)

    assert pipeline.document().status is DocumentStatus.INDEXED


def test_indexed_that_an_earlier_job_said_and_no_search_confirms_is_failed(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.clock.pass_by(1)
    pipeline.bedrock.say(KEY, "INDEXED")  # though its vectors were refused
    run = pipeline.started()
    pipeline.bedrock.finish(str(run.progress.job_id))

    pipeline.settle(run)

    assert pipeline.document().status_reason == NOT_FOUND


def test_unchanged_since_an_earlier_job_does_not_count_if_this_one_failed(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.clock.pass_by(1)
    pipeline.bedrock.say(KEY, "INDEXED")
    run = pipeline.started()
    pipeline.bedrock.finish(str(run.progress.job_id), JobState.FAILED)

    pipeline.settle(run)

    assert pipeline.document().status is DocumentStatus.PENDING


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.STOPPED])
def test_a_document_that_failed_along_with_its_whole_job_has_another_try(
    pipeline: Pipeline, state: JobState
) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.clock.pass_by(1)
    pipeline.bedrock.say(KEY, "FAILED")
    pipeline.bedrock.finish(str(run.progress.job_id), state)

    pipeline.settle(run)

    assert pipeline.document().status is DocumentStatus.PENDING
    assert pipeline.ingestion.release(run).progress.outcome is not RunOutcome.RELEASED


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.STOPPED])
def test_jobs_that_end_badly_are_followed_by_others_and_then_the_documents_fail(
    pipeline: Pipeline, state: JobState
) -> None:
    pipeline.drop()

    for _ in range(MAX_ATTEMPTS):
        run = pipeline.started()
        pipeline.bedrock.finish(str(run.progress.job_id), state, "the role may not")
        pipeline.settle(run)
        pipeline.bedrock.tokens.clear()

    assert len(pipeline.bedrock.jobs) == MAX_ATTEMPTS
    assert pipeline.document().status is DocumentStatus.FAILED
    assert "the role may not" in str(pipeline.document().status_reason)


def a_round_for_another_file(pipeline: Pipeline, status: str) -> None:
    """Bedrock says `status` of the file that failed before."""
    pipeline.drop(OTHER)
    run = pipeline.started()
    pipeline.clock.pass_by(1)
    pipeline.bedrock.say(KEY, status)
    pipeline.bedrock.say(OTHER, "INDEXED")
    pipeline.bedrock.finish(str(run.progress.job_id))
    pipeline.settle(run)


def test_a_failed_document_that_a_later_job_indexes_is_indexed(pipeline: Pipeline) -> None:
    settled_with(pipeline, "FAILED")

    a_round_for_another_file(pipeline, "INDEXED")

    assert pipeline.document().status is DocumentStatus.INDEXED
    assert pipeline.document().status_reason is None


def test_a_failed_document_that_fails_again_stays_as_it_is(pipeline: Pipeline) -> None:
    settled_with(pipeline, "FAILED")
    before = pipeline.document()

    a_round_for_another_file(pipeline, "FAILED")

    assert pipeline.document() == before


def test_a_rejected_document_is_never_indexed_by_bedrocks_word(pipeline: Pipeline) -> None:
    pipeline.drop(body="")

    a_round_for_another_file(pipeline, "INDEXED")  # with its quarantine sidecar

    assert pipeline.document().status is DocumentStatus.FAILED
    assert pipeline.document().status_reason == "the file is empty"


def test_a_deleted_document_is_forgotten_once_bedrock_does_not_know_it(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.delete()
    run = pipeline.started()
    pipeline.bedrock.finish(str(run.progress.job_id))

    still_there, _ = pipeline.settle(run)
    status_meanwhile = pipeline.document().status
    pipeline.bedrock.forget(KEY)
    pipeline.settle(run)

    assert still_there is RunOutcome.SETTLED
    assert status_meanwhile is DocumentStatus.DELETING
    assert not pipeline.documents.kept
    assert pipeline.catalogs.kept[CATALOG].document_count == 0


def test_an_emptied_catalog_that_is_to_go_is_taken_apart_by_the_same_run(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.catalogs.mark_deleting(CATALOG, at=pipeline.clock())
    pipeline.delete()
    run = pipeline.started()
    pipeline.bedrock.finish(str(run.progress.job_id))
    pipeline.bedrock.forget()

    run, _ = pipeline.settlement.settle(pipeline.settlement.poll(run))
    run = pipeline.ingestion.release(run)
    while run.progress.outcome is not RunOutcome.GONE:
        pipeline.clock.pass_by(60)
        run = pipeline.ingestion.begin(run)[0]
    run = pipeline.ingestion.release(run)

    assert run.progress.outcome is RunOutcome.RELEASED
    assert pipeline.catalogs.get(CATALOG) is None
    assert not pipeline.bedrock.sources
    assert pipeline.slots.taken("KB1") == 0


def test_a_document_that_bedrock_will_not_remove_stays_deleting_without_a_loop(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.delete()

    for _ in range(MAX_ATTEMPTS):
        run = pipeline.started()
        pipeline.bedrock.finish(str(run.progress.job_id))
        _, settled = pipeline.settle(run)
        pipeline.bedrock.tokens.clear()
    asked = pipeline.leases.kept[CATALOG].requested

    assert pipeline.document().status is DocumentStatus.DELETING
    assert [each.outcome for each in settled] == [DocumentOutcome.LEFT]
    assert run.progress.served == asked


def test_a_document_uploaded_again_during_its_deletion_is_kept(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.delete()
    run = pipeline.started()
    pipeline.drop()
    pipeline.bedrock.forget()
    pipeline.bedrock.finish(str(run.progress.job_id))

    pipeline.settle(run)

    assert pipeline.document().status is DocumentStatus.PENDING


def test_an_earlier_version_of_a_rejected_file_is_deleted_without_a_job(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.index()
    jobs = len(pipeline.bedrock.jobs)
    pipeline.drop(KEY, "")
    run = pipeline.started()

    while_deleting, _ = pipeline.settle(run)
    lingering = pipeline.document().lingering
    pipeline.clock.pass_by(10)
    gone, _ = pipeline.settle(run)

    document = pipeline.document()
    assert (document.status, document.status_reason) == (DocumentStatus.FAILED, "the file is empty")
    assert (while_deleting, lingering) == (RunOutcome.UNSETTLED, True)
    assert (gone, document.lingering) == (RunOutcome.SETTLED, False)
    assert len(pipeline.bedrock.jobs) == jobs
    assert [each.deletes for each in pipeline.bedrock.direct_calls] == [True]


def test_a_rejected_file_that_a_job_has_indexed_is_taken_out_by_another_round(
    pipeline: Pipeline,
) -> None:
    pipeline.drop(REJECTED)
    pipeline.drop()
    run = pipeline.started()
    pipeline.clock.pass_by(1)
    for key in (KEY, REJECTED):
        pipeline.bedrock.say(key, "INDEXED")
    pipeline.bedrock.finish(str(run.progress.job_id))
    requested = pipeline.leases.kept[CATALOG].requested

    pipeline.settle(run)
    lingering = pipeline.document(REJECTED).lingering
    another = pipeline.started()
    pipeline.clock.pass_by(10)
    pipeline.settle(another)

    assert lingering
    assert pipeline.leases.kept[CATALOG].requested == requested + 1
    assert not pipeline.document(REJECTED).lingering
    assert pipeline.document().status is DocumentStatus.INDEXED
    assert [each.deletes for each in pipeline.bedrock.direct_calls] == [True]


@pytest.mark.parametrize("status", ["FAILED", "IGNORED"])
def test_a_rejected_file_that_bedrock_does_not_take_either_is_left_alone(
    pipeline: Pipeline, status: str
) -> None:
    pipeline.drop(REJECTED)
    pipeline.drop()
    run = pipeline.started()
    pipeline.bedrock.say(REJECTED, status)
    pipeline.bedrock.finish(str(run.progress.job_id))

    pipeline.settle(run)

    assert not pipeline.document(REJECTED).lingering


def test_a_deletion_that_bedrock_is_too_busy_for_is_asked_for_again(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.drop(KEY, "")
    pipeline.bedrock.direct_busy = Busy(why="can't exceed (10)")
    busy = pipeline.work()
    pipeline.bedrock.direct_busy = None

    run, _ = pipeline.ingestion.start(busy)
    pipeline.clock.pass_by(10)
    pipeline.settle(run)

    assert busy.progress.outcome is RunOutcome.BUSY
    assert not pipeline.document().lingering


def test_a_deletion_that_came_to_nothing_is_asked_for_by_another_round(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.drop(KEY, "")
    run = pipeline.started()
    pipeline.clock.pass_by(10)
    source = pipeline.catalogs.kept[CATALOG].source
    assert source is not None
    pipeline.bedrock.put(source, f"s3://{BUCKET}/{KEY}")

    seen_late, _ = pipeline.settle(run)
    pipeline.clock.pass_by(120)
    pipeline.settle(run)

    assert seen_late is RunOutcome.UNSETTLED
    assert (pipeline.document().lingering, pipeline.document().attempts) == (True, 1)
    assert pipeline.leases.kept[CATALOG].requested > run.progress.served


def test_a_rejected_file_is_not_called_evicted_while_a_search_finds_it(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.is_searchable()
    pipeline.drop(KEY, "")

    run = pipeline.started()
    for number in range(MAX_ATTEMPTS):
        pipeline.clock.pass_by(REMOVAL_DEADLINE + 1)
        run, _ = pipeline.settlement.settle(run)
        assert run.progress.outcome is RunOutcome.SETTLED
        if number + 1 < MAX_ATTEMPTS:
            run = another_round(pipeline, run)

    assert pipeline.document().attempts == MAX_ATTEMPTS
    assert pipeline.document().lingering
    assert str(pipeline.document().status_reason).endswith("may still be searchable")


def test_a_file_whose_key_no_call_can_tell_is_evicted_from_its_owners_searches_by_a_job(
    pipeline: Pipeline,
) -> None:
    key = f"alice/research/{'x' * 128}.txt"
    pipeline.drop(key)
    pipeline.index(key)
    pipeline.drop(key, "")
    run = pipeline.started()
    pipeline.bedrock.finish(str(run.progress.job_id))

    pipeline.settle(run)

    assert pipeline.document(key).status is DocumentStatus.FAILED
    assert not pipeline.document(key).lingering
    assert not pipeline.bedrock.direct_calls


def test_a_failed_version_says_so_if_the_earlier_one_is_still_found(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.is_searchable()
    pipeline.drop(KEY, "newer")
    run = pipeline.started()
    pipeline.clock.pass_by(1)
    pipeline.bedrock.say(KEY, "FAILED")
    pipeline.bedrock.finish(str(run.progress.job_id))

    pipeline.settle(run)

    assert pipeline.document().status is DocumentStatus.FAILED
    assert str(pipeline.document().status_reason).endswith("may still be searchable")


@pytest.mark.parametrize(
    ("found", "status"), [(True, DocumentStatus.INDEXED), (False, DocumentStatus.FAILED)]
)
def test_indexed_against_our_inspection_is_believed_only_if_a_search_finds_it(
    pipeline: Pipeline, found: bool, status: DocumentStatus
) -> None:
    pipeline.findings.reasons["etag of text"] = "no text was found in the PDF"
    if found:
        pipeline.is_searchable()

    settled_with(pipeline, "INDEXED")

    assert pipeline.document().status is status


def test_failures_that_only_the_statistics_tell_of_are_counted(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.drop(OTHER)
    run = pipeline.started()
    pipeline.clock.pass_by(1)
    pipeline.bedrock.say(KEY, "INDEXED")
    pipeline.bedrock.say(OTHER, "FAILED")
    pipeline.bedrock.finish(str(run.progress.job_id), failed=3)

    _, settling = pipeline.settlement.settle(run)

    assert settling.unexplained == 2


def test_throttled_while_polling_or_settling_is_waited_out(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.bedrock.fails("get", KnowledgeBaseThrottled("GetIngestionJob"))

    polled = pipeline.settlement.poll(run)
    settled, settling = pipeline.settlement.settle(run)

    assert polled.progress.outcome is RunOutcome.RUNNING
    assert settled.progress.outcome is RunOutcome.UNSETTLED
    assert settling.settled == []


def test_a_rejected_file_that_no_job_can_evict_says_so(pipeline: Pipeline) -> None:
    key = f"alice/research/{'x' * 128}.txt"  # of which no direct call can tell
    pipeline.drop(key)
    pipeline.index(key)
    pipeline.drop(key, "")

    for _ in range(MAX_ATTEMPTS):
        run = pipeline.started()
        pipeline.bedrock.finish(str(run.progress.job_id), JobState.FAILED)
        pipeline.settle(run)
        pipeline.bedrock.tokens.clear()

    assert str(pipeline.document(key).status_reason).endswith("may still be searchable")
    assert pipeline.document(key).lingering


def test_polling_waits_in_proportion_to_the_jobs_age_and_ends_with_it(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.started()

    waits = []
    for _ in range(40):
        run = pipeline.settlement.poll(run)
        waits.append(run.progress.wait_seconds)
        pipeline.clock.pass_by(run.progress.wait_seconds)
    pipeline.bedrock.finish(str(run.progress.job_id))
    over = pipeline.settlement.poll(run)

    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (5, 60)
    assert over.progress.outcome is RunOutcome.OVER


def test_polling_is_twice_as_eager_while_others_wait_for_the_knowledge_base(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.clock.pass_by(100)

    alone = pipeline.settlement.poll(run)
    pipeline.drop("alice/notes/a.txt")
    other = place_of("alice/notes/a.txt").catalog_id
    parked = pipeline.ingestion.begin(pipeline.live_run(other))[0]
    pipeline.ingestion.admit(parked, "token of notes")
    wanted = pipeline.settlement.poll(run)

    assert (alone.progress.wait_seconds, wanted.progress.wait_seconds) == (20, 10)


def test_a_job_past_its_deadline_is_stopped_and_its_documents_fail(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.bedrock.say(KEY, "IN_PROGRESS")
    pipeline.clock.pass_by(DEADLINE + 1)

    running = pipeline.settlement.poll(run)
    pipeline.bedrock.finish(str(run.progress.job_id), JobState.STOPPED)
    over = pipeline.settlement.poll(run)
    pipeline.settle(run)

    assert running.progress.outcome is RunOutcome.RUNNING
    assert pipeline.bedrock.stopped == [run.progress.job_id]
    assert over.progress.outcome is RunOutcome.OVER
    assert "did not finish in time" in str(pipeline.document().status_reason)


def test_a_job_that_never_stops_is_given_up(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.clock.pass_by(DEADLINE + 3601)

    assert pipeline.settlement.poll(run).progress.outcome is RunOutcome.OVER


def test_a_job_nobody_knows_any_more_is_followed_by_another(pipeline: Pipeline) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.bedrock.forget_jobs()

    pipeline.bedrock.say(KEY, "IN_PROGRESS")
    over = pipeline.settlement.poll(run)
    pipeline.settle(run)

    assert over.progress.outcome is RunOutcome.OVER
    assert pipeline.document().status is DocumentStatus.PENDING


def test_settling_twice_changes_nothing_more(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.drop(OTHER)
    run = pipeline.started()
    pipeline.clock.pass_by(1)
    for key in (KEY, OTHER):
        pipeline.bedrock.say(key, "INDEXED")
    pipeline.bedrock.finish(str(run.progress.job_id))

    _, first = pipeline.settle(run)
    outcome, second = pipeline.settle(run)

    assert (len(first), len(second), outcome) == (2, 0, RunOutcome.SETTLED)
    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.READY


def test_a_failed_document_that_only_reads_as_indexed_and_is_not_found_stays_as_it_was(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.bedrock.say(KEY, "FAILED")
    pipeline.bedrock.finish(run.progress.job_id or "")
    settled, _ = pipeline.settlement.settle(pipeline.settlement.poll(run))
    pipeline.ingestion.release(settled)
    failed = pipeline.document()
    pipeline.bedrock.say(KEY, "INDEXED")  # by nobody's job, and no search finds it

    pipeline.drop("alice/research/b.txt")
    again = pipeline.started()
    pipeline.bedrock.say("alice/research/b.txt", "INDEXED")
    pipeline.bedrock.finish(again.progress.job_id or "")
    pipeline.settlement.settle(pipeline.settlement.poll(again))

    assert failed.status is DocumentStatus.FAILED
    assert pipeline.document() == failed
    assert pipeline.document("alice/research/b.txt").status is DocumentStatus.INDEXED
