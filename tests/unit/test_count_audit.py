"""Catalogs whose counters are read while their documents change, and in several steps."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from stackroom.model.records import Document, DocumentStatus
from stackroom.reconciler import count_audit
from stackroom.reconciler.audit_rounds import AuditStage
from stackroom.reconciler.discrepancies import Kind
from tests.support.records import NOW, a_catalog, a_document
from tests.unit.reconciling import Reconciled


@pytest.fixture
def world() -> Reconciled:
    """Three catalogs with wrong counters, and a document in each."""
    world = Reconciled()
    for catalog in map(a_catalog, range(3)):
        world.catalogs.open(catalog)
        world.documents.save(a_document(catalog_id=catalog.catalog_id, size=1))
        counted = world.catalogs.kept[catalog.catalog_id]
        world.catalogs.kept[catalog.catalog_id] = counted.model_copy(update={"document_count": 77})
    return world


def found(world: Reconciled) -> list[tuple[Kind, str]]:
    audit = world.reconciliation().audits[AuditStage.BOOKS]
    cursor: str | None = None
    kinds: list[tuple[Kind, str]] = []
    goes_on = True
    while goes_on:
        piece = audit.step(cursor)
        try:
            while True:
                each = next(piece)
                kinds.append((each.kind, each.what))
        except StopIteration as end:
            cursor = end.value
        goes_on = cursor is not None
    return kinds


def test_every_catalog_is_counted_in_however_many_steps(
    world: Reconciled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_audit, "_STEP", 1)

    assert found(world) == [(Kind.WRONG_COUNTS, f"cat-alice-{number}") for number in range(3)]
    assert found(world) == []


def test_catalog_whose_documents_change_meanwhile_is_skipped(
    world: Reconciled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One goes and another of its size comes: the counters read as before."""
    of_catalog = world.documents.of_catalog

    def exchanged(catalog_id: str) -> Iterator[Document]:
        [old] = of_catalog(catalog_id)
        world.documents.remove(old)
        later = NOW + timedelta(seconds=1)
        new = a_document(2, later, catalog_id=catalog_id, size=1)
        world.documents.save(new.moved(DocumentStatus.PENDING, at=later))
        return iter([old])

    monkeypatch.setattr(world.documents, "of_catalog", exchanged)

    assert found(world) == []
