"""A plan is worked out of what was seen, says what it would do, and does nothing by itself."""

import pytest

from stackroom.keys import document_id_of
from stackroom.model import Document, DocumentStatus
from tests.unit.pipeline import CATALOG, KEY, Pipeline


def test_a_plan_tells_every_step_in_order_and_writes_nothing_until_it_is_done(
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


def test_a_removal_leaves_the_index_before_the_record_goes(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.bucket.delete(KEY)

    plan = pipeline.uploads.plan(KEY)

    assert str(plan) == (
        "remove its sidecar, save its record, keep a receipt of its removal, record it as deleting"
    )
    assert pipeline.document(KEY).receipt_id is None


@pytest.mark.parametrize("is_back", [True, False])
def test_a_removal_from_the_index_goes_on_when_a_rejected_object_is_back(
    pipeline: Pipeline, is_back: bool
) -> None:
    """A job of its catalog crawls it; the reconciler removed what was left of it."""
    key = "alice/research/....//x.txt"
    pipeline.drop()
    document_id = document_id_of(CATALOG, "....//x.txt")
    now = pipeline.clock()
    pipeline.documents.save(
        Document(
            catalog_id=CATALOG,
            document_id=document_id,
            filename="....//x.txt",
            s3_key=key,
            status=DocumentStatus.DELETING,
            uploaded_at=now,
            updated_at=now,
            present_since=now,
        )
    )
    if is_back:
        pipeline.bucket.upload(key)

    pipeline.uploads.reconcile(key)

    left = pipeline.documents.get(CATALOG, document_id)
    assert left is not None
    assert left.status is (DocumentStatus.FAILED if is_back else DocumentStatus.DELETING)
    assert left.lingering is is_back
