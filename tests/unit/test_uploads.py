import pytest

from stackroom.errors import ObjectRefused
from stackroom.model.keys import (
    unplaced_partition,
)
from stackroom.model.records import (
    NOT_BY_THEIRS,
    Catalog,
    CatalogStatus,
    Document,
    DocumentStatus,
)
from stackroom.uploads.plan import (
    Plan,
    UploadOutcome,
)
from stackroom.uploads.steps import (
    RecordAttributes,
)
from tests.unit.pipeline import CATALOG, EXE, KEY, Pipeline, receipts_of


def is_quarantined(pipeline: Pipeline, key: str) -> bool:
    """Nobody's, and yet known for this document."""
    document = pipeline.document(key)
    return pipeline.bucket.sidecar_attributes(key) == {
        "user_id": "!rejected",
        "catalog_id": document.catalog_id,
        "document_id": document.document_id,
    }


def rejects_of(pipeline: Pipeline, user_id: str) -> list[Document]:
    return list(pipeline.documents.of_catalog(unplaced_partition(user_id)))


def test_an_upload_opens_its_catalog_and_waits_for_a_run(pipeline: Pipeline) -> None:
    reconciled = pipeline.drop(KEY, "text", kb_domain="hr")

    catalog = pipeline.catalogs.kept[CATALOG]
    assert (catalog.name, catalog.s3_prefix) == ("research", "alice/research/")
    assert pipeline.bucket.sidecar_attributes(KEY)["user_id"] == "alice"
    assert pipeline.bucket.sidecar_attributes(KEY)["domain"] == "hr"
    assert pipeline.document().status is DocumentStatus.PENDING
    assert pipeline.document().correlation_id == "event-1"
    assert reconciled.run_for == CATALOG
    assert list(pipeline.executions.started) == [f"{CATALOG}-1"]


def test_catalog_records_each_attribute_type_once_and_again_if_lost(
    pipeline: Pipeline,
) -> None:
    typed = {"kb-number-year": "2026", "kb-bool-public": "true", "kb-domain": "hr"}
    first = pipeline.drop(KEY, "text", **typed)
    again = pipeline.drop("alice/research/other.pdf", "text", **typed)
    pipeline.catalogs.kept[CATALOG] = pipeline.catalogs.kept[CATALOG].model_copy(
        update={"attribute_types": frozenset()}
    )
    healed = pipeline.uploads.reconcile(KEY)

    recorded = RecordAttributes(
        catalog_id=CATALOG, types=frozenset({"year:number", "public:boolean", "domain:text"})
    )
    assert recorded in first.steps
    assert recorded not in again.steps
    assert recorded in healed.steps
    assert healed.outcome is UploadOutcome.UNCHANGED
    assert pipeline.catalogs.kept[CATALOG].attribute_types == recorded.types


def test_rejected_file_leaves_no_attribute_types(pipeline: Pipeline) -> None:
    pipeline.drop(KEY, "text", **{"kb-number-year": "MMXXVI"})

    assert pipeline.catalogs.kept[CATALOG].attribute_types == frozenset()


@pytest.mark.parametrize(
    "theirs",
    [
        b'{"metadataAttributes": {"dept": "hr"}}',
        b'{"metadataAttributes": {"dept": {"value": {"type": "STRING", "stringValue": "hr"}}}}',
        b"no JSON",
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_foreign_sidecar_is_replaced_and_the_record_says_so(
    pipeline: Pipeline, theirs: bytes, is_first: bool
) -> None:
    if not is_first:
        pipeline.drop(KEY)
        pipeline.index(KEY)
    pipeline.bucket.write_sidecar(KEY, theirs)
    if is_first:
        pipeline.drop(KEY)
    else:
        pipeline.deliver(KEY)
    pipeline.index(KEY)

    told = pipeline.document(KEY)
    pipeline.drop(KEY, "newer")
    pipeline.index(KEY)

    assert told.shown_gaps == (NOT_BY_THEIRS,)
    assert pipeline.document(KEY).shown_gaps == ()


@pytest.mark.parametrize(("body", "attributes"), [("other", {}), ("text", {"kb_domain": "it"})])
def test_other_content_or_other_attributes_are_indexed_again(
    indexed: Pipeline, body: str, attributes: dict[str, str]
) -> None:
    again = indexed.drop(KEY, body, **attributes)

    assert again.run_for == CATALOG
    assert indexed.document().status is DocumentStatus.PENDING
    assert len(indexed.documents.kept) == 1


def test_unchanged_indexed_file_is_left_alone(indexed: Pipeline) -> None:
    stale = indexed.deliver()  # "Object Deleted" of a version; the key still holds the file
    again = indexed.drop()

    assert [each.outcome for each in (stale, again)] == [UploadOutcome.UNCHANGED] * 2
    assert again.run_for is None
    assert indexed.document().status is DocumentStatus.INDEXED


@pytest.mark.parametrize(
    ("key", "body", "attributes", "reason"),
    [
        (EXE, "MZ", {}, "File type '.exe' not supported"),
        ("alice/research/README", "x", {}, "no type in its name"),
        ("alice/research/a.txt", "", {}, "the file is empty"),
        ("alice/research/a.txt", "x" * 52_428_801, {}, "File exceeds 50MB limit"),
        (f"alice/research/{'n' * 397}.txt", "x", {}, "401 bytes; at most 400"),
        ("alice/research/../a.txt", "x", {}, "'..' folder in it"),
        ("alice/research/a.txt", "x", {"kb_user_id": "bob"}, "'user_id' is reserved"),
        ("alice/research/a.txt", "x", {"kb_a": "y" * 2000}, "at most 1024 are allowed"),
    ],
)
def test_rejected_upload_fails_with_a_reason_and_is_quarantined(
    pipeline: Pipeline, key: str, body: str, attributes: dict[str, str], reason: str
) -> None:
    reconciled = pipeline.drop(key, body, **attributes)

    assert pipeline.document(key).status is DocumentStatus.FAILED
    assert reason in str(pipeline.document(key).status_reason)
    assert is_quarantined(pipeline, key)
    assert reconciled.run_for is None


@pytest.mark.parametrize("is_indexed", [True, False])
def test_bad_version_over_an_indexed_one_asks_for_runs_as_does_removal(
    pipeline: Pipeline, *, is_indexed: bool
) -> None:
    pipeline.drop()  # pending, and lying under the prefix while a job of the catalog may run
    if is_indexed:
        pipeline.index()

    bad = pipeline.drop(KEY, "")
    is_lingering, is_nobodys = pipeline.document().lingering, is_quarantined(pipeline, KEY)
    removed = pipeline.delete()

    assert (bad.run_for, is_lingering, is_nobodys) == (CATALOG, True, True)
    assert removed.run_for == CATALOG
    assert pipeline.document().status is DocumentStatus.DELETING
    (receipt,) = receipts_of(pipeline)
    assert receipt.is_open


def test_a_failed_file_is_tried_again_when_dropped_not_on_its_event(filled: Pipeline) -> None:
    filled.bedrock.becomes(filled.document().document_id, "FAILED", "no text")
    filled.execute()

    same_event = filled.deliver()
    status_after_event = filled.document().status
    dropped_again = filled.drop()

    assert (same_event.outcome, status_after_event) == (
        UploadOutcome.UNCHANGED,
        DocumentStatus.FAILED,
    )
    assert dropped_again.run_for == CATALOG
    assert filled.document().status is DocumentStatus.PENDING


def test_a_removed_file_that_was_never_indexed_is_forgotten_at_once(pipeline: Pipeline) -> None:
    pipeline.drop(EXE)

    reconciled = pipeline.delete(EXE)

    (receipt,) = receipts_of(pipeline)
    assert reconciled.outcome is UploadOutcome.FORGOTTEN
    assert (pipeline.documents.kept, pipeline.bucket.sidecars) == ({}, {})
    assert reconciled.receipt_id == receipt.receipt_id
    assert receipt.unsearchable_since == receipt.asked_at
    assert receipt.searchable_before is None


@pytest.mark.parametrize(
    ("key", "user_id", "reason"),
    [
        ("lost.pdf", "!none", "no folder"),
        ("alice/a_b/x.pdf", "alice", "invalid characters"),
        ("alice/research/", "alice", "ends in '/'"),
    ],
)
def test_an_object_of_no_catalog_is_recorded_and_forgotten_with_the_object(
    pipeline: Pipeline, key: str, user_id: str, reason: str
) -> None:
    pipeline.drop(key)
    recorded = rejects_of(pipeline, user_id)
    pipeline.delete(key)

    assert [each.s3_key for each in recorded] == [key]
    assert reason in str(recorded[0].status_reason)
    assert not rejects_of(pipeline, user_id)


def test_other_spellings_of_a_catalog_are_rejected_naming_the_prefix(pipeline: Pipeline) -> None:
    strays = ["alice/Research/report.pdf", "alice/RESEARCH/report.pdf"]
    pipeline.drop()

    for key in strays:
        pipeline.drop(key)

    rejects = rejects_of(pipeline, "alice")
    assert [each.s3_key for each in rejects] == strays
    assert all("drop the file there" in str(each.status_reason) for each in rejects)
    assert all("'alice/research/'" in str(each.status_reason) for each in rejects)
    assert len(pipeline.catalogs.kept) == 1
    assert pipeline.document().status is DocumentStatus.PENDING


def test_a_sidecar_that_a_late_handler_wrote_over_is_mended(pipeline: Pipeline) -> None:
    pipeline.drop(KEY, "text", kb_domain="old")
    stale = pipeline.bucket.sidecars[KEY]
    pipeline.drop(KEY, "text", kb_domain="new")
    pipeline.index()
    # by whoever saw the first version, and was refused
    pipeline.bucket.undelete_sidecar(KEY, stale)

    reconciled = pipeline.deliver()

    assert pipeline.bucket.sidecar_attributes(KEY)["domain"] == "new"
    assert pipeline.document().status is DocumentStatus.PENDING
    assert pipeline.document().attempts == 0
    assert reconciled.run_for == CATALOG


def test_a_quarantine_that_was_written_over_is_restored(filled: Pipeline) -> None:
    good = filled.bucket.sidecars[KEY]
    filled.drop(KEY, "")
    filled.bucket.undelete_sidecar(KEY, good)

    reconciled = filled.deliver()

    assert is_quarantined(filled, KEY)
    assert filled.document().lingering
    assert reconciled.run_for == CATALOG


def test_a_catalog_opened_in_another_spelling_rejects_the_file(pipeline: Pipeline) -> None:
    def open_otherwise(catalog: Catalog) -> None:
        spelled = {"name": "Research", "s3_prefix": "alice/Research/"}
        pipeline.catalogs.open(catalog.model_copy(update=spelled))

    pipeline.catalogs.before("open", open_otherwise)

    reconciled = pipeline.drop()

    assert reconciled.outcome is UploadOutcome.REJECTED
    assert [each.s3_key for each in rejects_of(pipeline, "alice")] == [KEY]


def test_folder_markers_and_our_own_objects_are_ignored(pipeline: Pipeline) -> None:
    for key in (KEY + ".metadata.json", "_text/alice/a.md"):
        assert pipeline.drop(key).outcome is UploadOutcome.IGNORED
    assert pipeline.drop("alice/research/", body="").outcome is UploadOutcome.IGNORED

    assert not pipeline.documents.kept


def test_object_put_again_during_lookup_of_its_record_keeps_its_sidecar(
    filled: Pipeline,
) -> None:
    filled.documents.kept.clear()
    filled.bucket.before("sidecar_of", lambda _: filled.drop(), times=1)

    reconciled = filled.delete()

    assert reconciled.outcome is not UploadOutcome.FORGOTTEN
    assert KEY in filled.bucket.sidecars
    assert filled.document().status is DocumentStatus.PENDING


def test_a_drop_unmarks_a_catalog_before_its_record_is_there(filled: Pipeline) -> None:
    filled.catalogs.mark_deleting(CATALOG, at=filled.clock())
    seen: list[CatalogStatus] = []
    filled.documents.before("save", lambda _: seen.append(filled.catalogs.kept[CATALOG].status))

    filled.drop("alice/research/other.pdf")

    assert seen == [CatalogStatus.INDEXING]
    assert filled.catalogs.kept[CATALOG].status is CatalogStatus.INDEXING


def test_catalog_closed_during_an_upload_is_reopened(pipeline: Pipeline) -> None:
    pipeline.catalogs.lose()

    pipeline.documents.before("save", lambda _: pipeline.catalogs.lose(), times=1)
    reconciled = pipeline.drop()

    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.INDEXING
    assert pipeline.document().status is DocumentStatus.PENDING
    assert list(pipeline.documents.open_in(CATALOG)) == [pipeline.document()]
    assert reconciled.run_for == CATALOG


@pytest.mark.parametrize("key", [KEY, EXE, "alice/stray.txt"])
def test_file_deleted_before_its_first_record_is_not_shown_as_present(
    pipeline: Pipeline, key: str
) -> None:
    """Whoever hears of the deletion finds no record yet."""
    heard: list[Plan] = []
    pipeline.documents.before("save", lambda _: heard.append(pipeline.delete(key)), times=1)

    pipeline.drop(key)

    shown = [each.status for each in pipeline.documents.kept.values()]
    assert len(heard) == 1
    assert shown == ([DocumentStatus.DELETING] if key == KEY else [])
    assert key not in pipeline.bucket.sidecars


def test_sidecar_of_a_file_that_comes_back_meanwhile_stays(pipeline: Pipeline) -> None:
    pipeline.bucket.before("sidecar_of", lambda _: pipeline.drop(), times=1)

    pipeline.deliver()

    assert KEY in pipeline.bucket.sidecars
    assert pipeline.document().status is DocumentStatus.PENDING


def test_catalog_marked_while_a_file_is_registered_is_kept(indexed: Pipeline) -> None:
    """Its deletion has listed the objects before the file came."""

    def mark(*_: object) -> None:
        indexed.catalogs.mark_deleting(CATALOG, at=indexed.clock())

    indexed.documents.after("save", mark, times=1)

    indexed.drop("alice/research/late.txt")

    assert indexed.catalogs.kept[CATALOG].status is CatalogStatus.INDEXING


def test_file_under_a_catalogs_new_name_is_rejected_naming_its_folder(
    indexed: Pipeline,
) -> None:
    indexed.catalogs.describe(CATALOG, name="Papers", description="", at=indexed.clock())

    indexed.drop("alice/papers/b.txt")
    [rejected] = rejects_of(indexed, "alice")
    others = indexed.drop("bob/papers/b.txt")
    indexed.catalogs.describe(CATALOG, name="Research", description="", at=indexed.clock())
    again = indexed.deliver("alice/papers/b.txt")

    assert rejected.status_reason == (
        "catalog 'Papers' has the prefix 'alice/research/'; drop the file there"
    )
    assert {others.outcome, again.outcome} == {UploadOutcome.REGISTERED}
    assert rejects_of(indexed, "alice") == []


def test_a_record_of_a_catalog_that_can_not_be_opened_is_unplaced(filled: Pipeline) -> None:
    filled.catalogs.lose()
    filled.catalogs.limit = 0

    filled.deliver()

    (stray,) = rejects_of(filled, "alice")
    assert stray.s3_key == KEY
    assert list(filled.documents.of_catalog(CATALOG)) == []


@pytest.mark.parametrize(
    ("key", "status"),
    [(KEY, DocumentStatus.PENDING), (EXE, DocumentStatus.FAILED)],
)
def test_record_is_dated_after_its_sidecar_was_written(
    pipeline: Pipeline, key: str, status: DocumentStatus
) -> None:
    # A job that began while the sidecar was being written has not seen this version.
    pipeline.bucket.after("write_sidecar", lambda *_: pipeline.clock.pass_by(30))

    pipeline.drop(key)

    document = pipeline.document(key)
    written_at = pipeline.bucket.sidecars[key].last_modified
    assert document.status is status
    assert document.updated_at > written_at
    if status is DocumentStatus.PENDING:
        assert document.present_since is not None
        assert document.present_since > written_at


WHY = "it is encrypted with a key that you hold (SSE-C)"


@pytest.mark.parametrize("sidecars_denied", [False, True])
def test_unreadable_object_fails_with_reason_and_recovers_by_new_upload(
    pipeline: Pipeline, *, sidecars_denied: bool
) -> None:
    pipeline.bucket.upload(KEY)
    pipeline.bucket.keep_from_us(KEY, WHY)
    if sidecars_denied:
        pipeline.bucket.fails("write_sidecar", ObjectRefused(KEY, WHY), times=1)

    refused = pipeline.deliver()
    rejected = pipeline.document()
    again = pipeline.deliver()
    pipeline.drop(KEY, "text that we may read")

    assert (refused.outcome, refused.reason) == (UploadOutcome.REJECTED, WHY)
    assert (rejected.status, rejected.status_reason) == (DocumentStatus.FAILED, WHY)
    assert again.outcome is UploadOutcome.UNCHANGED
    assert pipeline.document().status is DocumentStatus.PENDING


def test_a_sidecar_of_a_readable_object_that_is_refused_is_no_rejection(pipeline: Pipeline) -> None:
    pipeline.bucket.upload(KEY)
    pipeline.bucket.fails("write_sidecar", ObjectRefused(KEY, WHY))

    with pytest.raises(ObjectRefused):
        pipeline.deliver()


JUNK = ("alice/research/.DS_Store", "alice/research/2026/._notes.txt", "alice/research/~$plan.docx")


@pytest.mark.parametrize("key", [*JUNK, "Thumbs.db", "alice/.DS_Store", "alice/__MACOSX/a/b.txt"])
def test_junk_has_no_record_no_catalog_and_no_failure(pipeline: Pipeline, key: str) -> None:
    dropped = pipeline.drop(key)

    assert dropped.outcome is UploadOutcome.IGNORED
    assert (pipeline.documents.kept, pipeline.catalogs.kept, pipeline.bucket.sidecars) == (
        {},
        {},
        {},
    )


def test_junk_where_jobs_crawl_is_quarantined_until_it_is_gone() -> None:
    pipeline = Pipeline(by_jobs=True)
    pipeline.drop()
    pipeline.index(KEY)

    for key in JUNK:
        pipeline.drop(key)

    told = [pipeline.bucket.sidecar_attributes(key)["user_id"] for key in JUNK]
    assert told == ["!rejected"] * len(JUNK)
    assert len(pipeline.documents.kept) == 1
    for key in JUNK:
        pipeline.delete(key)
    assert list(pipeline.bucket.sidecars) == [KEY]


COMPOSED, DECOMPOSED = "alice/research/M\u00e4rz.txt", "alice/research/Ma\u0308rz.txt"
TWINS = [
    (COMPOSED, DECOMPOSED),
    (DECOMPOSED, COMPOSED),
    ("alice/research/a b.txt", "alice/research/a\u00a0b.txt"),
    ("alice/M\u00e4rz/a.txt", "alice/Ma\u0308rz/a.txt"),
]


@pytest.mark.parametrize(("first", "second"), TWINS)
def test_a_second_key_of_a_name_is_rejected_naming_the_first(
    pipeline: Pipeline, first: str, second: str
) -> None:
    pipeline.drop(first, "first")

    again = pipeline.drop(second, "second")

    assert again.outcome is UploadOutcome.REJECTED
    [rejected] = rejects_of(pipeline, "alice")
    assert rejected.s3_key == second
    assert repr(first) in str(rejected.status_reason)
    assert pipeline.document(first).s3_key == first
    assert list(pipeline.bucket.sidecars) == [first]
    assert pipeline.deliver(second).steps == ()


@pytest.mark.parametrize(("first", "second"), TWINS)
def test_two_keys_of_a_name_in_one_batch_leave_one_document_and_one_reject(
    pipeline: Pipeline, first: str, second: str
) -> None:
    for key in (first, second):
        pipeline.bucket.upload(key)

    outcomes = pipeline.uploads.reconcile_all({first: "1", second: "2"})

    told = sorted(str(each.outcome) for each in outcomes.values() if isinstance(each, Plan))
    assert told == ["registered", "rejected"]
    taken = pipeline.document(first).s3_key
    [rejected] = rejects_of(pipeline, "alice")
    assert {taken, rejected.s3_key} == {first, second}
    assert list(pipeline.bucket.sidecars) == [taken]


@pytest.mark.parametrize(("first", "second"), TWINS)
def test_second_key_of_a_name_takes_its_place_once_the_first_is_gone(
    pipeline: Pipeline, first: str, second: str
) -> None:
    pipeline.drop(first)
    pipeline.drop(second)
    pipeline.bucket.delete(first)

    pipeline.deliver(second)
    pipeline.deliver(first)

    assert pipeline.document(first).s3_key == second
    assert pipeline.document(first).status is DocumentStatus.PENDING
    assert rejects_of(pipeline, "alice") == []
    assert list(pipeline.bucket.sidecars) == [second]


@pytest.mark.parametrize("other", ["alice/Bu\u0308ro/b.txt", "alice/B\u00fcro\u200b/b.txt"])
def test_folders_that_differ_by_encoding_alone_are_one_catalog(
    pipeline: Pipeline, other: str
) -> None:
    first = "alice/B\u00fcro/a.txt"
    pipeline.drop(first)

    pipeline.drop(other)

    [catalog] = pipeline.catalogs.kept.values()
    assert catalog.document_count == 2
    pipeline.index(first, other)
    assert {each.status for each in pipeline.documents.kept.values()} == {DocumentStatus.INDEXED}


def test_folder_of_other_encoding_is_rejected_where_jobs_read_one_prefix() -> None:
    pipeline = Pipeline(by_jobs=True)
    first, other = "alice/B\u00fcro/a.txt", "alice/Bu\u0308ro/b.txt"
    pipeline.drop(first)
    pipeline.index(first)

    assert pipeline.drop(other).outcome is UploadOutcome.REJECTED

    assert "'alice/B\\xfcro/' alone" in str(rejects_of(pipeline, "alice")[0].status_reason)
