"""A file that is to come: announced by a tool, then uploaded, called off, or never sent."""

from datetime import timedelta

import pytest

from stackroom.audits.discrepancies import Kind
from stackroom.model import Document, DocumentStatus
from stackroom.uploads.steps import UploadOutcome
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of
from tests.unit.reconciling import Reconciled

OTHER = "alice/research/other.txt"
MINUTES = 15 * 60.0


def announce(pipeline: Pipeline, key: str = KEY, *, seconds: float = MINUTES) -> Document:
    location, now = place_of(key), pipeline.clock()
    document = Document(
        catalog_id=location.catalog_id,
        document_id=location.document_id,
        filename=location.filename,
        s3_key=key,
        status=DocumentStatus.UPLOADING,
        uploaded_at=now,
        updated_at=now,
        upload_until=now + timedelta(seconds=seconds),
    )
    return pipeline.documents.save(document)


@pytest.mark.parametrize("after", [0, 2 * MINUTES])
def test_the_upload_makes_it_a_document_like_any_other_however_late_it_comes(
    pipeline: Pipeline, after: float
) -> None:
    pipeline.drop(OTHER)
    announce(pipeline)
    pipeline.clock.pass_by(after)

    pipeline.drop(KEY)

    document = pipeline.document(KEY)
    assert document.status is DocumentStatus.PENDING
    assert document.upload_until is None
    assert document.present_since is not None


def test_it_stays_as_long_as_it_may_come_and_then_nothing_is_left(pipeline: Pipeline) -> None:
    pipeline.drop(OTHER)
    announced = announce(pipeline)

    early = pipeline.uploads.reconcile(KEY)
    pipeline.clock.pass_by(MINUTES)
    late = pipeline.uploads.reconcile(KEY)

    assert early.outcome is UploadOutcome.IGNORED
    assert late.outcome is UploadOutcome.FORGOTTEN
    assert pipeline.documents.get(CATALOG, announced.document_id) is None
    assert list(pipeline.receipts.of_user("alice")) == []


def test_it_is_called_off_by_deleting_it(pipeline: Pipeline) -> None:
    pipeline.drop(OTHER)
    announced = announce(pipeline)

    receipt = pipeline.deletions.delete_document("alice", CATALOG, announced.document_id)

    assert pipeline.documents.get(CATALOG, announced.document_id) is None
    assert not receipt.is_open
    assert receipt.searchable_before is None
    assert pipeline.receipts.get("alice", receipt.receipt_id) == receipt


def test_a_catalog_that_is_deleted_takes_it_along(pipeline: Pipeline) -> None:
    pipeline.drop(OTHER)
    announced = announce(pipeline)

    deletion = pipeline.deletions.delete_catalog("alice", CATALOG)

    assert deletion.documents == 1
    assert pipeline.documents.get(CATALOG, announced.document_id) is None


@pytest.mark.parametrize("has_others", [True, False])
def test_the_reconciler_tells_of_what_nobody_sent_and_forgets_it(*, has_others: bool) -> None:
    world = Reconciled()
    world.drop(OTHER)
    announce(world)
    if not has_others:
        world.bucket.delete(OTHER)
        world.uploads.reconcile(OTHER)

    early = [kind for kind, key in world.found() if key == KEY]
    world.clock.pass_by(MINUTES)
    told = [what for kind, what in world.found(dry_run=True) if kind is Kind.UNUSED_LINK]
    late = [kind for kind, key in world.found() if key == KEY]

    assert (early, told, late) == ([], [KEY], [Kind.UNUSED_LINK])
    assert world.documents.get(CATALOG, place_of(KEY).document_id) is None
