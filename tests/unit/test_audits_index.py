"""What the knowledge bases list and what the records say."""

import pytest

from stackroom.audits.discrepancies import Kind, Outcome
from stackroom.audits.patience import TRIES
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.model import DataSourceType, DocumentStatus
from stackroom.ports.ingestion import Busy
from stackroom.runs.progress import RunOutcome
from tests.unit.pipeline import CATALOG, KEY, SHARED_WORKLIST, place_of
from tests.unit.reconciling import LONG, SHARED, Reconciled

KEYS = [f"alice/research/{number}.txt" for number in range(9)]
ORPHAN = f"doc-{'0' * 24}"


@pytest.fixture
def world() -> Reconciled:
    return Reconciled()


@pytest.fixture
def crowded() -> Reconciled:
    """Every place of the knowledge base is taken: a catalog lives on the shared data source."""
    world = Reconciled()
    for number in range(4):
        key = f"bob/{number}/file.txt"
        world.dropped_and_indexed(key)
    for key in KEYS:
        world.drop(key)
    unplaced, _ = world.ingestion.begin(world.live_run())
    world.ingestion.release(unplaced)
    world.executions.ended.add(world.leases.kept[CATALOG].execution_name)
    world.work_shared()
    assert world.catalogs.kept[CATALOG].data_source_type is DataSourceType.CUSTOM
    for key in KEYS:
        world.is_searchable(key)
        assert world.document(key).status is DocumentStatus.INDEXED
    assert not world.leases.kept[SHARED_WORKLIST].held
    world.executions.ended.add(world.leases.kept[SHARED_WORKLIST].execution_name)
    return world


def test_an_indexed_document_that_the_index_lost_is_pending_again(world: Reconciled) -> None:
    world.dropped_and_indexed(*KEYS)
    world.bedrock.forget(KEYS[3])

    assert world.found() == [(Kind.MISSING_FROM_INDEX, KEYS[3])]
    assert world.document(KEYS[3]).status is DocumentStatus.PENDING
    assert world.leases.kept[CATALOG].held


@pytest.mark.parametrize("status", ["FAILED", "METADATA_UPDATE_FAILED", "IGNORED", "NOT_FOUND"])
def test_an_indexed_document_of_which_the_index_says_otherwise_is_pending_again(
    world: Reconciled, status: str
) -> None:
    world.dropped_and_indexed(KEY)
    world.bedrock.say(KEY, status)

    assert world.found() == [(Kind.MISSING_FROM_INDEX, KEY)]


def test_a_document_that_is_being_ingested_again_is_left_alone(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.bedrock.say(KEY, "IN_PROGRESS")

    assert world.found() == []


def test_a_failed_document_that_was_indexed_since_is_looked_at_again(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.change(KEY, status=DocumentStatus.FAILED, status_reason="Bedrock said so")
    world.clock.pass_by(1)
    world.bedrock.say(KEY, "INDEXED")

    assert world.found() == [(Kind.INDEXED_AFTER_ALL, KEY)]
    assert world.document().status is DocumentStatus.PENDING


def test_a_failed_document_that_no_search_finds_stays_failed(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.change(KEY, status=DocumentStatus.FAILED, status_reason="Bedrock said so")
    world.clock.pass_by(1)
    world.bedrock.say(KEY, "INDEXED")
    world.knowledge_base.forget()

    assert world.found() == []


def test_what_the_index_said_before_the_document_failed_counts_no_more(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.clock.pass_by(1)
    failed = {"status": DocumentStatus.FAILED, "status_reason": "its vectors were not written"}
    world.change(KEY, **failed, updated_at=world.clock())

    assert world.found() == []


def test_an_indexed_document_without_object_and_record_gets_a_record_to_be_deleted_by(
    world: Reconciled,
) -> None:
    world.dropped_and_indexed(KEY, KEYS[0])
    world.forget(KEY)
    world.bucket.delete(KEY)
    world.bucket.remove_sidecar(KEY)

    assert world.found() == [(Kind.INDEXED_WITHOUT_RECORD, KEY)]
    assert world.document(KEY).status is DocumentStatus.DELETING
    assert world.leases.kept[CATALOG].held
    assert world.found() == []


def test_a_data_source_that_was_never_synced_lists_nothing(world: Reconciled) -> None:
    world.drop()
    world.admitted()

    assert world.found() == []


@pytest.mark.parametrize(
    "error", [KnowledgeBaseThrottled("any"), KnowledgeBaseUnavailable("any", "any")]
)
@pytest.mark.parametrize(
    ("port", "call"),
    [
        ("inventory", "source_ids"),
        ("inventory", "source"),
        ("inventory", "indexed"),
        ("bedrock", "details"),
        ("knowledge_base", "retrieve"),
    ],
)
def test_a_knowledge_base_that_fails_for_a_while_is_asked_again(
    crowded: Reconciled, port: str, call: str, error: Exception
) -> None:
    document = crowded.forget(KEYS[3])
    crowded.bucket.delete(KEYS[3])
    crowded.bucket.remove_sidecar(KEYS[3])

    met = getattr(crowded, port).fails(call, error, times=TRIES - 1)

    assert crowded.found() == [(Kind.INDEXED_WITHOUT_RECORD, KEYS[3])]
    assert met.left == 0
    assert crowded.document(KEYS[3]).document_id == document.document_id


def test_what_a_data_source_of_its_own_says_of_a_document_is_asked_again(world: Reconciled) -> None:
    world.dropped_and_indexed(*KEYS)
    world.bedrock.forget(KEYS[3])
    world.bedrock.fails("details", KnowledgeBaseUnavailable("any", "any"), times=TRIES - 1)

    assert world.found() == [(Kind.MISSING_FROM_INDEX, KEYS[3])]


def test_a_knowledge_base_that_stays_down_is_told_once_and_costs_its_tries_once(
    world: Reconciled,
) -> None:
    world.dropped_and_indexed(KEY)
    calls: list[str] = []

    def fail(knowledge_base_id: str) -> None:
        calls.append(knowledge_base_id)
        raise KnowledgeBaseUnavailable("ListDataSources", "InternalServerException")

    world.inventory.before("source_ids", fail)
    found = world.found()

    assert {kind for kind, _ in found} == {Kind.NOT_COMPARED}
    assert len(calls) == TRIES + 1  # the second stage's


def test_a_shared_data_source_in_order_is_left_alone(crowded: Reconciled) -> None:
    assert crowded.found() == []


@pytest.mark.parametrize("capacity", [1, 5, 100])
def test_a_document_that_a_shared_data_source_lost_is_pending_again(
    crowded: Reconciled, capacity: int
) -> None:
    crowded.capacity = capacity
    crowded.bedrock.lose(SHARED, place_of(KEYS[3]).document_id)

    assert crowded.found() == [(Kind.MISSING_FROM_INDEX, KEYS[3])]
    assert crowded.document(KEYS[3]).status is DocumentStatus.PENDING


def test_a_shared_document_that_is_still_found_gets_a_record_to_be_deleted_by(
    crowded: Reconciled,
) -> None:
    key = KEYS[3]
    crowded.forget(key)
    crowded.bucket.delete(key)
    crowded.bucket.remove_sidecar(key)

    assert crowded.found() == [(Kind.INDEXED_WITHOUT_RECORD, key)]
    assert crowded.document(key).status is DocumentStatus.DELETING


def test_what_only_bears_a_shared_documents_id_says_nothing_of_it(crowded: Reconciled) -> None:
    key, place = KEYS[3], place_of(KEYS[3])
    crowded.forget(key)
    crowded.bucket.delete(key)
    crowded.bucket.remove_sidecar(key)
    bobs = place_of("bob/0/file.txt")
    crowded.knowledge_base.put(  # nearer than the document's own passage
        "document",
        user_id="bob",
        catalog_id=bobs.catalog_id,
        filename=bobs.filename,
        attributes={"document_id": place.document_id},
        key=bobs.key,
        score=2.0,
    )

    assert crowded.found() == [(Kind.INDEXED_WITHOUT_RECORD, key)]
    assert crowded.document(key).status is DocumentStatus.DELETING


def test_a_shared_documents_forged_attributes_make_no_record_for_anybody(
    crowded: Reconciled,
) -> None:
    bobs = place_of("bob/0/other.txt")
    crowded.bedrock.put(SHARED, ORPHAN)
    crowded.knowledge_base.put(
        "document",
        user_id="bob",
        catalog_id=bobs.catalog_id,
        filename=bobs.filename,
        attributes={"document_id": ORPHAN},
        custom_id=ORPHAN,
    )

    assert crowded.found() == [(Kind.INDEXED_WITHOUT_RECORD, f"KB1/SHARED1: {ORPHAN}")]
    assert crowded.documents.get(bobs.catalog_id, bobs.document_id) is None


def test_a_shared_document_of_no_catalog_is_deleted_directly(crowded: Reconciled) -> None:
    crowded.bedrock.put(SHARED, ORPHAN)

    assert crowded.found() == [(Kind.INDEXED_WITHOUT_RECORD, f"KB1/SHARED1: {ORPHAN}")]
    crowded.clock.pass_by(LONG)
    assert crowded.bedrock.details(SHARED, [ORPHAN])[ORPHAN].status == "NOT_FOUND"
    assert crowded.found() == []


def test_a_second_copy_at_a_data_source_where_the_catalog_does_not_live_is_deleted(
    world: Reconciled,
) -> None:
    world.dropped_and_indexed(KEY)
    document_id = place_of(KEY).document_id
    world.bedrock.put(SHARED, document_id)

    assert world.found() == [(Kind.INDEXED_WITHOUT_RECORD, f"KB1/SHARED1: {document_id}")]
    assert world.found() == []
    assert world.bedrock.details(SHARED, [document_id])[document_id].status == "NOT_FOUND"


def test_nothing_is_deleted_directly_while_a_run_has_its_grant(crowded: Reconciled) -> None:
    crowded.bedrock.put(SHARED, ORPHAN)
    crowded.clock.pass_by(LONG)
    crowded.drop(KEY)
    crowded.bedrock.direct_seconds = LONG
    run, _ = crowded.work_shared()
    assert run.progress.outcome is RunOutcome.MORE
    assert crowded.book.read().grants

    (found,) = crowded.reconcile()

    assert found.kind is Kind.INDEXED_WITHOUT_RECORD
    assert found.outcome is Outcome.LEFT
    assert crowded.bedrock.details(SHARED, [ORPHAN])[ORPHAN].status == "INDEXED"


def test_a_refused_deletion_is_told_as_not_done(crowded: Reconciled) -> None:
    crowded.bedrock.put(SHARED, ORPHAN)
    crowded.bedrock.direct_busy = Busy(why="a job is running")
    crowded.clock.pass_by(LONG)

    (found,) = crowded.reconcile()

    assert found.outcome is Outcome.LEFT


def test_what_somebody_else_put_there_is_reported_and_kept(crowded: Reconciled) -> None:
    crowded.bedrock.put(SHARED, "a handbook of theirs")
    crowded.clock.pass_by(LONG)

    (found,) = crowded.reconcile()

    assert found.outcome is Outcome.LEFT
    assert crowded.bedrock.details(SHARED, ["a handbook of theirs"])


def test_what_was_put_there_a_moment_ago_is_left_for_the_next_time(crowded: Reconciled) -> None:
    crowded.clock.pass_by(LONG)
    crowded.bedrock.put(SHARED, ORPHAN)

    assert crowded.reconcile() == []
