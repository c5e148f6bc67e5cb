"""Catalogs on a shared data source: tens of documents a call, and the truth about each."""

import json

import pytest

from stackroom.admission.demand import BATCH, LARGE
from stackroom.errors import DocumentsRefused, KnowledgeBaseThrottled
from stackroom.model import (
    UNEXPLAINED_FAILURE,
    Catalog,
    CatalogStatus,
    DataSource,
    DataSourceType,
    DocumentStatus,
)
from stackroom.ports.admission import Mode
from stackroom.ports.ingestion import Busy
from stackroom.runs.progress import Run, RunOutcome
from stackroom.settlement.strategy import REMOVAL_DEADLINE
from stackroom.settlement.verdicts import MAX_ATTEMPTS, DocumentOutcome
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of

SHARED = DataSource(knowledge_base_id="KB1", data_source_id="SHARED1", type=DataSourceType.CUSTOM)
DOCUMENT = place_of(KEY).document_id


@pytest.fixture
def shared(pipeline: Pipeline) -> Pipeline:
    """Whose own data sources are all taken."""
    for number in range(4):
        pipeline.slots.take("KB1", f"another-{number}", limit=4)
    return pipeline


def drop(pipeline: Pipeline, count: int) -> None:
    for number in range(count):
        pipeline.drop(f"alice/research/{number}.txt")


def statuses(pipeline: Pipeline) -> list[str]:
    return sorted({each.status for each in pipeline.documents.kept.values()})


def end(pipeline: Pipeline, run: Run) -> RunOutcome | None:
    return pipeline.ingestion.release(run).progress.outcome


def test_documents_are_ingested_in_tens_with_their_sidecars_attributes(shared: Pipeline) -> None:
    drop(shared, 25)
    shared.drop(KEY, "text", kb_domain="biology")

    run = shared.work()

    assert run.progress.outcome is RunOutcome.NOTHING
    assert statuses(shared) == ["indexed"]
    assert sorted(len(call.keys) for call in shared.bedrock.direct_calls) == [6, BATCH, BATCH]
    submitted = shared.bedrock.submitted[("SHARED1", DOCUMENT)]
    assert submitted.attributes == shared.bucket.sidecar_attributes(KEY)
    assert submitted.attributes["domain"] == "biology"
    assert end(shared, run) is RunOutcome.RELEASED


def test_a_sidecar_that_somebody_else_wrote_makes_a_document_nobody_elses(
    shared: Pipeline,
) -> None:
    shared.drop(KEY, "text", kb_domain="biology")
    ours = shared.bucket.sidecar_attributes(KEY)
    forged = {**ours, "user_id": "mallory", "catalog_id": "cat-m", "document_id": "doc-m"}
    shared.bucket.write_sidecar(KEY, json.dumps({"metadataAttributes": forged}).encode())

    shared.work()

    assert shared.bedrock.submitted[("SHARED1", DOCUMENT)].attributes == ours


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"{}", b'{"metadataAttributes": {"a": 1}}'])
def test_a_sidecar_that_is_none_of_ours_costs_its_own_document_and_no_other(
    shared: Pipeline, body: bytes
) -> None:
    drop(shared, 2)
    shared.drop(KEY)
    shared.bucket.write_sidecar(KEY, body)

    shared.work()

    told = {each.filename: each.status for each in shared.documents.kept.values()}
    assert told == {"0.txt": "indexed", "1.txt": "indexed", place_of(KEY).filename: "pending"}


def test_a_grant_gives_its_slots_back(shared: Pipeline) -> None:
    drop(shared, 3)

    shared.work()

    assert shared.book.read().grants == ()
    assert shared.catalogs.kept[CATALOG].status is CatalogStatus.READY


def test_failures_are_told_with_their_reasons_and_the_others_are_indexed(shared: Pipeline) -> None:
    drop(shared, 3)
    broken = place_of("alice/research/1.txt").document_id
    shared.bedrock.becomes(broken, "IGNORED", "not supported")

    shared.work()

    told = {each.filename: each.status_reason for each in shared.documents.kept.values()}
    assert told == {"0.txt": None, "1.txt": "not supported", "2.txt": None}


def test_what_is_read_of_an_earlier_version_does_not_count(shared: Pipeline) -> None:
    shared.drop()
    shared.work()
    shared.bedrock.answers_late(DOCUMENT, times=3)
    shared.drop(KEY, "newer")
    shared.bedrock.direct_seconds = 30.0
    began = shared.clock()

    shared.work()

    indexed_at = shared.document().indexed_at
    assert indexed_at is not None
    assert (indexed_at - began).total_seconds() >= 30


def test_a_failure_that_nobody_explains_is_tried_again_before_it_is_told(shared: Pipeline) -> None:
    drop(shared, 1)
    document_id = place_of("alice/research/0.txt").document_id
    shared.bedrock.becomes(document_id, "FAILED")

    runs = [shared.work() for _ in range(MAX_ATTEMPTS)]

    (document,) = shared.documents.kept.values()
    assert [each.progress.outcome for each in runs[:-1]] == [RunOutcome.GRANT_OVER] * 2
    assert (document.status_reason, document.attempts) == (UNEXPLAINED_FAILURE, MAX_ATTEMPTS)


def test_others_get_their_grant_when_one_has_had_a_minute(shared: Pipeline) -> None:
    drop(shared, 400)
    shared.bedrock.direct_seconds = 30.0
    run = shared.admitted()
    shared.drop("bob/notes/a.txt")
    bob = place_of("bob/notes/a.txt").catalog_id
    other = shared.ingestion.begin(shared.live_run(bob))[0]
    shared.ingestion.admit(other, "token of bob")

    run, _ = shared.ingestion.start(run)

    assert run.progress.outcome is RunOutcome.GRANT_OVER
    assert run.progress.waiting_since is not None
    assert run.progress.waiting_since > (other.progress.waiting_since or shared.clock())
    assert "token of bob" in shared.task_tokens.woken
    assert statuses(shared) == ["indexed", "pending"]


def test_a_round_that_has_forgotten_since_when_is_no_round_without_a_deadline(
    shared: Pipeline,
) -> None:
    shared.drop()
    shared.bedrock.direct_seconds = 600.0
    run = shared.work()
    forgetful = run.progress.model_copy(update={"accepted_at": None})

    with pytest.raises(AssertionError, match="accepted at some moment"):
        shared.settlement.poll(run.model_copy(update={"progress": forgetful}))


def test_what_takes_long_is_left_to_the_poller_and_keeps_its_slots(shared: Pipeline) -> None:
    shared.drop()
    shared.bedrock.direct_seconds = 600.0

    run = shared.work()
    waiting = shared.settlement.poll(run)
    held = shared.book.read().grants
    shared.clock.pass_by(600)
    over = shared.settlement.poll(waiting)
    settled, _ = shared.settlement.settle(over)

    assert run.progress.outcome is RunOutcome.STARTED
    assert waiting.progress.outcome is RunOutcome.RUNNING
    assert [each.worklist_id for each in held] == [CATALOG]
    assert over.progress.outcome is RunOutcome.OVER
    assert shared.book.read().grants == ()
    assert shared.document().status is DocumentStatus.INDEXED
    assert end(shared, settled) is RunOutcome.RELEASED


def test_a_document_uploaded_again_while_it_is_ingested_is_ingested_again(
    shared: Pipeline,
) -> None:
    shared.drop()
    shared.clock.after("sleep", lambda _: shared.drop(KEY, "newer"), times=1)

    run = shared.work()
    first = shared.document().status
    more = shared.ingestion.release(run)

    assert run.progress.outcome is RunOutcome.GRANT_OVER
    assert first is DocumentStatus.PENDING
    assert more.progress.outcome is RunOutcome.MORE


def test_busy_is_waited_out_at_the_same_position_and_others_may_go_on_meanwhile(
    shared: Pipeline,
) -> None:
    drop(shared, 5)
    shared.bedrock.direct_busy = Busy(why="ValidationException: can't exceed (10)")

    refused = shared.work()
    held = shared.book.read().grants
    shared.bedrock.direct_busy = None
    again, _ = shared.ingestion.start(refused)
    shared.ingestion.admit(again, "another token")
    run, _ = shared.ingestion.start(again)

    assert refused.progress.outcome is RunOutcome.BUSY
    assert held == ()
    assert again.progress.outcome is RunOutcome.GRANT_OVER
    assert again.progress.waiting_since == refused.progress.waiting_since
    assert run.progress.outcome is RunOutcome.NOTHING
    assert statuses(shared) == ["indexed"]


def test_throttled_reads_are_waited_out(shared: Pipeline) -> None:
    shared.drop()
    shared.bedrock.read_error = KnowledgeBaseThrottled("GetKnowledgeBaseDocuments")

    run = shared.work()
    shared.bedrock.read_error = None
    over = shared.settlement.poll(run)
    shared.settlement.settle(over)

    assert run.progress.outcome is RunOutcome.STARTED
    assert shared.document().status is DocumentStatus.INDEXED


def test_a_document_that_bedrock_refuses_costs_only_itself(shared: Pipeline) -> None:
    drop(shared, 12)
    shared.drop(KEY)
    shared.bedrock.unwelcome.add(DOCUMENT)

    run = shared.work()

    assert run.progress.outcome is RunOutcome.NOTHING
    refused = shared.document()
    assert refused.status is DocumentStatus.FAILED
    assert "must satisfy a pattern" in str(refused.status_reason)
    others = [each for each in shared.documents.kept.values() if each != refused]
    assert {each.status for each in others} == {DocumentStatus.INDEXED}
    assert len(others) == 12


def test_a_refusal_that_may_be_everybodys_fails_no_document(shared: Pipeline) -> None:
    drop(shared, 3)
    shared.bedrock.unwelcome |= {each.document_id for each in shared.documents.kept.values()}
    run = shared.admitted()

    with pytest.raises(DocumentsRefused, match="pattern"):
        shared.ingestion.start(run)

    assert statuses(shared) == ["indexing"]  # for the run that follows to take up


def test_what_a_crash_left_under_way_is_taken_up_again(shared: Pipeline) -> None:
    shared.drop()
    run = shared.admitted()
    shared.bedrock.read_error = KnowledgeBaseThrottled("x")
    shared.clock.fails("sleep", ConnectionError(), times=1)
    with pytest.raises(ConnectionError):
        shared.ingestion.start(run)
    shared.bedrock.read_error = None

    again, _ = shared.ingestion.start(run)

    assert again.progress.outcome is RunOutcome.NOTHING
    assert shared.document().status is DocumentStatus.INDEXED
    assert len(shared.bedrock.direct_calls) == 1  # the token says it is the same call


def test_a_deleted_document_is_gone_once_it_is_neither_known_nor_found(shared: Pipeline) -> None:
    shared.drop()
    shared.work()
    shared.delete()

    _, work = shared.ingestion.start(shared.admitted())

    assert [each.outcome for each in work.settled] == [DocumentOutcome.GONE]
    assert not shared.documents.kept
    receipt = next(shared.receipts.of_user("alice"))
    assert receipt.unsearchable_since is not None
    assert receipt.asked_at < receipt.unsearchable_since


def test_a_document_that_is_still_found_is_not_called_removed(shared: Pipeline) -> None:
    shared.drop()
    shared.work()
    shared.delete()
    shared.is_searchable()  # for some time yet

    run = shared.work()
    receipt = next(shared.receipts.of_user("alice"))

    assert run.progress.outcome is RunOutcome.STARTED
    assert shared.document().status is DocumentStatus.DELETING
    assert receipt.is_open


def test_a_rejected_files_earlier_version_is_evicted(shared: Pipeline) -> None:
    shared.drop()
    shared.work()
    shared.drop(KEY, "")

    run = shared.work()

    assert run.progress.outcome is RunOutcome.NOTHING
    assert not shared.document().lingering
    assert ("SHARED1", DOCUMENT) not in shared.bedrock.held


def test_a_catalog_on_a_shared_source_never_starts_a_job(shared: Pipeline) -> None:
    drop(shared, 12)

    shared.work()

    assert not shared.bedrock.jobs
    assert isinstance(shared.catalogs.kept[CATALOG], Catalog)


def test_no_look_is_so_late_that_the_function_would_be_cut_short(shared: Pipeline) -> None:
    shared.bedrock.direct_seconds = 55.0
    drop(shared, 30)
    shared.drop("bob/notes/a.txt")  # so that alice has not all the slots
    run = shared.admitted()
    began = shared.clock()

    run, _ = shared.ingestion.start(run)

    assert (shared.clock() - began).total_seconds() <= 82


def test_throttled_searches_are_waited_out(shared: Pipeline) -> None:
    shared.drop()
    shared.work()
    shared.delete()
    throttle = KnowledgeBaseThrottled("Retrieve")
    throttled = shared.knowledge_base.fails("retrieve", throttle, times=2)

    shared.work()

    assert throttled.left == 0
    assert not shared.documents.kept


def test_slots_that_the_poller_keeps_are_those_of_calls_at_work(shared: Pipeline) -> None:
    drop(shared, 150)
    shared.bedrock.direct_seconds = 65.0
    slow = min(shared.documents.kept.values(), key=lambda each: each.updated_at)
    shared.bedrock.becomes(slow.document_id, "IN_PROGRESS")

    run = shared.work()
    shared.settlement.poll(run)

    assert len(shared.bedrock.at_work()) == 1
    assert [each.slots for each in shared.book.read().grants] == [1]


def test_a_round_that_leaves_documents_to_the_next_has_served_no_request(shared: Pipeline) -> None:
    drop(shared, 300)
    shared.bedrock.direct_seconds = 600.0

    run = shared.work()

    assert run.progress.outcome is RunOutcome.STARTED
    assert len(shared.bedrock.direct_calls) < 30
    assert run.progress.served == 0  # else the run could end with what it has not begun


def test_a_call_that_bedrock_does_not_show_yet_is_at_work(shared: Pipeline) -> None:
    drop(shared, 300)
    shared.bedrock.direct_seconds = 30.0
    shared.bedrock.hides_beginnings = True

    shared.work()

    assert shared.bedrock.refused == []


def test_a_delete_that_is_still_found_holds_up_others_for_minutes_only(shared: Pipeline) -> None:
    shared.drop()
    shared.work()
    shared.delete()
    shared.is_searchable()  # and will be
    run = shared.work()
    began = shared.clock()

    while run.progress.outcome is not RunOutcome.SETTLED:
        shared.clock.pass_by(run.progress.wait_seconds)
        run, _ = shared.settlement.settle(shared.settlement.poll(run))

    assert (shared.clock() - began).total_seconds() < REMOVAL_DEADLINE + 120
    assert end(shared, run) is RunOutcome.MORE  # removed once more, and what has come is taken up


def test_large_documents_come_after_the_small_ones_and_one_at_a_time(shared: Pipeline) -> None:
    for number in range(2):
        shared.drop(f"alice/research/large-{number}.csv", "x" * LARGE)
    drop(shared, 12)

    outcomes = [shared.work().progress.outcome for _ in range(3)]

    assert outcomes == [RunOutcome.GRANT_OVER, RunOutcome.GRANT_OVER, RunOutcome.NOTHING]
    assert [len(call.keys) for call in shared.bedrock.direct_calls] == [BATCH, 2, 1, 1]
    assert statuses(shared) == ["indexed"]


def test_small_documents_that_came_before_a_large_one_began_go_first(shared: Pipeline) -> None:
    shared.drop(KEY, "x" * LARGE * 5)
    run = shared.admitted()
    (grant,) = shared.book.read().grants
    drop(shared, 3)

    shared.ingestion.start(run)

    assert (grant.is_large, grant.slots, grant.size) == (True, 1, LARGE)  # the text of a PDF
    assert [len(call.keys) for call in shared.bedrock.direct_calls] == [3, 1]


def test_a_run_that_leaves_a_large_document_to_the_next_grant_can_not_end(
    shared: Pipeline,
) -> None:
    drop(shared, 1)
    shared.drop("alice/research/large.csv", "x" * LARGE)
    shared.bedrock.direct_seconds = 600.0

    run = shared.work()

    assert run.progress.outcome is RunOutcome.STARTED
    assert run.progress.served == 0


def test_what_is_deleted_while_it_waits_is_never_begun(shared: Pipeline) -> None:
    large = "alice/research/large.csv"
    drop(shared, 1)
    shared.drop(large, "x" * LARGE)
    waiting = shared.admitted()
    shared.clock.after("sleep", lambda _: shared.delete(large), times=1)

    shared.ingestion.start(waiting)
    shared.work()

    begun = {key for call in shared.bedrock.direct_calls if not call.deletes for key in call.keys}
    assert begun == {("SHARED1", place_of("alice/research/0.txt").document_id)}
    assert [each.filename for each in shared.documents.kept.values()] == ["0.txt"]


def test_what_is_deleted_while_it_is_ingested_is_removed_as_soon_as_that_ends(
    shared: Pipeline,
) -> None:
    shared.drop()
    shared.bedrock.direct_seconds = 100.0
    run = shared.work()
    shared.delete()
    shared.clock.pass_by(100)

    settled, settling = shared.settlement.settle(shared.settlement.poll(run))
    more = shared.ingestion.release(settled)
    shared.bedrock.direct_seconds = 2.0
    shared.work()

    assert (settled.progress.outcome, settling.settled) == (RunOutcome.SETTLED, [])
    assert more.progress.outcome is RunOutcome.MORE
    assert not shared.documents.kept


def test_what_is_deleted_before_bedrock_shows_it_is_not_taken_for_gone(shared: Pipeline) -> None:
    shared.drop()
    shared.bedrock.direct_seconds = 600.0
    shared.bedrock.hides_beginnings = True
    run = shared.work()
    shared.delete()

    run, settling = shared.settlement.settle(run)

    assert (run.progress.outcome, settling.settled) == (RunOutcome.UNSETTLED, [])
    assert shared.document().status is DocumentStatus.DELETING


def test_a_document_that_waits_for_another_round_is_not_judged_by_the_one_before(
    shared: Pipeline,
) -> None:
    shared.drop()
    shared.bedrock.direct_seconds = 600.0
    run = shared.work()
    pending = shared.document().moved(DocumentStatus.PENDING, at=shared.clock())
    shared.documents.save(pending.model_copy(update={"lingering": True, "attempts": MAX_ATTEMPTS}))
    shared.clock.pass_by(REMOVAL_DEADLINE + 1)

    shared.settlement.settle(run)

    assert shared.document().status is DocumentStatus.PENDING


def test_what_has_changed_since_it_was_listed_is_in_no_call(shared: Pipeline) -> None:
    drop(shared, 2)
    listed = list(shared.documents.kept.values())
    shared.delete("alice/research/0.txt")

    bound = shared.direct.calls.bind(listed, "direct-1-0")

    assert [each.filename for each in bound.documents.values()] == ["1.txt"]
    assert shared.document("alice/research/0.txt").status is DocumentStatus.DELETING


def test_a_grant_is_given_back_once(shared: Pipeline) -> None:
    shared.drop()
    run = shared.admitted()
    left = shared.book.read().version

    shared.ingestion.start(run)

    assert shared.book.read().version == left + 2  # claimed, and given back with its time
    assert shared.book.read().rates[Mode.SHARED].base_ms == 4_000


def test_the_time_of_a_refused_call_tells_nothing(shared: Pipeline) -> None:
    shared.drop()
    shared.bedrock.direct_busy = Busy(why="ValidationException: can't exceed (10)")

    shared.work()

    assert shared.book.read().rates == {}
