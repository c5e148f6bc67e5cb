"""A catalog gets a data source of its own if there is room, or a shared one."""

import re

import pytest

from stackroom.errors import RecordChanged
from stackroom.model.records import DataSource, DataSourceType
from stackroom.runs.placement import catalog_named_in, data_source_name, is_named_after
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of


def place(pipeline: Pipeline, key: str = KEY) -> DataSource:
    pipeline.drop(key)
    source, _ = pipeline.placements.ensure(pipeline.catalogs.kept[place_of(key).catalog_id])
    return source


def place_many(pipeline: Pipeline, count: int) -> list[DataSource]:
    return [place(pipeline, f"user-{number}/shelf/a.txt") for number in range(count)]


def make(pipeline: Pipeline, name: str, knowledge_base_id: str = "KB1") -> DataSource:
    return pipeline.bedrock.create(
        knowledge_base_id, name, source_type=DataSourceType.CUSTOM, prefix="", token="t"
    )


# On data sources of their own


def test_each_catalog_has_a_data_source_named_after_it_and_keeps_it(pipeline: Pipeline) -> None:
    keys = ["alice/Budget 2026/a.txt", "alice/Verträge/b.txt", "bob/研究/c.txt"]
    ids = [place_of(key).catalog_id for key in keys]

    placed = [place(pipeline, key) for key in keys]
    again = [place(pipeline, key) for key in keys]

    assert [name for _, name in pipeline.bedrock.sources] == [
        f"Budget-2026-{ids[0]}",
        f"Vertrage-{ids[1]}",
        ids[2],
    ]
    assert placed == again
    assert {(each.type, each.is_shared) for each in placed} == {(DataSourceType.CUSTOM, False)}


# After a crash, or with the tables lost


def test_a_data_source_whose_id_a_crash_lost_is_adopted_by_name(filled: Pipeline) -> None:
    filled.catalogs.fails("place", ConnectionError(), times=1)
    with pytest.raises(ConnectionError):
        filled.placements.ensure(filled.catalogs.kept[CATALOG])

    source = place(filled)

    assert list(filled.bedrock.sources.values()) == [source.data_source_id]
    assert filled.slots.holders("KB1") == {CATALOG}


def test_existing_data_sources_are_adopted_after_tables_are_lost(pipeline: Pipeline) -> None:
    keys = [f"alice/shelf {number}/a.txt" for number in range(7)]
    made = {}
    for key in keys[:4]:
        pipeline.drop(key)
        catalog = pipeline.catalogs.kept[place_of(key).catalog_id]
        made[key] = make(pipeline, data_source_name(catalog))
    make(pipeline, "the shared one")  # the fifth, as in each knowledge base

    placed = {key: place(pipeline, key) for key in reversed(keys)}

    assert {key: placed[key] for key in keys[:4]} == made
    assert all(placed[key].is_shared for key in keys[4:])
    assert len(pipeline.slots.holders("KB1")) == 4


# Where there is no room


def test_catalogs_share_a_data_source_without_asking_bedrock_when_full(pipeline: Pipeline) -> None:
    place_many(pipeline, 4)
    asked: list[object] = []
    for operation in ("find", "create", "all", "is_available"):
        pipeline.bedrock.before(operation, lambda *given: asked.append(given))

    pipeline.drop()

    assert pipeline.source_of().is_shared
    assert CATALOG not in pipeline.leases.kept
    assert asked == []


def test_catalog_placed_elsewhere_meanwhile_is_not_moved() -> None:
    pipeline = Pipeline(shared=True)
    pipeline.bucket.upload(KEY)
    pipeline.uploads.reconcile(KEY, correlation_id="event-1")
    read_before = pipeline.catalogs.kept[CATALOG]
    own = DataSource(knowledge_base_id="KB1", data_source_id="DS9")
    pipeline.catalogs.place(CATALOG, own)

    with pytest.raises(RecordChanged):
        pipeline.placements.shared.join_if_full(read_before)

    assert pipeline.catalogs.kept[CATALOG].source == own


@pytest.mark.parametrize("becomes", ["closed", "shared"])
def test_data_source_no_longer_wanted_once_created_is_removed(
    filled: Pipeline, becomes: str
) -> None:
    catalog = filled.catalogs.kept[CATALOG]

    def meanwhile(*_: object, **__: object) -> None:
        if becomes == "shared":
            filled.catalogs.place(CATALOG, filled.pool[0].shared_source)
        else:
            del filled.catalogs.kept[CATALOG]

    filled.bedrock.after("create", meanwhile, times=1)
    with pytest.raises(RecordChanged):
        filled.placements.ensure(catalog)
    filled.clock.pass_by(filled.bedrock.deletion_seconds)

    assert filled.bedrock.all("KB1") == {}
    assert filled.slots.holders("KB1") == frozenset()


def test_a_data_source_stays_for_a_catalog_that_was_opened_again(filled: Pipeline) -> None:
    catalog = filled.catalogs.kept[CATALOG]
    filled.catalogs.fails("place", RecordChanged(CATALOG), times=1)

    with pytest.raises(RecordChanged):
        filled.placements.ensure(catalog)

    assert filled.placements.ensure(catalog)[0].data_source_id == "DS1"


# Names


@pytest.mark.parametrize("folder", ["Ünï cödé", "a" * 80, "x - y", "研究", "Q3 draft"])
def test_data_source_names_fit_bedrocks_pattern(pipeline: Pipeline, folder: str) -> None:
    key = f"alice/{folder}/a.txt"
    place(pipeline, key)

    [(_, name)] = pipeline.bedrock.sources

    assert re.fullmatch(r"([0-9a-zA-Z][_-]?){1,100}", name)  # [API model bedrock-agent: Name]
    assert is_named_after(name, place_of(key).catalog_id)
    assert catalog_named_in(name) == place_of(key).catalog_id
