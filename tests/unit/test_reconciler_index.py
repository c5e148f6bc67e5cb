"""Comparison of the knowledge bases' listings with the records, and how both are read."""

from dataclasses import dataclass, field

import pytest

from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model.records import DataSource, DocumentStatus
from stackroom.reconciler.bedrock_requests import TRIES, RequestPace
from stackroom.reconciler.discrepancies import Kind, Outcome
from stackroom.runs.inventory import ListingExpired
from tests.unit.pipeline import CATALOG, KEY, SHARED_WORKLIST, place_of
from tests.unit.reconciling import LONG, SHARED, Reconciled

KEYS = [f"alice/research/{number}.txt" for number in range(9)]
ORPHAN = f"doc-{'0' * 24}"


@pytest.fixture(params=["calls", "jobs"])
def world(request: pytest.FixtureRequest) -> Reconciled:
    """Catalogs with data sources of their own, for direct calls or for jobs."""
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
def test_indexed_document_missing_from_the_index_becomes_pending_again(
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


def test_index_status_from_before_a_failure_is_ignored(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.clock.pass_by(1)
    failed = {"status": DocumentStatus.FAILED, "status_reason": "its vectors were not written"}
    world.change(KEY, **failed, updated_at=world.clock())

    assert world.found() == []


def test_indexed_document_without_object_gets_a_record_and_is_deleted(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY, KEYS[0])
    world.leaves_behind(KEY)

    assert world.found() == [(Kind.INDEXED_WITHOUT_RECORD, KEY)]
    assert world.document(KEY).status is DocumentStatus.DELETING
    assert world.leases.kept[CATALOG].held
    assert world.found() == []


def deleted_and_proven(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY, KEYS[0])
    world.delete(KEY)
    removed(world)


def removed(world: Reconciled) -> None:
    world.knowledge_base.forget()
    run = world.work(world.worklist_of(KEY))
    if run.progress.job_id is not None:
        world.finish_job(run, status="NOT_FOUND")
    world.go_on(run)


def test_document_found_after_its_proven_deletion_is_removed_again(
    world: Reconciled,
) -> None:
    deleted_and_proven(world)
    assert world.found() == []
    world.is_searchable(KEY)

    assert world.found(dry_run=True) == [(Kind.FOUND_AFTER_DELETION, KEY)]
    assert world.found() == [(Kind.FOUND_AFTER_DELETION, KEY)]
    [reopened] = world.receipts.of_user("alice")
    removed(world)
    [receipt] = world.receipts.of_user("alice")

    assert reopened.is_open
    assert receipt.unsearchable_since is not None
    assert receipt.found_again_at is not None
    assert receipt.unsearchable_since > receipt.found_again_at > receipt.asked_at
    assert world.found() == []


def test_file_uploaded_again_after_its_deletion_is_not_removed(world: Reconciled) -> None:
    deleted_and_proven(world)
    world.is_searchable(KEY)
    world.receipts.before(
        "proven", lambda *_, **__: world.bucket.upload(KEY, "the same name again"), times=1
    )

    assert world.found() == []
    assert world.found() == [(Kind.OBJECT_WITHOUT_RECORD, KEY)]
    assert world.document().status is DocumentStatus.PENDING


def test_deletion_is_checked_until_an_hour_after_it_closed(world: Reconciled) -> None:
    deleted_and_proven(world)
    searches: list[int] = []
    for _ in range(9):
        before = len(world.knowledge_base.filters)
        assert world.found() == []
        searches.append(len(world.knowledge_base.filters) - before)

    assert searches == [1] * 6 + [0] * 3


@pytest.mark.parametrize(
    ("port", "call"),
    [
        ("inventory", "source_ids"),
        ("inventory", "indexed"),
        ("bedrock", "details"),
    ],
)
def test_a_knowledge_base_that_fails_for_a_while_is_asked_again(
    crowded: Reconciled, port: str, call: str
) -> None:
    document = crowded.leaves_behind(KEYS[3])
    error = KnowledgeBaseThrottled("any")
    met = getattr(crowded, port).fails(call, error, times=TRIES - 1)

    assert crowded.found() == [(Kind.INDEXED_WITHOUT_RECORD, KEYS[3])]
    assert met.left == 0
    assert crowded.document(KEYS[3]).document_id == document.document_id


def test_foreign_entry_with_a_shared_documents_id_is_ignored(crowded: Reconciled) -> None:
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


def test_reconciler_deletes_nothing_directly_while_a_run_has_a_grant(crowded: Reconciled) -> None:
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
def test_foreign_document_in_the_index_is_reported_and_kept(crowded: Reconciled, key: str) -> None:
    theirs, source = "a handbook of theirs", crowded.source_of(key)
    crowded.bedrock.put(source, theirs)
    crowded.clock.pass_by(LONG)

    (found,) = crowded.reconcile()

    assert (found.outcome, found.kind) == (Outcome.LEFT, Kind.INDEXED_WITHOUT_RECORD)
    assert crowded.bedrock.details(source, [theirs])[theirs].status == "INDEXED"


def test_index_entry_added_a_moment_ago_is_left_for_the_next_time(crowded: Reconciled) -> None:
    crowded.clock.pass_by(LONG)
    crowded.bedrock.put(SHARED, ORPHAN)

    assert crowded.reconcile() == []


@pytest.mark.parametrize("pages", [1, 25])
def test_every_difference_is_found_with_any_number_of_steps(
    crowded: Reconciled, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    # So many pages of two documents are a step.
    monkeypatch.setattr("stackroom.reconciler.index_audit.PAGES", pages)
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


def test_more_suspects_than_a_round_takes_are_told_and_left_to_the_next(
    world: Reconciled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stackroom.reconciler.index_audit.SUSPECTS", 10)
    keys = [f"alice/research/{number}.txt" for number in range(15)]
    world.inventory.page = 100
    world.dropped_and_indexed(*keys)
    world.loses(*keys[:13])

    first = world.found()
    second = world.found()

    missing = [(Kind.MISSING_FROM_INDEX, key) for key in keys[:13]]
    assert [kind for kind, _ in first].count(Kind.NOT_COMPARED) == 1
    assert len(first) == 11
    assert Kind.NOT_COMPARED not in [kind for kind, _ in second]
    assert {*first, *second}.issuperset(missing)


def test_listing_that_expires_is_reported_and_the_next_is_read(crowded: Reconciled) -> None:
    def expire(source: DataSource, _: str | None) -> None:
        if source == SHARED:
            raise ListingExpired(source.data_source_id)

    crowded.inventory.before("indexed", expire)
    crowded.loses("bob/3/file.txt")

    assert sorted(crowded.found()) == [
        (Kind.MISSING_FROM_INDEX, "bob/3/file.txt"),
        (Kind.NOT_COMPARED, "KB1/SHARED1"),
    ]


def test_document_ingested_after_the_records_were_read_is_no_orphan(crowded: Reconciled) -> None:
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


@dataclass
class Watch:
    at: float = 0.0

    def pass_by(self, seconds: float) -> None:
        self.at += seconds

    def now(self) -> float:
        return self.at


@dataclass
class Port:
    """Notes when it was asked; throttles those calls, counted from 0."""

    watch: Watch
    throttles: range = range(0)
    asked: list[float] = field(default_factory=list)

    def list(self) -> int:
        self.asked.append(self.watch.at)
        if len(self.asked) - 1 in self.throttles:
            raise KnowledgeBaseThrottled("ListKnowledgeBaseDocuments")
        return len(self.asked)

    def other(self) -> str:
        return "at once"


@pytest.fixture
def watch() -> Watch:
    return Watch()


def paced(port: Port, a_second: float = 2.0) -> Port:
    pace = RequestPace(a_second=a_second, sleep=port.watch.pass_by, now=port.watch.now)
    return pace.of(port, "list")


def test_a_throttled_request_makes_room_for_others_and_the_pace_comes_back(watch: Watch) -> None:
    port = Port(watch, throttles=range(1, 3))
    asked = paced(port)
    for _ in range(7):
        try:
            asked.list()
        except KnowledgeBaseThrottled:
            continue

    waits = [later - earlier for earlier, later in zip(port.asked, port.asked[1:], strict=False)]
    assert waits == [0.5, 1.0, 2.0, 2.0, 1.0, 0.5]


def test_last_of_two_deletions_is_reopened_when_the_file_is_found(
    world: Reconciled,
) -> None:
    deleted_and_proven(world)
    world.clock.pass_by(60)
    world.dropped_and_indexed(KEY)
    world.delete(KEY)
    removed(world)
    world.is_searchable(KEY)

    assert world.found() == [(Kind.FOUND_AFTER_DELETION, KEY)]

    assert [each.is_open for each in world.receipts.of_user("alice")] == [True, False]


def test_receipt_that_failed_to_reopen_still_records_the_finding(
    world: Reconciled,
) -> None:
    deleted_and_proven(world)
    world.is_searchable(KEY)
    world.receipts.fails("reopen", ConnectionError(), times=1)

    world.found()
    world.found_between()
    removed(world)
    [receipt] = world.receipts.of_user("alice")

    assert receipt.found_again_at is not None
    assert receipt.unsearchable_since is not None
    assert receipt.unsearchable_since > receipt.found_again_at
