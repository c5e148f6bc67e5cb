"""Direct calls, from the first one sent to the last document settled."""

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

import pytest

from stackroom.errors import KnowledgeBaseThrottled, StoreUnavailable
from stackroom.model.records import LARGE, DocumentStatus
from stackroom.runs.bedrock_calls import Busy
from stackroom.runs.evidence import MAX_ATTEMPTS, UNSEEN, DocumentOutcome
from stackroom.runs.run import BATCH, MAX_STEPS, Run, RunOutcome
from tests.fakes.admission import a_job
from tests.fakes.direct import DirectCall
from tests.unit.pipeline import KEY, PARKED, Pipeline, place_of

DOCUMENT = place_of(KEY).document_id
ALL_BUSY = Busy(why="ValidationException: can't exceed (10)")


def drop(pipeline: Pipeline, count: int) -> list[str]:
    keys = [f"alice/research/{number}.txt" for number in range(count)]
    for key in keys:
        pipeline.drop(key)
    return keys


def statuses(pipeline: Pipeline) -> set[str]:
    return {each.status for each in pipeline.documents.kept.values()}


def named(call: DirectCall) -> list[str]:
    return [document_id for _, document_id in call.keys]


def calls(pipeline: Pipeline) -> list[tuple[bool, list[str]]]:
    """Return for each call whether it removes, and its documents."""
    return [(each.deletes, named(each)) for each in pipeline.bedrock.direct_calls]


def polls(pipeline: Pipeline, run: Run) -> Iterator[Run]:
    """One after another, while something is at work."""
    while run.progress.outcome is not RunOutcome.SETTLED:
        pipeline.clock.pass_by(run.progress.wait_seconds)
        run = pipeline.poll(run).run
        yield run


# What is sent


def test_documents_are_ingested_ten_a_call_with_their_attributes(pipeline: Pipeline) -> None:
    drop(pipeline, 60)
    pipeline.drop(KEY, "text", kb_domain="biology")

    run = pipeline.execute()

    sizes = [len(call.keys) for call in pipeline.bedrock.direct_calls]
    assert (sum(sizes), max(sizes), sizes[:2]) == (61, BATCH, [BATCH] * 2)
    assert statuses(pipeline) == {"indexed"}
    submitted = pipeline.bedrock.submitted[(pipeline.source_of().data_source_id, DOCUMENT)]
    assert submitted.attributes == pipeline.bucket.sidecar_attributes(KEY)
    assert submitted.attributes["domain"] == "biology"
    assert (run.progress.documents.sent, run.progress.documents.indexed) == (61, 61)


def test_document_with_a_forged_sidecar_keeps_its_owner(pipeline: Pipeline) -> None:
    pipeline.drop(KEY, "text", kb_domain="biology")
    ours = pipeline.bucket.sidecar_attributes(KEY)
    forged = {**ours, "user_id": "mallory", "catalog_id": "cat-m", "document_id": "doc-m"}
    pipeline.bucket.write_sidecar(KEY, json.dumps({"metadataAttributes": forged}).encode())

    pipeline.execute()

    source = pipeline.source_of()
    assert pipeline.bedrock.submitted[(source.data_source_id, DOCUMENT)].attributes == ours


def test_document_changed_since_it_was_listed_is_in_no_direct_call(pipeline: Pipeline) -> None:
    drop(pipeline, 2)
    pipeline.documents.before(
        "save_all", lambda _: pipeline.delete("alice/research/0.txt"), times=1
    )

    pipeline.work()

    assert calls(pipeline)[0] == (False, [place_of("alice/research/1.txt").document_id])
    assert pipeline.document("alice/research/0.txt").status is DocumentStatus.DELETING


def test_large_documents_take_half_of_the_calls_at_most(pipeline: Pipeline) -> None:
    for number in range(12):
        pipeline.drop(f"alice/research/large-{number}.csv", "x" * LARGE)
    large = {each.document_id for each in pipeline.documents.kept.values()}
    drop(pipeline, 5)
    at_work: list[int] = []
    pipeline.bedrock.after(
        "ingest",
        lambda *_, **__: at_work.append(
            sum(bool(large & {*named(each)}) for each in pipeline.bedrock.at_work())
        ),
    )

    pipeline.execute()

    assert max(at_work) == 5
    assert statuses(pipeline) == {"indexed"}


# How it is looked at


def test_a_call_is_looked_at_by_its_last_document_and_at_times_whole(pipeline: Pipeline) -> None:
    keys = drop(pipeline, 30)
    run = pipeline.work()
    last = [call.documents[-1].document_id for call in run.progress.calls]
    for each in last:
        pipeline.bedrock.becomes(each, "IN_PROGRESS")
    asked: list[list[str]] = []
    pipeline.bedrock.before("details", lambda _, ids: asked.append(list(ids)))

    looks = polls(pipeline, run)
    next(looks)
    first, indexed_first = list(asked), statuses(pipeline)
    for _ in range(10):
        next(looks)

    assert first == [last]
    assert indexed_first == {"indexing"}
    under_way = {each.document_id for each in pipeline.documents.kept.values() if each.is_open}
    assert under_way == {*last}
    assert len(keys) > len(last)


# What a search says


@pytest.fixture
def searched() -> Pipeline:
    """A pipeline whose searches find only what a test makes findable."""
    return Pipeline(finds_at_once=False)


def test_a_document_that_is_found_late_is_indexing_until_then(searched: Pipeline) -> None:
    searched.drop()
    run = searched.work()

    looks = polls(searched, run)
    for _ in range(3):
        run = next(looks)
    before = searched.document().status
    held = searched.book.read().grants
    searched.is_searchable()
    run = next(looks)

    assert before is DocumentStatus.INDEXING
    assert held == ()  # nothing is at work any more
    assert run.progress.outcome is RunOutcome.SETTLED
    assert [(each.outcome, each.is_found) for each in searched.settled] == [
        (DocumentOutcome.INDEXED, True)
    ]


def test_document_not_found_by_search_for_a_minute_is_indexed_but_unfound(
    searched: Pipeline,
) -> None:
    searched.drop()
    began = searched.clock()

    searched.execute()

    assert [(each.outcome, each.is_found) for each in searched.settled] == [
        (DocumentOutcome.INDEXED, False)
    ]
    assert 60 <= (searched.clock() - began).total_seconds() < 120


# Removals


def test_document_that_stays_found_is_removed_a_few_times_only(filled: Pipeline) -> None:
    filled.execute()
    filled.delete()
    filled.is_searchable()

    run = filled.execute()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert [deletes for deletes, _ in calls(filled)] == [False] + [True] * MAX_ATTEMPTS
    assert filled.document().status is DocumentStatus.DELETING
    assert filled.settled[-1].outcome is DocumentOutcome.LEFT


def test_a_file_dropped_again_just_before_its_record_goes_is_kept(filled: Pipeline) -> None:
    filled.execute()
    filled.delete()
    filled.documents.before("remove", lambda _: filled.drop(), times=1)

    filled.execute()

    assert filled.document().status is DocumentStatus.INDEXED
    assert [deletes for deletes, _ in calls(filled)] == [False, True, False]
    assert filled.failures == {}


@pytest.mark.parametrize("is_hidden", [False, True])
def test_document_deleted_during_its_direct_call_is_removed_afterwards(
    filled: Pipeline, *, is_hidden: bool
) -> None:
    filled.bedrock.direct_seconds = 100.0
    filled.bedrock.hides_beginnings = is_hidden
    run = filled.work()
    filled.delete()
    gone_at: list[bool] = []
    filled.documents.before("remove", lambda _: gone_at.append(bool(filled.bedrock.held)))

    filled.go_on(run)

    assert calls(filled) == [(False, [DOCUMENT]), (True, [DOCUMENT])]
    assert gone_at == [False]
    assert not filled.documents.kept


@pytest.mark.parametrize("meanwhile", ["nothing", "sent again", "dropped again"])
def test_late_text_of_deleted_document_is_removed_before_receipt_closes(
    filled: Pipeline, meanwhile: str
) -> None:
    """The call that brings it was accepted, is shown to nobody, and its run is no more."""
    lost, source = filled.work(), filled.source_of()
    filled.broken_runs.record(lost.worklist_id, lost.epoch, "broken")
    if meanwhile == "sent again":
        filled.clock.pass_by(UNSEEN)
        lost = filled.work()
        filled.broken_runs.record(lost.worklist_id, lost.epoch, "broken")
    sent_at = filled.bedrock.direct_calls[-1].accepted_at
    if meanwhile == "dropped again":
        filled.drop(KEY, "newer")
    filled.bedrock.lose(source, DOCUMENT)
    filled.delete()

    def turns_up(*_: object) -> None:
        if filled.clock() - sent_at >= timedelta(seconds=60):
            filled.bedrock.put(source, DOCUMENT)
            filled.is_searchable()
            turning_up.end()

    turning_up = filled.bedrock.before("details", turns_up)
    filled.bedrock.before("delete", lambda *_, **__: filled.knowledge_base.forget())
    filled.execute()

    assert calls(filled)[-3:] == [(False, [DOCUMENT]), (True, []), (True, [DOCUMENT])]
    assert not filled.bedrock.held
    assert not filled.documents.kept
    [receipt] = filled.receipts.of_user("alice")
    assert receipt.waited_until is not None
    assert receipt.unsearchable_since is not None
    assert receipt.unsearchable_since >= receipt.waited_until > sent_at


@pytest.mark.parametrize(
    ("status", "earliest", "latest"), [("INDEXED", 20, 60), ("IN_PROGRESS", 7_200, 7_500)]
)
def test_a_document_dropped_again_is_sent_once_bedrock_has_decided(
    filled: Pipeline, status: str, earliest: float, latest: float
) -> None:
    """Or after the deadline. Sent beside the first call, the second might end before it."""
    other = "alice/research/other.txt"
    filled.drop(other)
    filled.bedrock.direct_seconds = 20.0
    filled.bedrock.becomes(DOCUMENT, status)
    filled.bedrock.becomes(place_of(other).document_id, "IN_PROGRESS")
    run = filled.work()
    filled.drop(KEY, "newer")

    filled.go_on(run, at_most=3_000)

    first, second, *_ = [each for each in filled.bedrock.direct_calls if DOCUMENT in named(each)]
    assert earliest <= (second.accepted_at - first.accepted_at).total_seconds() < latest
    indexed_at = filled.document().indexed_at
    assert (indexed_at is not None and indexed_at > second.accepted_at) == (status == "INDEXED")


# Back-pressure, and answers that are lost


def test_busy_is_waited_out_and_others_may_go_on_meanwhile(pipeline: Pipeline) -> None:
    drop(pipeline, 5)
    pipeline.bedrock.direct_busy = ALL_BUSY

    refused = pipeline.execute(until="WaitForKnowledgeBase")
    ledger, untouched = pipeline.book.read(), statuses(pipeline)
    pipeline.bedrock.direct_busy = None
    pipeline.execute(run=refused, state="WaitForKnowledgeBase")

    assert refused.progress.wait_seconds > 0
    assert (ledger.grants, untouched) == ((), {"pending"})
    assert ledger.rates == {}  # the time of a refused call tells nothing
    assert statuses(pipeline) == {"indexed"}
    assert {each.attempts for each in pipeline.documents.kept.values()} == {1}


@pytest.mark.parametrize(
    "error", [KnowledgeBaseThrottled("Get"), RuntimeError("in words that nobody knows")]
)
def test_readings_that_fail_are_waited_out(filled: Pipeline, error: Exception) -> None:
    run = filled.work()
    failing = filled.bedrock.fails("details", error, times=3)

    filled.go_on(run)

    assert failing.left == 0
    assert statuses(filled) == {"indexed"}
    assert len(filled.bedrock.direct_calls) == 1


def test_interrupted_start_is_resumed(pipeline: Pipeline) -> None:
    drop(pipeline, 25)
    run = pipeline.execute(until="StartIngestion")
    died = StoreUnavailable("UpdateItem", "InternalServerError")
    pipeline.bedrock.after("ingest", partial(_die, died), times=1)
    with pytest.raises(StoreUnavailable):
        pipeline.ingestion.start(run)

    again = pipeline.ingestion.start(run).run
    pipeline.go_on(again)

    sent = [each for _, held in calls(pipeline) for each in held]
    assert (len(sent), len({*sent})) == (25, 25)
    assert statuses(pipeline) == {"indexed"}


def _die(error: Exception, *_: object, **__: object) -> None:
    raise error


# The grant


def test_a_grant_to_be_yielded_goes_back_once_its_last_call_is_over(pipeline: Pipeline) -> None:
    slow = place_of(drop(pipeline, 120)[0]).document_id
    pipeline.bedrock.becomes(slow, "IN_PROGRESS")
    run = pipeline.work()
    begun = len(pipeline.bedrock.direct_calls)
    pipeline.admission.enter(a_job("job", 0, since=pipeline.clock()))

    for _ in range(5):
        run = pipeline.go_on(run, until="WaitForIngestion")
    woken_too_early = "token of job" in pipeline.task_tokens.woken
    pipeline.bedrock.becomes(slow, "INDEXED")
    parked = pipeline.go_on(run)

    assert pipeline.visited[-1] == PARKED
    assert not woken_too_early
    assert "token of job" in pipeline.task_tokens.woken
    assert len(pipeline.bedrock.direct_calls) == begun  # none beside those that were at work
    assert parked.progress.waiting_since is not None
    assert statuses(pipeline) == {"indexed", "pending"}


def test_a_run_whose_history_fills_hands_over_with_nothing_at_work(pipeline: Pipeline) -> None:
    slow = place_of(drop(pipeline, 120)[0]).document_id
    pipeline.bedrock.becomes(slow, "IN_PROGRESS")
    run = pipeline.work().with_progress(steps=MAX_STEPS)
    begun = calls(pipeline)
    at_work: list[int] = []
    pipeline.leases.before("take", lambda *_, **__: at_work.append(len(pipeline.bedrock.at_work())))

    for _ in range(5):
        run = pipeline.go_on(run, until="WaitForIngestion")
    pipeline.bedrock.becomes(slow, "INDEXED")
    pipeline.go_on(run)
    handed_over, sent = pipeline.visited[-1], calls(pipeline)
    done = pipeline.execute()

    assert (handed_over, at_work) == ("RunHandedOver", [0])
    assert sent == begun
    assert (done.epoch, statuses(pipeline)) == (2, {"indexed"})
    names = [each for _, held in calls(pipeline) for each in held]
    assert len(names) == len({*names})  # nothing twice


def replaced(searched: Pipeline, reason: str = "the PDF is cut off") -> Run:
    """An indexed file that is searchable, and its broken replacement under way."""
    searched.is_searchable()
    searched.drop()
    searched.execute()
    searched.drop(KEY, "cut off")
    searched.findings.find(searched.document(), reason)
    searched.bedrock.becomes(DOCUMENT, "FAILED")
    return searched.work()


def test_broken_replacement_says_that_the_version_before_still_answers(
    searched: Pipeline,
) -> None:
    run = replaced(searched)
    indexed_at = searched.document().indexed_at

    searched.go_on(run)

    failed = searched.document()
    assert (failed.status, failed.indexed_at) == (DocumentStatus.FAILED, indexed_at)
    assert failed.status_reason == "the PDF is cut off; the version before it goes on answering"
