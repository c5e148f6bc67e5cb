"""Catalogs on a shared data source: up to ten documents a call, and the truth about each."""

import json
from collections.abc import Sequence
from datetime import timedelta

import pytest

from stackroom.admission.demand import BATCH, LARGE
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.ingestion.direct_round import STAYS
from stackroom.ingestion.lanes import SPARE
from stackroom.model import UNEXPLAINED_FAILURE, CatalogStatus, Document, DocumentStatus
from stackroom.ports.admission import Mode
from stackroom.ports.ingestion import Busy, Submission
from stackroom.runs.progress import RunOutcome
from stackroom.settlement.rounds import REMOVAL_DEADLINE
from stackroom.settlement.verdicts import MAX_ATTEMPTS, DocumentOutcome
from tests.fakes.direct import DirectCall
from tests.unit.pipeline import CATALOG, KEY, SHARED_WORKLIST, Pipeline, place_of
from tests.unit.test_schedule import a_job

DOCUMENT = place_of(KEY).document_id
ALL_BUSY = Busy(why="ValidationException: can't exceed (10)")


@pytest.fixture
def shared() -> Pipeline:
    """Where every catalog goes to the shared data source."""
    return Pipeline(shared_first=True)


def drop(pipeline: Pipeline, count: int) -> None:
    for number in range(count):
        pipeline.drop(f"alice/research/{number}.txt")


def statuses(pipeline: Pipeline) -> list[str]:
    return sorted({each.status for each in pipeline.documents.kept.values()})


def named(call: DirectCall) -> list[str]:
    return [document_id for _, document_id in call.keys]


def test_documents_are_ingested_ten_a_call_with_their_sidecars_attributes(
    shared: Pipeline,
) -> None:
    drop(shared, 60)
    shared.drop(KEY, "text", kb_domain="biology")

    run, work = shared.work_shared()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert statuses(shared) == ["indexed"]
    assert [len(call.keys) for call in shared.bedrock.direct_calls][:2] == [BATCH] * 2
    assert sum(len(call.keys) for call in shared.bedrock.direct_calls) == 61
    assert sum(each.outcome is DocumentOutcome.INDEXED for each in work.settled) == 61
    submitted = shared.bedrock.submitted[("SHARED1", DOCUMENT)]
    assert submitted.attributes == shared.bucket.sidecar_attributes(KEY)
    assert submitted.attributes["domain"] == "biology"
    assert not shared.leases.kept[SHARED_WORKLIST].held


def test_a_sidecar_that_somebody_else_wrote_makes_a_document_nobody_elses(
    shared: Pipeline,
) -> None:
    shared.drop(KEY, "text", kb_domain="biology")
    ours = shared.bucket.sidecar_attributes(KEY)
    forged = {**ours, "user_id": "mallory", "catalog_id": "cat-m", "document_id": "doc-m"}
    shared.bucket.write_sidecar(KEY, json.dumps({"metadataAttributes": forged}).encode())

    shared.work_shared()

    assert shared.bedrock.submitted[("SHARED1", DOCUMENT)].attributes == ours


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"{}", b'{"metadataAttributes": {"a": 1}}'])
def test_a_sidecar_that_is_none_of_ours_costs_its_own_document_and_no_other(
    shared: Pipeline, body: bytes
) -> None:
    drop(shared, 2)
    shared.drop(KEY)
    shared.bucket.write_sidecar(KEY, body)

    run, _ = shared.work_shared()

    told = {each.filename: each.status for each in shared.documents.kept.values()}
    assert told == {"0.txt": "indexed", "1.txt": "indexed", place_of(KEY).filename: "pending"}
    assert run.progress.outcome is RunOutcome.RELEASED
    assert CATALOG in shared.worklists.kept[SHARED_WORKLIST]


def test_a_run_ends_with_its_grant_given_back_and_its_catalog_settled(shared: Pipeline) -> None:
    drop(shared, 3)

    shared.work_shared()

    assert shared.book.read().grants == ()
    assert shared.catalogs.kept[CATALOG].status is CatalogStatus.READY
    assert shared.worklists.kept == {SHARED_WORKLIST: {}}


def test_failures_are_told_with_their_reasons_and_the_others_are_indexed(shared: Pipeline) -> None:
    drop(shared, 3)
    broken = place_of("alice/research/1.txt").document_id
    shared.bedrock.becomes(broken, "IGNORED", "not supported")

    shared.work_shared()

    told = {each.filename: each.status_reason for each in shared.documents.kept.values()}
    assert told == {"0.txt": None, "1.txt": "not supported", "2.txt": None}
    assert shared.catalogs.kept[CATALOG].failed_count == 1


def test_what_is_read_of_an_earlier_version_does_not_count(shared: Pipeline) -> None:
    shared.drop()
    shared.work_shared()
    shared.bedrock.answers_late(DOCUMENT, times=3)
    shared.drop(KEY, "newer")
    shared.bedrock.direct_seconds = 30.0
    began = shared.clock()

    shared.work_shared()

    indexed_at = shared.document().indexed_at
    assert indexed_at is not None
    assert (indexed_at - began).total_seconds() >= 30


def test_a_failure_that_nobody_explains_is_tried_again_before_it_is_told(shared: Pipeline) -> None:
    drop(shared, 1)
    shared.bedrock.becomes(place_of("alice/research/0.txt").document_id, "FAILED")

    run, _ = shared.work_shared()

    (document,) = shared.documents.kept.values()
    assert run.progress.outcome is RunOutcome.RELEASED
    assert len(shared.bedrock.direct_calls) == MAX_ATTEMPTS
    assert (document.status_reason, document.attempts) == (UNEXPLAINED_FAILURE, MAX_ATTEMPTS)


def test_what_is_at_work_when_time_is_over_is_taken_over_by_the_next_task(
    shared: Pipeline,
) -> None:
    shared.drop()
    shared.bedrock.direct_seconds = 600.0

    run, work = shared.work_shared()
    held = shared.book.read().grants
    shared.clock.pass_by(600)
    over, _ = shared.ingestion.begin(run)

    assert (run.progress.outcome, work.at_work) == (RunOutcome.MORE, 1)
    assert [call.documents for call in run.progress.calls_at_work] == [((CATALOG, DOCUMENT),)]
    assert [each.worklist_id for each in held] == [SHARED_WORKLIST]
    assert over.progress.outcome is RunOutcome.RELEASED
    assert over.progress.calls_at_work == ()
    assert shared.book.read().grants == ()
    assert shared.document().status is DocumentStatus.INDEXED
    assert len(shared.bedrock.direct_calls) == 1


def test_a_run_goes_on_from_task_to_task_until_all_is_done(shared: Pipeline) -> None:
    drop(shared, 300)
    shared.bedrock.direct_seconds = 120.0

    first, _ = shared.work_shared()
    begun = len(shared.bedrock.direct_calls)
    last = shared.work_shared_off()

    assert first.progress.outcome is RunOutcome.MORE
    assert begun < 30
    assert last.progress.outcome is RunOutcome.RELEASED
    assert statuses(shared) == ["indexed"]


def test_a_document_uploaded_again_while_it_is_ingested_is_ingested_again(
    shared: Pipeline,
) -> None:
    shared.drop()
    shared.clock.after("sleep", lambda _: shared.drop(KEY, "newer"), times=1)

    run, _ = shared.work_shared()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert shared.document().status is DocumentStatus.INDEXED
    assert [named(call) for call in shared.bedrock.direct_calls] == [[DOCUMENT], [DOCUMENT]]
    indexed_at = shared.document().indexed_at
    assert indexed_at is not None
    assert indexed_at > shared.bedrock.direct_calls[1].accepted_at


def test_busy_is_waited_out_and_others_may_go_on_meanwhile(shared: Pipeline) -> None:
    drop(shared, 5)
    shared.bedrock.direct_busy = ALL_BUSY

    refused, _ = shared.work_shared()
    held = shared.book.read().grants
    shared.bedrock.direct_busy = None
    run, _ = shared.ingestion.begin(refused)

    assert refused.progress.outcome is RunOutcome.BUSY
    assert refused.progress.wait_seconds > 0
    assert held == ()
    assert run.progress.outcome is RunOutcome.RELEASED
    assert statuses(shared) == ["indexed"]


def test_a_run_that_waited_and_found_bedrock_busy_keeps_its_position(shared: Pipeline) -> None:
    drop(shared, 5)
    job = a_job("job", 0, since=shared.clock())
    shared.admission.enter(job)
    run, _ = shared.work_shared()
    assert run.progress.outcome is RunOutcome.PLACED
    shared.ingestion.admit(run, "token of the shared run")
    shared.clock.pass_by(30)
    shared.admission.leave("job", 1)
    assert "token of the shared run" in shared.task_tokens.woken
    shared.bedrock.direct_busy = ALL_BUSY

    refused, _ = shared.ingestion.start(run)

    assert refused.progress.outcome is RunOutcome.BUSY
    assert refused.progress.waiting_since == run.progress.waiting_since


def test_throttled_reads_are_waited_out(shared: Pipeline) -> None:
    shared.drop()
    shared.bedrock.read_error = KnowledgeBaseThrottled("GetKnowledgeBaseDocuments")

    run, _ = shared.work_shared()
    shared.bedrock.read_error = None
    over, _ = shared.ingestion.begin(run)

    assert run.progress.outcome is RunOutcome.MORE
    assert over.progress.outcome is RunOutcome.RELEASED
    assert shared.document().status is DocumentStatus.INDEXED


def test_a_document_that_bedrock_refuses_costs_only_itself(shared: Pipeline) -> None:
    drop(shared, 12)
    shared.drop(KEY)
    shared.bedrock.unwelcome.add(DOCUMENT)

    run, _ = shared.work_shared()

    assert run.progress.outcome is RunOutcome.RELEASED
    refused = shared.document()
    assert refused.status is DocumentStatus.FAILED
    assert "must satisfy a pattern" in str(refused.status_reason)
    others = [each for each in shared.documents.kept.values() if each != refused]
    assert {each.status for each in others} == {DocumentStatus.INDEXED}
    assert len(others) == 12


def test_a_refusal_that_may_be_everybodys_fails_no_document_until_it_came_every_time(
    shared: Pipeline,
) -> None:
    drop(shared, 3)
    shared.bedrock.unwelcome |= {each.document_id for each in shared.documents.kept.values()}

    told = []
    for _ in range(MAX_ATTEMPTS):
        run, _ = shared.work_shared()
        told.append((run.progress.outcome, statuses(shared)))
        shared.requests.remind()

    # It stays for a later run to take up, and the worklist has it.
    again = (RunOutcome.RELEASED, ["indexing"])
    assert told == [again, again, (RunOutcome.RELEASED, ["failed"])]


def test_what_a_crash_left_under_way_is_taken_up_again(shared: Pipeline) -> None:
    shared.drop()
    run = shared.live_run(SHARED_WORKLIST)
    shared.clock.fails("sleep", ConnectionError(), times=1)
    with pytest.raises(ConnectionError):
        shared.ingestion.begin(run)

    again, _ = shared.ingestion.begin(run)

    assert again.progress.outcome is RunOutcome.RELEASED
    assert shared.document().status is DocumentStatus.INDEXED
    assert len(shared.bedrock.direct_calls) == 1  # the token says it is the same call


def test_a_deleted_document_is_gone_once_it_is_neither_known_nor_found(shared: Pipeline) -> None:
    shared.drop()
    shared.work_shared()
    shared.delete()

    _, work = shared.work_shared()

    assert [each.outcome for each in work.settled] == [DocumentOutcome.GONE]
    assert not shared.documents.kept
    receipt = next(shared.receipts.of_user("alice"))
    assert receipt.unsearchable_since is not None
    assert receipt.asked_at < receipt.unsearchable_since


def test_a_document_that_is_still_found_is_not_called_removed(shared: Pipeline) -> None:
    shared.drop()
    shared.work_shared()
    shared.delete()
    shared.is_searchable()  # for some time yet

    run, _ = shared.work_shared()
    receipt = next(shared.receipts.of_user("alice"))

    assert run.progress.outcome is RunOutcome.MORE
    assert shared.document().status is DocumentStatus.DELETING
    assert receipt.is_open


def test_a_rejected_files_earlier_version_is_evicted(shared: Pipeline) -> None:
    shared.drop()
    shared.work_shared()
    shared.drop(KEY, "")

    run, _ = shared.work_shared()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert not shared.document().lingering
    assert ("SHARED1", DOCUMENT) not in shared.bedrock.held


def test_what_is_removed_and_what_is_ingested_goes_in_calls_of_their_own(shared: Pipeline) -> None:
    shared.drop()
    shared.work_shared()
    shared.delete()
    drop(shared, 3)

    shared.work_shared()

    by_call = [(call.deletes, named(call)) for call in shared.bedrock.direct_calls[1:]]
    assert (True, [DOCUMENT]) in by_call
    assert all(DOCUMENT not in held for deletes, held in by_call if not deletes)


def test_a_catalog_on_a_shared_source_never_starts_a_job(shared: Pipeline) -> None:
    drop(shared, 12)

    shared.work_shared()

    assert not shared.bedrock.jobs
    assert not shared.bedrock.sources


@pytest.mark.parametrize("seconds", [55.0, 600.0])
def test_no_task_takes_so_long_that_the_function_would_be_cut_short(
    shared: Pipeline, seconds: float
) -> None:
    shared.bedrock.direct_seconds = seconds
    drop(shared, 130)
    began = shared.clock()

    shared.work_shared()

    assert (shared.clock() - began).total_seconds() <= STAYS + 1


def test_throttled_searches_are_waited_out(shared: Pipeline) -> None:
    shared.drop()
    shared.work_shared()
    shared.delete()
    throttle = KnowledgeBaseThrottled("Retrieve")
    throttled = shared.knowledge_base.fails("retrieve", throttle, times=2)

    shared.work_shared()

    assert throttled.left == 0
    assert not shared.documents.kept


def test_slots_that_a_run_keeps_are_those_of_calls_at_work(shared: Pipeline) -> None:
    drop(shared, 150)
    shared.bedrock.direct_seconds = 20.0
    slow = min(shared.documents.kept.values(), key=lambda each: each.updated_at)
    shared.bedrock.becomes(slow.document_id, "IN_PROGRESS")

    run, work = shared.work_shared()

    assert run.progress.outcome is RunOutcome.MORE
    assert work.calls_at_work == len(shared.bedrock.at_work()) == 1
    assert [each.slots for each in shared.book.read().grants] == [1 + SPARE]


def test_a_call_that_bedrock_does_not_show_yet_is_at_work(shared: Pipeline) -> None:
    drop(shared, 300)
    shared.bedrock.direct_seconds = 30.0
    shared.bedrock.hides_beginnings = True

    shared.work_shared()

    assert len(shared.bedrock.direct_calls) > 10
    assert shared.bedrock.refused == []


def test_a_delete_that_is_still_found_holds_up_a_job_for_minutes_only(shared: Pipeline) -> None:
    shared.drop()
    shared.work_shared()
    shared.delete()
    shared.is_searchable()  # and will be
    run, _ = shared.work_shared()
    began = shared.clock()
    shared.admission.enter(a_job("job", 0, since=began))

    while run.progress.outcome is RunOutcome.MORE:
        run, _ = shared.ingestion.begin(run)

    assert run.progress.outcome is RunOutcome.PLACED  # removed once more, after the job
    assert "token of job" in shared.task_tokens.woken
    assert (shared.clock() - began).total_seconds() < REMOVAL_DEADLINE + 120


def test_large_documents_are_alone_in_their_calls_and_beside_small_ones(shared: Pipeline) -> None:
    for number in range(2):
        shared.drop(f"alice/research/large-{number}.csv", "x" * LARGE)
    drop(shared, 12)
    shared.bedrock.direct_seconds = 60.0

    run, _ = shared.work_shared()

    large = {place_of(f"alice/research/large-{number}.csv").document_id for number in range(2)}
    calls = shared.bedrock.direct_calls
    assert run.progress.outcome is RunOutcome.RELEASED
    assert statuses(shared) == ["indexed"]
    assert [len(call.keys) for call in calls if large & {*named(call)}] == [1, 1]
    begun = [call.accepted_at for call in calls]
    assert max(begun) - min(begun) < timedelta(seconds=60)  # none waited for another to end


def test_large_documents_take_half_of_the_calls_at_most(shared: Pipeline) -> None:
    for number in range(12):
        shared.drop(f"alice/research/large-{number}.csv", "x" * LARGE)
    large = {each.document_id for each in shared.documents.kept.values()}
    drop(shared, 5)
    shared.bedrock.direct_seconds = 30.0
    at_work: list[int] = []
    shared.clock.before(
        "sleep",
        lambda _: at_work.append(sum(bool(large & {*named(c)}) for c in shared.bedrock.at_work())),
    )

    shared.work_shared()

    assert max(at_work) == 5


def test_a_grant_says_while_a_large_document_is_at_work(shared: Pipeline) -> None:
    drop(shared, 20)
    shared.drop("alice/research/large.csv", "x" * LARGE)
    large = place_of("alice/research/large.csv").document_id
    told: set[tuple[bool, bool]] = set()

    def look(_: object) -> None:
        at_work = any(large in named(call) for call in shared.bedrock.direct_calls)
        done = shared.document("alice/research/large.csv").status is DocumentStatus.INDEXED
        (grant,) = shared.book.read().grants
        told.add((at_work and not done, grant.is_large))

    shared.clock.before("sleep", look)
    shared.clock.after("sleep", lambda _: shared.drop(KEY), times=1)  # so that the run goes on

    shared.work_shared()

    assert told == {(True, True), (False, False)}


def test_what_is_deleted_while_it_waits_is_never_begun(shared: Pipeline) -> None:
    large = "alice/research/large.csv"
    drop(shared, 1)
    shared.drop(large, "x" * LARGE)
    shared.bedrock.direct_busy = ALL_BUSY

    def deleted(_: object) -> None:
        shared.delete(large)
        shared.bedrock.direct_busy = None

    shared.clock.after("sleep", deleted, times=1)

    run, _ = shared.work_shared()

    begun = [each for call in shared.bedrock.direct_calls if not call.deletes for each in call.keys]
    assert begun == [("SHARED1", place_of("alice/research/0.txt").document_id)]
    assert [each.filename for each in shared.documents.kept.values()] == ["0.txt"]
    assert run.progress.outcome is RunOutcome.RELEASED


def test_what_changes_while_it_waits_is_taken_up_as_it_is_then(shared: Pipeline) -> None:
    drop(shared, 3)
    shared.bedrock.direct_busy = ALL_BUSY

    def changed(_: object) -> None:
        shared.drop("alice/research/1.txt", "newer")
        shared.bedrock.direct_busy = None

    shared.clock.after("sleep", changed, times=1)

    run, _ = shared.work_shared()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert statuses(shared) == ["indexed"]
    assert shared.worklists.kept == {SHARED_WORKLIST: {}}


@pytest.mark.parametrize("seconds", [2.0, 100.0])  # within a task, and left to the next
def test_what_is_deleted_while_it_is_ingested_is_removed_as_soon_as_that_ends(
    shared: Pipeline, seconds: float
) -> None:
    shared.drop()
    shared.bedrock.direct_seconds = seconds

    def deleted(_: object) -> None:
        shared.delete()

    shared.clock.after("sleep", deleted, times=1)

    run = shared.work_shared_off()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert [call.deletes for call in shared.bedrock.direct_calls] == [False, True]
    assert not shared.documents.kept


def test_what_is_deleted_before_bedrock_shows_it_is_not_taken_for_gone(shared: Pipeline) -> None:
    shared.drop()
    shared.bedrock.direct_seconds = 150.0
    shared.bedrock.hides_beginnings = True
    run, _ = shared.work_shared()
    shared.delete()
    told: list[DocumentStatus] = []
    shared.documents.before("remove", lambda _: told.append(shared.document().status))

    while run.progress.outcome is RunOutcome.MORE:
        run, _ = shared.ingestion.begin(run)

    assert [call.deletes for call in shared.bedrock.direct_calls] == [False, True]
    assert told == [DocumentStatus.DELETING]
    assert not shared.documents.kept


def test_a_document_that_waits_for_another_call_is_not_judged_by_the_one_before(
    shared: Pipeline,
) -> None:
    shared.drop()
    shared.bedrock.direct_seconds = 100.0
    run, _ = shared.work_shared()
    pending = shared.document().moved(DocumentStatus.PENDING, at=shared.clock())
    shared.documents.save(pending.model_copy(update={"lingering": True, "attempts": MAX_ATTEMPTS}))
    shared.clock.pass_by(REMOVAL_DEADLINE + 1)

    while run.progress.outcome is RunOutcome.MORE:
        run, _ = shared.ingestion.begin(run)

    assert len(shared.bedrock.direct_calls) == 2
    assert shared.document().status is DocumentStatus.INDEXED


def test_what_has_changed_since_it_was_listed_is_in_no_call(shared: Pipeline) -> None:
    drop(shared, 2)
    listed = list(shared.documents.kept.values())
    shared.delete("alice/research/0.txt")

    bound = shared.direct.calls.bind(listed, "direct-1-0")

    assert [each.filename for each in bound.documents.values()] == ["1.txt"]
    assert shared.document("alice/research/0.txt").status is DocumentStatus.DELETING


def test_a_grant_goes_back_with_the_time_that_a_call_took(shared: Pipeline) -> None:
    shared.drop()

    shared.work_shared()

    assert shared.book.read().grants == ()
    assert shared.book.read().rates[Mode.SHARED].base_ms == 4_000


def test_the_time_of_a_refused_call_tells_nothing(shared: Pipeline) -> None:
    shared.drop()
    shared.bedrock.direct_busy = ALL_BUSY

    shared.work_shared()

    assert shared.book.read().rates == {}


def ingest_fails_over(pipeline: Pipeline, document_id: str, error: Exception) -> list[int]:
    """How many documents each call had that failed, as they come."""
    sizes = list[int]()

    def fail(_: object, documents: Sequence[Submission], **__: object) -> None:
        if document_id in {each.document_id for each in documents}:
            sizes.append(len(documents))
            raise error

    pipeline.bedrock.before("ingest", fail)
    return sizes


@pytest.mark.parametrize(
    "error", [KnowledgeBaseUnavailable("IngestKnowledgeBaseDocuments", "500"), RuntimeError("!")]
)
def test_a_document_that_every_call_fails_over_keeps_nobody_else_waiting(
    shared: Pipeline, error: Exception
) -> None:
    others = [f"user-{number}/shelf/a.txt" for number in range(12)]
    for key in (*others, KEY):
        shared.drop(key)
    sizes = ingest_fails_over(shared, DOCUMENT, error)

    run, work = shared.work_shared()

    assert sizes[0] > 1
    assert sizes[-1] == 1
    assert run.progress.outcome is RunOutcome.RELEASED
    assert [shared.document(key).status for key in others] == ["indexed"] * 12
    assert shared.document().status is DocumentStatus.INDEXING
    assert work.failures.keys() == {CATALOG}
    assert shared.worklists.kept[SHARED_WORKLIST].keys() == {CATALOG}  # for the sweep


@pytest.mark.parametrize(
    "error", [KnowledgeBaseUnavailable("Retrieve", "500"), RuntimeError("unreadable")]
)
def test_a_catalog_that_cannot_be_settled_keeps_nobody_else_waiting(
    shared: Pipeline, error: Exception
) -> None:
    others = [f"user-{number}/shelf/a.txt" for number in range(3)]
    for key in (*others, KEY):
        shared.drop(key)

    def fail(documents: Sequence[Document]) -> None:
        if any(each.catalog_id == CATALOG for each in documents):
            raise error

    shared.findings.before("reasons_for", fail)

    run, work = shared.work_shared()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert [shared.document(key).status for key in others] == ["indexed"] * 3
    assert work.failures.keys() == {CATALOG}
    assert shared.book.read().grants == ()
