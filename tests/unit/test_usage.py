"""What is counted of ingestion: what Bedrock has accepted, and whose."""

import pytest

from stackroom.quota.usage import Used
from tests.unit.pipeline import KEY, Pipeline, place_of

BOB = "bob/own/b.txt"


@pytest.fixture(params=["own", "shared", "by jobs"])
def pipeline(request: pytest.FixtureRequest) -> Pipeline:
    return Pipeline(shared=request.param == "shared", by_jobs=request.param == "by jobs")


def used(pipeline: Pipeline) -> dict[str, Used]:
    return {catalog_id: each for (_, _, catalog_id), each in pipeline.usage.kept.items()}


def test_each_ingestion_is_counted_for_its_user_and_catalog(pipeline: Pipeline) -> None:
    pipeline.drop(KEY.replace("pdf", "txt"), "x" * 400)
    pipeline.index(KEY.replace("pdf", "txt"))
    pipeline.drop(KEY.replace("pdf", "txt"), "y" * 400)
    pipeline.index(KEY.replace("pdf", "txt"))
    pipeline.drop(BOB, "z" * 40)
    pipeline.index(BOB)

    assert {(user, catalog) for _, user, catalog in pipeline.usage.kept} == {
        ("alice", place_of(KEY).catalog_id),
        ("bob", place_of(BOB).catalog_id),
    }
    assert used(pipeline) == {
        place_of(KEY).catalog_id: Used(documents=2, bytes=800, embedded_tokens=200),
        place_of(BOB).catalog_id: Used(documents=1, bytes=40, embedded_tokens=10),
    }


def test_a_removal_is_not_counted(pipeline: Pipeline) -> None:
    pipeline.drop(BOB)
    pipeline.index(BOB)
    before = used(pipeline)
    pipeline.delete(BOB)

    pipeline.work(pipeline.worklist_of(BOB))

    assert used(pipeline) == before


def test_dollars_are_tokens_by_the_price_list() -> None:
    assert Used(embedded_tokens=50_000_000).dollars == pytest.approx(1.0)
