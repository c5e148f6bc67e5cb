"""How far a catalog is and how long it takes, of more than a page too."""

from dataclasses import replace
from typing import Any

import pytest

from stackroom.catalogs.progress import CatalogProgress, Progress
from stackroom.model.catalog_counts import counts_in
from stackroom.model.records import (
    CatalogStatus,
    DataSource,
    Document,
    DocumentStatus,
)
from stackroom.runs.capacity import Limits
from stackroom.runs.estimates import LISTED, PAGE, CatalogEstimate, DocumentStage, QueuePosition
from stackroom.runs.ledger import Mode
from stackroom.tools.document_definitions import GET_INDEXING_STATUS
from tests.fakes.admission import a_waiter
from tests.support.records import a_catalog, a_document
from tests.unit.pipeline import CATALOG, KEY, Pipeline

# Seconds until a run begins, and of small work of which nothing has been measured.
BEGINS, CALL, JOB = 3, 9, 23
OWN = DataSource(knowledge_base_id="KB1", data_source_id="DS1")


@pytest.fixture
def pipeline() -> Pipeline:
    """A pipeline where a file was dropped, and catalogs have data sources for jobs."""
    pipeline = Pipeline(by_jobs=True)
    pipeline.drop()
    return pipeline


def estimated(pipeline: Pipeline, limits: Limits | None = None) -> CatalogEstimate:
    estimates = replace(pipeline.estimates, limits=limits or Limits())
    return estimates.of(pipeline.catalogs.kept[CATALOG])


def queue_up(pipeline: Pipeline, catalog_id: str, mode: Mode) -> None:
    pipeline.clock.pass_by(1)
    pipeline.book.enqueue(a_waiter(catalog_id, 0, mode, since=pipeline.clock()))


def test_a_document_of_a_catalog_that_is_not_placed_is_about_to_begin(pipeline: Pipeline) -> None:
    seen = estimated(pipeline)
    pipeline.documents.save(pipeline.document(KEY).model_copy(update={"attempts": 1}))
    tried = estimated(pipeline)

    (document,) = seen.documents
    assert (document.stage, document.attempt) == (DocumentStage.BEGINNING, 1)
    assert seen.queue_position is None
    assert seen.eta_seconds == document.eta_seconds == BEGINS + CALL
    assert tried.documents[0].attempt == 2  # the one to come


def test_a_catalog_waits_behind_those_that_came_before_it(pipeline: Pipeline) -> None:
    pipeline.catalogs.place(CATALOG, OWN)
    for catalog_id in ("cat-1", "cat-2", CATALOG, "cat-3"):
        queue_up(pipeline, catalog_id, Mode.JOB)

    seen = estimated(pipeline)

    assert seen.queue_position == QueuePosition(position=3, length=4)
    assert seen.documents[0].stage is DocumentStage.WAITING
    assert seen.eta_seconds == 2 * JOB + JOB  # two ahead of its own


def test_ingesting_document_shows_attempt_and_time_left_or_how_late(
    pipeline: Pipeline,
) -> None:
    pipeline.work()
    pipeline.clock.pass_by(15)
    seen = estimated(pipeline)
    pipeline.clock.pass_by(10_000)
    late = estimated(pipeline)

    (document,) = seen.documents
    assert (document.stage, document.attempt) == (DocumentStage.INGESTING, 1)
    assert document.eta_seconds == JOB - 15
    assert seen.queue_position is None
    assert (late.eta_seconds, late.documents[0].is_late) == (None, True)
    assert late.documents[0].remaining(speed=1) == "longer than usual: 2h so far"


def ingested(pipeline: Pipeline, *, files: int, size: int, seconds: float) -> CatalogEstimate:
    """Return the estimate for files in progress, which then took this long."""
    for number in range(files):
        pipeline.drop(f"alice/research/{number} at {pipeline.clock()}.txt", "x" * size)
    run = pipeline.work()
    seen = estimated(pipeline)
    pipeline.clock.pass_by(seconds - 2)
    pipeline.go_on(run)
    return seen


def test_file_after_a_burst_gets_an_estimate_of_its_own() -> None:
    pipeline = Pipeline()
    ingested(pipeline, files=100, size=10_000, seconds=100)

    one = ingested(pipeline, files=1, size=50_000, seconds=8)
    burst = ingested(pipeline, files=100, size=10_000, seconds=100)

    assert one.eta_seconds is not None
    assert burst.eta_seconds is not None
    assert 8 <= one.eta_seconds <= 16
    assert 90 <= burst.eta_seconds <= 120


LARGE_ID = "cat-alice-1"
MANY = PAGE + 50


@pytest.fixture
def large() -> Pipeline:
    """A pipeline with a large catalog, indexed a while ago, that must not be read whole."""
    large = Pipeline()
    large.catalogs.open(a_catalog())
    large.documents.save_all(indexed(large, number) for number in range(MANY))
    large.clock.pass_by(60)
    large.documents.fails("of_catalog", AssertionError("it was read whole"))
    return large


def indexed(large: Pipeline, number: int) -> Document:
    return made(large, number, DocumentStatus.INDEXED, indexed_at=large.clock())


def made(large: Pipeline, number: int, status: DocumentStatus, **fields: Any) -> Document:
    return a_document(
        number, at=large.clock(), catalog_id=LARGE_ID, size=10, status=status, **fields
    )


def failed(large: Pipeline, number: int) -> Document:
    return made(large, number, DocumentStatus.FAILED, status_reason="no text")


def progress_of(large: Pipeline, catalog_id: str = LARGE_ID) -> CatalogProgress:
    progress = Progress(catalogs=large.catalogs, estimates=large.estimates)
    return progress.of("alice", catalog_id)


def test_catalog_estimate_uses_counters_and_lists_unready_documents(large: Pipeline) -> None:
    large.documents.save_all(
        [
            made(large, 901, DocumentStatus.PENDING),
            made(large, 902, DocumentStatus.INDEXING),
            failed(large, 903),
            made(large, 904, DocumentStatus.DELETING),
        ]
    )

    progress = progress_of(large)

    told = (progress.indexed, progress.indexing, progress.pending, progress.failed)
    assert told == (MANY, 1, 1, 1)
    assert progress.overall is CatalogStatus.INDEXING
    assert progress.total == counts_in(progress.catalog).documents == MANY + 3
    listed = [each.document.document_id for each in progress.unready]
    assert listed == ["doc-0901", "doc-0902", "doc-0903"]
    assert progress.more == 0


def test_of_more_than_are_looked_at_the_rest_is_counted(large: Pipeline) -> None:
    large.documents.save_all(failed(large, 1000 + each) for each in range(LISTED + 7))

    progress = progress_of(large)

    told = GET_INDEXING_STATUS.render(progress)
    assert progress.failed == LISTED + 7
    assert (len(progress.unready), progress.more) == (LISTED, 7)
    assert told.text.endswith(f"- and {LISTED + 7 - 100} more that aren't ready")  # 100 are listed


@pytest.mark.parametrize(
    "written",
    [
        {"status": DocumentStatus.UPLOADING, "etag": "e"},  # by a tool
        {"status": DocumentStatus.PENDING, "etag": "e"},  # by a tool, in place of an older one
    ],
)
def test_document_behind_other_events_has_no_estimate(
    pipeline: Pipeline, written: dict[str, Any]
) -> None:
    pipeline.documents.save(
        pipeline.document(KEY).model_copy(update={**written, "fingerprint": ""})
    )
    at_once = estimated(pipeline)

    pipeline.clock.pass_by(11)
    later = estimated(pipeline)

    assert at_once.eta_seconds == BEGINS + CALL
    assert later.eta_seconds is None
    (document,) = later.documents
    assert document.stage is DocumentStage.WAITING
    assert document.remaining(speed=1) == "11s so far"


def test_position_beyond_the_examined_part_is_a_lower_bound(pipeline: Pipeline) -> None:
    pipeline.catalogs.place(CATALOG, OWN)
    for number in range(1000):
        queue_up(pipeline, f"cat-{number}", Mode.JOB)
    queue_up(pipeline, CATALOG, Mode.JOB)

    seen = estimated(pipeline)

    assert seen.queue_position == QueuePosition(position=None, length=1000)
    assert seen.eta_seconds == BEGINS + 1000 * JOB + JOB


def test_removed_and_ingested_documents_tell_their_stages(pipeline: Pipeline) -> None:
    pipeline.index()
    pipeline.drop("alice/research/b.txt")
    pipeline.work()
    pipeline.delete()

    by_name = {each.document.filename: each.stage for each in estimated(pipeline).documents}

    assert by_name == {"report.pdf": DocumentStage.REMOVING, "b.txt": DocumentStage.INGESTING}


def test_no_estimate_if_more_documents_wait_than_are_examined(large: Pipeline) -> None:
    waiting = [made(large, 1000 + each, DocumentStatus.PENDING) for each in range(LISTED + 1)]
    large.documents.save_all(waiting[:LISTED])
    known = progress_of(large)
    large.documents.save(waiting[LISTED])

    unknown = progress_of(large)

    assert known.eta_seconds is not None
    assert unknown.eta_seconds is None
    assert unknown.pending == LISTED + 1
