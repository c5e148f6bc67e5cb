import pytest

from stackroom.model import Catalog, CatalogStatus, DataSource, DataSourceType
from stackroom.runs.placement import Placement
from stackroom.runs.placing import data_source_name
from tests.fakes.disturbed import Disturbed
from tests.unit.pipeline import CATALOG, Pipeline

NAME = ("KB1", data_source_name(CATALOG))


def condemned(pipeline: Pipeline) -> Catalog:
    """A catalog with a data source of its own, empty and about to go."""
    pipeline.drop()
    pipeline.placements.ensure(pipeline.catalogs.kept[CATALOG])
    pipeline.documents.lose()
    pipeline.catalogs.mark_deleting(CATALOG, at=pipeline.clock())
    return pipeline.catalogs.kept[CATALOG]


def steps_until_gone(pipeline: Pipeline) -> int:
    for step in range(1, 20):
        if pipeline.teardown.step(pipeline.catalogs.kept[CATALOG]):
            return step
        pipeline.clock.pass_by(60)
    raise AssertionError("the catalog never goes")


def test_a_catalog_goes_with_its_data_source_and_its_slot(pipeline: Pipeline) -> None:
    condemned(pipeline)

    steps_until_gone(pipeline)

    assert CATALOG not in pipeline.catalogs.kept
    assert NAME not in pipeline.bedrock.sources
    assert pipeline.slots.taken("KB1") == 0


def test_it_is_not_gone_before_its_data_source_is(pipeline: Pipeline) -> None:
    catalog = condemned(pipeline)
    pipeline.bedrock.deletion_seconds = 100

    gone = pipeline.teardown.step(catalog)

    assert not gone
    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.DELETING
    assert pipeline.slots.holders("KB1") == {CATALOG}


def test_nobody_finds_it_placed_on_a_data_source_that_is_about_to_go(
    pipeline: Pipeline,
) -> None:
    catalog = condemned(pipeline)
    placed: list[str | None] = []

    def note(*_: str) -> None:
        placed.append(pipeline.catalogs.kept[CATALOG].data_source_id)

    pipeline.bedrock.before("remove", note)
    pipeline.teardown.step(catalog)

    assert placed == [None]


@pytest.mark.parametrize("step", ["clear_data_source", "remove", "free", "close"])
def test_it_goes_on_after_a_crash(pipeline: Pipeline, step: str) -> None:
    as_read = condemned(pipeline)
    ports: dict[str, Disturbed] = {
        "clear_data_source": pipeline.catalogs,
        "remove": pipeline.bedrock,
        "free": pipeline.slots,
        "close": pipeline.catalogs,
    }

    def crash(*_: object) -> None:
        raise ConnectionError

    ports[step].after(step, crash, times=1)
    with pytest.raises(ConnectionError):
        steps_until_gone(pipeline)
    for _ in range(3):
        pipeline.teardown.step(pipeline.catalogs.kept.get(CATALOG, as_read))

    assert CATALOG not in pipeline.catalogs.kept
    assert NAME not in pipeline.bedrock.sources
    assert pipeline.slots.taken("KB1") == 0


def test_a_catalog_on_a_shared_data_source_leaves_that_alone(pipeline: Pipeline) -> None:
    pipeline.drop()
    made = pipeline.bedrock.create("KB1", "shared", prefix="", token="t")
    shared = DataSource(knowledge_base_id="KB1", data_source_id=made, type=DataSourceType.CUSTOM)
    pipeline.catalogs.place(CATALOG, shared)
    pipeline.catalogs.mark_deleting(CATALOG, at=pipeline.clock())

    gone = pipeline.teardown.step(pipeline.catalogs.kept[CATALOG])

    assert gone
    assert CATALOG not in pipeline.catalogs.kept
    assert pipeline.bedrock.sources == {("KB1", "shared"): made}
    assert not pipeline.bedrock.deleting


def test_a_catalog_that_was_never_placed_just_goes(pipeline: Pipeline) -> None:
    pipeline.drop()
    pipeline.catalogs.mark_deleting(CATALOG, at=pipeline.clock())

    assert pipeline.teardown.step(pipeline.catalogs.kept[CATALOG])
    assert CATALOG not in pipeline.catalogs.kept


def test_a_catalog_unmarked_before_anything_began_keeps_its_slot(pipeline: Pipeline) -> None:
    as_read = condemned(pipeline)
    pipeline.catalogs.unmark_deleting(CATALOG, at=pipeline.clock())

    gone = pipeline.teardown.step(as_read)

    assert not gone
    assert pipeline.catalogs.kept[CATALOG].data_source_id == as_read.data_source_id
    assert not pipeline.bedrock.deleting


def test_a_catalog_unmarked_while_its_data_source_goes_is_placed_anew(pipeline: Pipeline) -> None:
    as_read = condemned(pipeline)
    pipeline.bedrock.deletion_seconds = 100
    pipeline.teardown.step(as_read)
    pipeline.drop()  # revives it

    gone = pipeline.teardown.step(as_read)
    pipeline.clock.pass_by(200)
    placement, source = pipeline.placements.ensure(pipeline.catalogs.kept[CATALOG])

    assert not gone
    assert placement is Placement.PLACED
    assert source.data_source_id != as_read.data_source_id
    assert pipeline.slots.holders("KB1") == {CATALOG}


def test_a_catalog_unmarked_at_the_last_moment_is_not_closed(
    pipeline: Pipeline,
) -> None:
    as_read = condemned(pipeline)

    pipeline.slots.after("free", lambda *_: pipeline.drop())
    pipeline.teardown.step(as_read)
    pipeline.clock.pass_by(60)
    gone = pipeline.teardown.step(pipeline.catalogs.kept[CATALOG])

    assert not gone
    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.INDEXING
