import pytest

from stackroom.admission.limits import Limits
from stackroom.ingestion.estimates import CatalogEstimate, DocumentStage, Estimates, QueuePosition
from stackroom.model import CatalogStatus, DataSource, DataSourceType, DocumentStatus
from stackroom.ports.admission import Mode, Waiter
from tests.unit.pipeline import CATALOG, KEY, Pipeline

SHARED = DataSource(knowledge_base_id="KB1", data_source_id="SHARED1", type=DataSourceType.CUSTOM)
OWN = DataSource(knowledge_base_id="KB1", data_source_id="DS1")


@pytest.fixture
def estimate(pipeline: Pipeline) -> Estimates:
    return Estimates(
        documents=pipeline.documents,
        leases=pipeline.leases,
        book=pipeline.book,
        limits=Limits(),
        now=pipeline.clock,
    )


def of(estimate: Estimates, pipeline: Pipeline) -> CatalogEstimate:
    return estimate.of(pipeline.catalogs.kept[CATALOG])


def queue_up(pipeline: Pipeline, catalog_id: str, mode: Mode, *, calls: int = 1) -> None:
    pipeline.clock.pass_by(1)
    waiter = Waiter(
        catalog_id=catalog_id,
        epoch=1,
        knowledge_base_id="KB1",
        mode=mode,
        since=pipeline.clock(),
        calls=calls,
        token=f"token of {catalog_id}",
    )
    pipeline.book.enqueue(waiter)


def test_a_document_of_a_catalog_that_is_not_placed_is_about_to_begin(
    pipeline: Pipeline, estimate: Estimates
) -> None:
    pipeline.drop()

    seen = of(estimate, pipeline)

    (document,) = seen.documents
    assert (document.stage, document.attempt) == (DocumentStage.BEGINNING, 1)
    assert seen.queue_position is None
    assert seen.eta_seconds == document.eta_seconds == 21  # 20 s and 0.3 s


def test_a_catalog_waits_behind_those_that_came_before_it(
    pipeline: Pipeline, estimate: Estimates
) -> None:
    pipeline.drop()
    pipeline.catalogs.place(CATALOG, OWN)
    for catalog_id in ("cat-1", "cat-2", CATALOG, "cat-3"):
        queue_up(pipeline, catalog_id, Mode.EXCLUSIVE)

    seen = of(estimate, pipeline)

    assert seen.queue_position == QueuePosition(position=3, length=4)
    assert seen.documents[0].stage is DocumentStage.WAITING
    assert seen.eta_seconds == 61  # two jobs ahead of its own


def test_direct_calls_are_shared_with_those_ahead(pipeline: Pipeline, estimate: Estimates) -> None:
    for number in range(25):
        pipeline.drop(f"alice/research/{number}.txt")
    pipeline.catalogs.place(CATALOG, SHARED)
    queue_up(pipeline, "cat-1", Mode.SHARED, calls=30)
    queue_up(pipeline, CATALOG, Mode.SHARED, calls=3)

    seen = of(estimate, pipeline)

    assert seen.queue_position == QueuePosition(position=2, length=2)
    assert seen.eta_seconds == 3 * 6 + 6  # 30 calls ahead, then 3 of its own, 10 at a time


def test_a_position_far_behind_is_told_as_behind_what_was_looked_at(
    pipeline: Pipeline, estimate: Estimates
) -> None:
    pipeline.drop()
    pipeline.catalogs.place(CATALOG, SHARED)
    for number in range(1000):
        queue_up(pipeline, f"cat-{number}", Mode.SHARED)
    queue_up(pipeline, CATALOG, Mode.SHARED)

    seen = of(estimate, pipeline)

    assert seen.queue_position == QueuePosition(position=None, length=1000)
    assert seen.eta_seconds == 606


def test_what_is_being_ingested_says_so_with_its_attempt_and_what_is_left(
    pipeline: Pipeline, estimate: Estimates
) -> None:
    pipeline.drop()
    pipeline.started()
    pipeline.clock.pass_by(15)

    seen = of(estimate, pipeline)

    (document,) = seen.documents
    assert (document.stage, document.attempt) == (DocumentStage.INGESTING, 1)
    assert document.eta_seconds == 6  # of 20.3 s
    assert seen.queue_position is None


def test_a_job_that_takes_longer_is_about_to_end_and_never_late(
    pipeline: Pipeline, estimate: Estimates
) -> None:
    pipeline.drop()
    pipeline.started()
    pipeline.clock.pass_by(10_000)

    assert of(estimate, pipeline).eta_seconds == 1


def test_waiting_has_no_end_but_its_grant(pipeline: Pipeline, estimate: Estimates) -> None:
    pipeline.drop()
    pipeline.catalogs.place(CATALOG, OWN)
    queue_up(pipeline, CATALOG, Mode.EXCLUSIVE)
    at_first = of(estimate, pipeline)

    pipeline.clock.pass_by(30 * 24 * 3600)

    assert of(estimate, pipeline) == at_first
    assert pipeline.document().status is DocumentStatus.PENDING


def test_documents_that_follow_a_broken_run_say_so_and_when(
    pipeline: Pipeline, estimate: Estimates
) -> None:
    pipeline.drop()
    pipeline.catalogs.place(CATALOG, OWN)
    lease = pipeline.runs.held_by(CATALOG, 1)
    assert lease is not None
    pipeline.runs.recover(lease)

    seen = of(estimate, pipeline)

    assert seen.documents[0].stage is DocumentStage.FOLLOWING
    assert 60 < seen.eta_seconds < 5 * 60  # the first follows after a minute


def test_a_document_that_is_being_removed_says_so(pipeline: Pipeline, estimate: Estimates) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.delete()

    seen = of(estimate, pipeline)

    assert seen.documents[0].stage is DocumentStage.REMOVING
    assert seen.eta_seconds > 0


def test_what_is_settled_has_nothing_to_wait_for(pipeline: Pipeline, estimate: Estimates) -> None:
    pipeline.drop()
    pipeline.index()
    pipeline.drop("alice/research/a.exe")

    seen = of(estimate, pipeline)

    assert [each.stage for each in seen.documents] == [
        DocumentStage.FAILED,
        DocumentStage.SEARCHABLE,
    ]
    assert {each.eta_seconds for each in seen.documents} == {None}
    assert (seen.eta_seconds, seen.queue_position) == (0, None)
    assert seen.catalog.status is CatalogStatus.READY


def test_a_retried_document_counts_the_attempt_to_come(
    pipeline: Pipeline, estimate: Estimates
) -> None:
    pipeline.drop()
    pipeline.documents.save(pipeline.document(KEY).model_copy(update={"attempts": 1}))

    assert of(estimate, pipeline).documents[0].attempt == 2


def test_direct_calls_wait_for_the_job_that_has_the_knowledge_base(
    pipeline: Pipeline, estimate: Estimates
) -> None:
    pipeline.drop()
    pipeline.catalogs.place(CATALOG, SHARED)
    queue_up(pipeline, "cat-1", Mode.EXCLUSIVE)
    pipeline.admission.dispatch()
    queue_up(pipeline, CATALOG, Mode.SHARED)

    seen = of(estimate, pipeline)

    assert seen.eta_seconds == 20 + 6
