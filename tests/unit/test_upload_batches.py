"""Uploads planned, many at a time, or announced by a tool."""

from collections.abc import Iterable
from datetime import timedelta

import pytest

from stackroom.errors import RecordChanged, StoreUnavailable
from stackroom.model.records import Document, DocumentStatus
from stackroom.reconciler.discrepancies import Kind
from stackroom.uploads.plan import Plan, UploadOutcome
from tests.unit.pipeline import CATALOG, KEY, Pipeline, document_at, place_of
from tests.unit.reconciling import Reconciled


def test_plan_lists_every_step_in_order_and_writes_nothing(
    pipeline: Pipeline,
) -> None:
    pipeline.bucket.upload(KEY)

    plan = pipeline.uploads.plan(KEY)
    before = (dict(pipeline.catalogs.kept), dict(pipeline.bucket.sidecars))
    done = pipeline.uploads.reconcile(KEY)

    assert str(plan) == (
        "open catalog 'research' of 'alice', write its sidecar, record it as pending"
    )
    assert plan.run_for == CATALOG
    assert before == ({}, {})
    assert (done.outcome, str(done)) == (plan.outcome, str(plan))
    assert not pipeline.uploads.plan(KEY).changes_records


KEYS = [f"alice/research/{number}.txt" for number in range(5)]
OTHER = "bob/law/c.txt"


def reconciled(pipeline: Pipeline, *keys: str) -> dict[str, Plan | Exception]:
    return pipeline.uploads.reconcile_all({key: f"event of {key}" for key in keys})


def dropped(pipeline: Pipeline, *keys: str) -> dict[str, Plan | Exception]:
    for key in keys:
        pipeline.bucket.upload(key)
    return reconciled(pipeline, *keys)


def outcomes(found: dict[str, Plan | Exception]) -> dict[str, object]:
    """Return the outcomes by key; for an error, its type."""
    return {
        key: each.outcome if isinstance(each, Plan) else type(each) for key, each in found.items()
    }


@pytest.fixture
def saved(pipeline: Pipeline) -> list[list[str]]:
    """The files of each `save_all`."""
    calls: list[list[str]] = []
    save_all = pipeline.documents.save_all

    def note(documents: Iterable[Document]) -> list[Document]:
        given = list(documents)
        calls.append([each.filename for each in given])
        return save_all(given)

    pipeline.documents.save_all = note  # type: ignore[method-assign]
    return calls


def test_files_of_one_catalog_are_saved_together(
    pipeline: Pipeline, saved: list[list[str]]
) -> None:
    sidecars = pipeline.bucket.sidecars
    has_sidecar: list[bool] = []
    pipeline.documents.before("save", lambda each: has_sidecar.append(each.s3_key in sidecars))

    found = dropped(pipeline, *KEYS, OTHER)

    assert has_sidecar == [True] * 6, "it is there before its record"
    assert outcomes(found) == dict.fromkeys([*KEYS, OTHER], UploadOutcome.REGISTERED)
    assert sorted(map(len, saved)) == [1, 5]
    assert pipeline.catalogs.kept[CATALOG].document_count == 5
    assert {pipeline.document(key).status for key in KEYS} == {DocumentStatus.PENDING}
    assert {pipeline.document(key).correlation_id for key in KEYS} == {
        f"event of {key}" for key in KEYS
    }


def test_record_written_meanwhile_is_read_again_and_registered(pipeline: Pipeline) -> None:
    dropped(pipeline, *KEYS)
    for key in KEYS[:2]:
        pipeline.bucket.upload(key, "other")

    def meddle(_: object) -> None:
        pipeline.documents.overwrite(pipeline.document(KEYS[0]).model_copy(update={"version": 7}))

    pipeline.documents.before("save_all", meddle, times=1)
    found = reconciled(pipeline, *KEYS[:2])

    assert outcomes(found) == dict.fromkeys(KEYS[:2], UploadOutcome.REGISTERED)
    assert pipeline.document(KEYS[0]).version == 8
    assert {pipeline.document(key).etag for key in KEYS[:2]} == {
        pipeline.bucket.objects[key].etag for key in KEYS[:2]
    }


@pytest.mark.parametrize("error", [ValueError("no store takes it"), RecordChanged("for ever")])
def test_a_record_that_can_not_be_saved_keeps_no_other_from_being_saved(
    pipeline: Pipeline, error: Exception
) -> None:
    def refuse(document: Document) -> None:
        if document.s3_key == KEYS[1]:
            raise error

    pipeline.documents.before("save", refuse)

    found = dropped(pipeline, *KEYS)

    failed = {key: each for key, each in found.items() if isinstance(each, Exception)}
    assert failed == {KEYS[1]: error}
    assert {each.s3_key for each in pipeline.documents.of_catalog(CATALOG)} == {*KEYS} - {KEYS[1]}


def test_a_store_that_does_not_answer_fails_those_of_that_catalog(pipeline: Pipeline) -> None:
    def fail(documents: Iterable[Document]) -> None:
        if CATALOG in {each.catalog_id for each in documents}:
            raise StoreUnavailable("TransactWriteItems", "ThrottlingError")

    pipeline.documents.before("save_all", fail)

    found = dropped(pipeline, *KEYS, OTHER)

    expected = dict.fromkeys(KEYS, StoreUnavailable)
    assert outcomes(found) == {**expected, OTHER: UploadOutcome.REGISTERED}


def test_removals_rejections_and_strangers_go_the_same_way(pipeline: Pipeline) -> None:
    dropped(pipeline, KEY)
    pipeline.bucket.delete(KEY)
    rejected, loose = "alice/research/a.exe", "alice/loose.txt"

    found = dropped(pipeline, rejected, loose)
    gone = reconciled(pipeline, KEY, "alice/research/never.txt", f"{KEY}.metadata.json")

    assert outcomes(found) == dict.fromkeys([rejected, loose], UploadOutcome.REJECTED)
    assert outcomes(gone) == {
        KEY: UploadOutcome.DELETING,
        "alice/research/never.txt": UploadOutcome.IGNORED,
        f"{KEY}.metadata.json": UploadOutcome.IGNORED,
    }
    assert pipeline.document(KEY).receipt_id is not None


BESIDE = "alice/research/other.txt"
MINUTES = 15 * 60.0


def announce(pipeline: Pipeline, key: str = KEY, *, seconds: float = MINUTES) -> Document:
    now = pipeline.clock()
    until = now + timedelta(seconds=seconds)
    announced = document_at(key, now, status=DocumentStatus.UPLOADING, size=0, upload_until=until)
    return pipeline.documents.save(announced)


@pytest.mark.parametrize("after", [0, 2 * MINUTES])
def test_upload_turns_announced_document_pending_however_late_it_comes(
    pipeline: Pipeline, after: float
) -> None:
    pipeline.drop(BESIDE)
    announce(pipeline)
    pipeline.clock.pass_by(after)

    pipeline.drop(KEY)

    document = pipeline.document(KEY)
    assert document.status is DocumentStatus.PENDING
    assert document.upload_until is None
    assert document.present_since is not None


def test_announced_upload_is_kept_until_it_expires(pipeline: Pipeline) -> None:
    pipeline.drop(BESIDE)
    announced = announce(pipeline)

    early = pipeline.uploads.reconcile(KEY)
    pipeline.clock.pass_by(MINUTES)
    late = pipeline.uploads.reconcile(KEY)

    assert early.outcome is UploadOutcome.IGNORED
    assert late.outcome is UploadOutcome.FORGOTTEN
    assert pipeline.documents.get(CATALOG, announced.document_id) is None
    assert list(pipeline.receipts.of_user("alice")) == []


@pytest.mark.parametrize("has_others", [True, False])
def test_reconciler_reports_and_removes_uploads_that_never_came(*, has_others: bool) -> None:
    world = Reconciled()
    world.drop(BESIDE)
    announce(world)
    if not has_others:
        world.bucket.delete(BESIDE)
        world.uploads.reconcile(BESIDE)

    early = [kind for kind, key in world.found() if key == KEY]
    world.clock.pass_by(MINUTES)
    told = [what for kind, what in world.found(dry_run=True) if kind is Kind.UNUSED_LINK]
    late = [kind for kind, key in world.found() if key == KEY]

    assert (early, told, late) == ([], [KEY], [Kind.UNUSED_LINK])
    assert world.documents.get(CATALOG, place_of(KEY).document_id) is None
