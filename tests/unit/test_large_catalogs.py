"""A catalog of more than a page: told by what it counts and lists, and never read whole."""

from typing import Any

import pytest

from stackroom.catalog_tools.of_questions import GET_INDEXING_STATUS
from stackroom.catalogs.progress import CatalogProgress, Progress
from stackroom.counting import counts_in
from stackroom.ingestion.estimates import LISTED, PAGE
from stackroom.model import CatalogStatus, Document, DocumentStatus
from tests.records import a_catalog, a_document
from tests.unit.pipeline import Pipeline

CATALOG = "cat-alice-1"
MANY = PAGE + 50


@pytest.fixture
def pipeline() -> Pipeline:
    """With a catalog of many documents, all indexed a while ago, which nobody may read whole."""
    pipeline = Pipeline()
    pipeline.catalogs.open(a_catalog())
    pipeline.documents.save_all(indexed(pipeline, number) for number in range(MANY))
    pipeline.catalogs.settle_status(CATALOG, at=pipeline.clock())
    pipeline.clock.pass_by(60)
    pipeline.documents.fails("of_catalog", AssertionError("it was read whole"))
    return pipeline


def indexed(pipeline: Pipeline, number: int) -> Document:
    return made(pipeline, number, DocumentStatus.INDEXED, indexed_at=pipeline.clock())


def made(pipeline: Pipeline, number: int, status: DocumentStatus, **fields: Any) -> Document:
    return a_document(
        number, at=pipeline.clock(), catalog_id=CATALOG, size=10, status=status, **fields
    )


def failed(pipeline: Pipeline, number: int) -> Document:
    return made(pipeline, number, DocumentStatus.FAILED, status_reason="no text")


def progress_of(pipeline: Pipeline, catalog_id: str = CATALOG) -> CatalogProgress:
    progress = Progress(catalogs=pipeline.catalogs, estimates=pipeline.estimates)
    return progress.of("alice", catalog_id)


def test_it_is_told_by_its_counters_and_lists_what_is_not_ready(pipeline: Pipeline) -> None:
    pipeline.documents.save_all(
        [
            made(pipeline, 901, DocumentStatus.PENDING),
            made(pipeline, 902, DocumentStatus.INDEXING),
            failed(pipeline, 903),
            made(pipeline, 904, DocumentStatus.DELETING),
        ]
    )

    progress = progress_of(pipeline)

    told = (progress.indexed, progress.indexing, progress.pending, progress.failed)
    assert told == (MANY, 1, 1, 1)
    assert progress.overall is CatalogStatus.INDEXING
    assert progress.total == counts_in(progress.catalog).documents == MANY + 3
    listed = [each.document.document_id for each in progress.unready]
    assert listed == ["doc-0901", "doc-0902", "doc-0903"]
    assert progress.more == 0


def test_of_more_than_are_looked_at_the_rest_is_counted(pipeline: Pipeline) -> None:
    pipeline.documents.save_all(failed(pipeline, 1000 + each) for each in range(LISTED + 7))

    progress = progress_of(pipeline)

    told = GET_INDEXING_STATUS.render(progress)
    assert progress.failed == LISTED + 7
    assert (len(progress.unready), progress.more) == (LISTED, 7)
    assert told.text.endswith(f"- and {LISTED + 7 - 100} more that aren't ready")  # 100 are listed


def test_where_more_wait_than_are_looked_at_nobody_knows_how_long(pipeline: Pipeline) -> None:
    waiting = [made(pipeline, 1000 + each, DocumentStatus.PENDING) for each in range(LISTED + 1)]
    pipeline.documents.save_all(waiting[:LISTED])
    known = progress_of(pipeline)
    pipeline.documents.save(waiting[LISTED])

    unknown = progress_of(pipeline)

    assert known.eta_seconds is not None
    assert unknown.eta_seconds is None
    assert unknown.pending == LISTED + 1


def test_a_catalog_of_fewer_is_read_in_one_page(pipeline: Pipeline) -> None:
    pipeline.catalogs.open(a_catalog(2))
    pipeline.documents.save(a_document(1, catalog_id="cat-alice-2"))
    to_come: dict[str, Any] = {"status": DocumentStatus.UPLOADING, "upload_until": pipeline.clock()}
    pipeline.clock.pass_by(-1)
    pipeline.documents.save(a_document(2, catalog_id="cat-alice-2", **to_come))
    for listing in ("open_in", "failed_in"):
        pipeline.documents.fails(listing, AssertionError("a page would do"))

    progress = progress_of(pipeline, "cat-alice-2")

    assert [each.document.document_id for each in progress.unready] == ["doc-0001", "doc-0002"]
