"""What the knowledge bases list and what the records say."""

import pytest

from stackroom.audits.discrepancies import Kind, Outcome
from stackroom.audits.patience import TRIES
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.model import DataSource, DocumentStatus
from stackroom.ports.inventory import ListingExpired
from tests.unit.pipeline import CATALOG, KEY, SHARED_WORKLIST, place_of
from tests.unit.reconciling import LONG, SHARED, Reconciled

KEYS = [f"alice/research/{number}.txt" for number in range(9)]
ORPHAN = f"doc-{'0' * 24}"


@pytest.fixture(params=["calls", "jobs"])
def world(request: pytest.FixtureRequest) -> Reconciled:
    """Where catalogs have data sources of their own, that take direct calls or jobs."""
    return Reconciled(by_jobs=request.param == "jobs")


@pytest.fixture
def crowded() -> Reconciled:
    """Every place of the knowledge base is taken: a catalog lives on the shared data source."""
    world = Reconciled()
    for number in range(4):
        world.dropped_and_indexed(f"bob/{number}/file.txt")
    world.dropped_and_indexed(*KEYS)
    assert world.source_of(KEYS[0]).is_shared
    return world


@pytest.mark.parametrize("status", ["FAILED", "METADATA_UPDATE_FAILED", "IGNORED", "NOT_FOUND"])
def test_an_indexed_document_of_which_the_index_says_otherwise_is_pending_again(
    world: Reconciled, status: str
) -> None:
    world.dropped_and_indexed(KEY)
    world.says(KEY, status)

    assert world.found() == [(Kind.MISSING_FROM_INDEX, KEY)]


def test_a_failed_document_that_was_indexed_since_is_looked_at_again(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.change(KEY, status=DocumentStatus.FAILED, status_reason="Bedrock said so")
    world.clock.pass_by(1)
    world.says(KEY, "INDEXED")

    assert world.found() == [(Kind.INDEXED_AFTER_ALL, KEY)]
    assert world.document().status is DocumentStatus.PENDING


def test_what_the_index_said_before_the_document_failed_counts_no_more(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.clock.pass_by(1)
    failed = {"status": DocumentStatus.FAILED, "status_reason": "its vectors were not written"}
    world.change(KEY, **failed, updated_at=world.clock())

    assert world.found() == []


def test_what_is_indexed_without_object_gets_a_record_to_be_deleted_by(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY, KEYS[0])
    world.leaves_behind(KEY)

    assert world.found() == [(Kind.INDEXED_WITHOUT_RECORD, KEY)]
    assert world.document(KEY).status is DocumentStatus.DELETING
    assert world.leases.kept[CATALOG].held
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
    document = crowded.leaves_behind(KEYS[3])
    met = getattr(crowded, port).fails(call, error, times=TRIES - 1)

    assert crowded.found() == [(Kind.INDEXED_WITHOUT_RECORD, KEYS[3])]
    assert met.left == 0
    assert crowded.document(KEYS[3]).document_id == document.document_id


def test_a_knowledge_base_that_stays_down_costs_its_tries_once(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    calls: list[str] = []

    def fail(knowledge_base_id: str) -> None:
        calls.append(knowledge_base_id)
        raise KnowledgeBaseUnavailable("ListDataSources", "InternalServerException")

    world.inventory.before("source_ids", fail)
    found = world.found()

    assert {kind for kind, _ in found} == {Kind.NOT_COMPARED}
    assert len(calls) == TRIES + 1  # the second stage's


@pytest.fixture(params=[1, 25])
def pages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many pages of two documents are a step."""
    for module in ("readings", "suspects"):
        monkeypatch.setattr(f"stackroom.audits.{module}.PAGES", request.param)


def test_what_only_bears_a_shared_documents_id_says_nothing_of_it(crowded: Reconciled) -> None:
    key, place = KEYS[3], place_of(KEYS[3])
    crowded.leaves_behind(key)
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


def test_a_shared_documents_forged_attributes_make_no_record(crowded: Reconciled) -> None:
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


@pytest.mark.parametrize("status", ["INDEXED", "FAILED", "PARTIALLY_INDEXED"])
def test_a_shared_document_of_no_catalog_is_deleted_directly(
    crowded: Reconciled, status: str
) -> None:
    crowded.bedrock.put(SHARED, ORPHAN, status)

    assert crowded.found() == [(Kind.INDEXED_WITHOUT_RECORD, f"KB1/SHARED1: {ORPHAN}")]
    crowded.clock.pass_by(LONG)
    assert crowded.bedrock.details(SHARED, [ORPHAN])[ORPHAN].status == "NOT_FOUND"
    assert crowded.found() == []


def test_a_second_copy_where_the_catalog_does_not_live_is_deleted(world: Reconciled) -> None:
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
    crowded.work(SHARED_WORKLIST)
    assert crowded.book.read().grants

    (found,) = crowded.reconcile()

    assert found.kind is Kind.INDEXED_WITHOUT_RECORD
    assert found.outcome is Outcome.LEFT
    assert crowded.bedrock.details(SHARED, [ORPHAN])[ORPHAN].status == "INDEXED"


@pytest.mark.parametrize("key", [KEYS[0], "bob/0/file.txt"])  # shared, and a catalog's own
def test_what_somebody_else_put_there_is_reported_and_kept(crowded: Reconciled, key: str) -> None:
    theirs, source = "a handbook of theirs", crowded.source_of(key)
    crowded.bedrock.put(source, theirs)
    crowded.clock.pass_by(LONG)

    (found,) = crowded.reconcile()

    assert (found.outcome, found.kind) == (Outcome.LEFT, Kind.INDEXED_WITHOUT_RECORD)
    assert crowded.bedrock.details(source, [theirs])[theirs].status == "INDEXED"


def test_what_was_put_there_a_moment_ago_is_left_for_the_next_time(crowded: Reconciled) -> None:
    crowded.clock.pass_by(LONG)
    crowded.bedrock.put(SHARED, ORPHAN)

    assert crowded.reconcile() == []


@pytest.mark.usefixtures("pages")
def test_all_that_differs_is_found_whatever_the_number_of_steps(crowded: Reconciled) -> None:
    lost, forgotten = KEYS[3], KEYS[5]
    crowded.loses(lost)
    crowded.leaves_behind(forgotten)
    crowded.bedrock.put(SHARED, ORPHAN)

    assert set(crowded.found()) == {
        (Kind.MISSING_FROM_INDEX, lost),
        (Kind.INDEXED_WITHOUT_RECORD, forgotten),
        (Kind.INDEXED_WITHOUT_RECORD, f"KB1/SHARED1: {ORPHAN}"),
    }
    assert crowded.document(lost).status is DocumentStatus.PENDING


def test_more_differences_than_a_reading_can_tell_take_more_readings(world: Reconciled) -> None:
    keys = [f"alice/research/{number}.txt" for number in range(150)]
    world.page = 1000
    world.differences = 1
    world.inventory.page = 1000
    world.dropped_and_indexed(*keys)
    world.loses(*keys[:100])

    assert sorted(world.found()) == sorted((Kind.MISSING_FROM_INDEX, key) for key in keys[:100])


def test_a_listing_that_expired_begins_anew(crowded: Reconciled) -> None:
    crowded.bedrock.lose(SHARED, place_of(KEYS[3]).document_id)
    met = crowded.inventory.fails("indexed", ListingExpired("SHARED1"), times=2)

    assert crowded.found() == [(Kind.MISSING_FROM_INDEX, KEYS[3])]
    assert met.left == 0


def test_a_listing_that_never_lasts_is_told_and_the_next_one_read(crowded: Reconciled) -> None:
    def expire(source: DataSource, _: str | None) -> None:
        if source == SHARED:
            raise ListingExpired(source.data_source_id)

    crowded.inventory.before("indexed", expire)
    crowded.loses("bob/3/file.txt")

    assert sorted(crowded.found()) == [
        (Kind.MISSING_FROM_INDEX, "bob/3/file.txt"),
        (Kind.NOT_COMPARED, "KB1/SHARED1"),
    ]


def test_what_was_ingested_after_the_records_were_read_is_no_orphan(crowded: Reconciled) -> None:
    """Its file was gone, and its index held it still; then it is dropped again."""
    key, document_id = KEYS[3], place_of(KEYS[3]).document_id
    kept = crowded.leaves_behind(key)
    crowded.knowledge_base.forget(document_id)  # no search tells whose it is

    def drop_again(_: DataSource, asked: list[str]) -> None:
        assert document_id in asked
        crowded.documents.overwrite(kept)
        crowded.bedrock.put(SHARED, document_id)
        crowded.clock.pass_by(LONG)

    crowded.bedrock.before("details", drop_again, times=1)

    assert crowded.found() == []
    assert crowded.bedrock.details(SHARED, [document_id])[document_id].status == "INDEXED"
