"""Texts that nobody needs, as a full round finds and removes them."""

from functools import partial

import pytest

from stackroom.reconciler.discrepancies import Kind, Outcome
from stackroom.text.text_ids import text_id_of
from tests.unit.pipeline import KEY
from tests.unit.reconciling import Reconciled

OTHER, THIRD = "alice/research/other.txt", "alice/research/third.txt"
QUARTER = 15 * 60.0


@pytest.fixture
def world() -> Reconciled:
    return Reconciled()


def test_text_that_its_record_does_not_name_goes_after_a_quarter_hour(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.change(KEY, text_id="b" * 16, indexed_text_id="a" * 16)
    earlier, this, stray = (world.keeps_text(each * 16) for each in "abc")
    world.clock.pass_by(QUARTER - 1)
    too_soon = world.reconcile()
    world.clock.pass_by(1)

    [rehearsed] = world.reconcile(dry_run=True)
    before = set(world.texts.kept)
    [told] = world.reconcile()

    assert too_soon == []
    assert (rehearsed.kind, rehearsed.what) == (Kind.TEXT_WITHOUT_DOCUMENT, stray.key)
    assert (rehearsed.outcome, told.outcome) == (Outcome.LEFT, Outcome.MENDED)
    assert before == {earlier, this, stray}
    assert set(world.texts.kept) == {earlier, this}


def test_text_without_record_and_object_is_removed_and_no_other(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY, OTHER, THIRD)
    for key in (KEY, THIRD):
        world.change(key, text_id="a" * 16)
    kept = {world.keeps_text("a" * 16, key) for key in (KEY, THIRD)}
    gone = world.keeps_text("a" * 16, "alice/research/gone.txt")
    elsewhere = world.keeps_text("a" * 16, "bob/plans/gone.txt")
    world.clock.pass_by(QUARTER)

    found = [(each.kind, each.what) for each in world.reconcile()]

    removed = sorted(each.key for each in (gone, elsewhere))
    assert found == [(Kind.TEXT_WITHOUT_DOCUMENT, key) for key in removed]
    assert set(world.texts.kept) == kept
    assert world.reconcile() == []


def test_text_is_kept_while_its_document_awaits_the_result(world: Reconciled) -> None:
    world.findings.everything = False
    world.drop(KEY)
    text = world.keeps_text("a" * 16)
    world.clock.pass_by(QUARTER)

    found = [each.kind for each in world.reconcile()]

    assert found == [Kind.UNREAD_FILE]
    assert set(world.texts.kept) == {text}


def test_no_text_is_unneeded_while_the_record_is_of_other_content(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.change(KEY, text_id="b" * 16, indexed_text_id="b" * 16)
    replaced = world.keeps_text("a" * 16)
    ids = (replaced.user_id, replaced.catalog_id, replaced.document_id)
    unneeded = partial(world.use_cases.text_keeping.unneeded, *ids, KEY)
    before = unneeded()

    world.bucket.upload(KEY, "other")

    assert before == [replaced]
    assert unneeded() == []


def test_text_without_ocr_is_removed_once_its_version_has_one_with_it(
    world: Reconciled,
) -> None:
    world.dropped_and_indexed(KEY)
    found = world.bucket.version_of(KEY)
    assert found is not None
    plain, with_ocr = (
        text_id_of(found, world.document(KEY).filename, each) for each in ("none", "textract")
    )
    world.change(KEY, text_id=with_ocr, indexed_text_id=with_ocr)
    replaced, this = (world.keeps_text(each) for each in (plain, with_ocr))
    world.clock.pass_by(QUARTER)

    told = [(each.kind, each.what) for each in world.reconcile()]

    assert told == [(Kind.TEXT_WITHOUT_DOCUMENT, replaced.key)]
    assert set(world.texts.kept) == {this}


def test_same_bytes_dropped_again_keep_their_text_but_not_the_replaced_one(
    world: Reconciled,
) -> None:
    world.dropped_and_indexed(KEY)
    world.change(KEY, text_id="b" * 16, indexed_text_id="b" * 16)
    world.drop(KEY)  # which leaves the record as it is
    found = world.bucket.version_of(KEY)
    assert found is not None
    assert found.version_id != world.document(KEY).version_id
    ids = ("b" * 16, text_id_of(found, world.document(KEY).filename), "a" * 16)
    this, of_found, replaced = (world.keeps_text(each) for each in ids)
    world.clock.pass_by(QUARTER)

    told = [(each.kind, each.what) for each in world.reconcile()]

    assert told == [(Kind.TEXT_WITHOUT_DOCUMENT, replaced.key)]
    assert set(world.texts.kept) == {this, of_found}


def test_text_replaced_by_a_rejected_file_is_deleted_on_eviction(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.change(KEY, text_id="a" * 16, indexed_text_id="a" * 16)
    world.keeps_text("a" * 16)
    world.drop(KEY, "")
    world.knowledge_base.forget()

    world.execute(world.worklist_of())

    assert not world.document().lingering
    assert world.texts.kept == {}
