from dataclasses import replace

import pytest

from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model import DataSourceType, PoolMember
from stackroom.runs.placement import Placement, data_source_name
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of


def two_knowledge_bases() -> Pipeline:
    return Pipeline(
        pool=tuple(
            PoolMember(knowledge_base_id=f"KB{each}", data_source_id=f"SHARED{each}")
            for each in (1, 2)
        )
    )


MANAGED = PoolMember(knowledge_base_id="KB9", data_source_id="SHARED9", type="MANAGED")


def place(pipeline: Pipeline, key: str = KEY) -> Placement:
    pipeline.drop(key)
    placement, _ = pipeline.placements.ensure(pipeline.catalogs.kept[place_of(key).catalog_id])
    return placement


def homes(pipeline: Pipeline) -> list[str | None]:
    return [each.knowledge_base_id for each in pipeline.catalogs.kept.values()]


def test_a_catalog_gets_one_data_source_of_its_own_and_keeps_it(pipeline: Pipeline) -> None:
    first = place(pipeline)
    second, _ = pipeline.placements.ensure(pipeline.catalogs.kept[CATALOG])

    assert (first, second) == (Placement.PLACED, Placement.PLACED)
    assert list(pipeline.bedrock.sources) == [("KB1", data_source_name(CATALOG))]
    assert pipeline.catalogs.kept[CATALOG].data_source_id == "DS1"


def test_four_catalogs_have_sources_of_their_own_and_all_others_share_one(
    pipeline: Pipeline,
) -> None:
    placed = [place(pipeline, f"alice/shelf {number}/a.txt") for number in range(50)]

    assert placed == [Placement.PLACED] * 50
    assert len(pipeline.bedrock.sources) == 4
    types = [each.data_source_type for each in pipeline.catalogs.kept.values()]
    assert types == [DataSourceType.S3] * 4 + [DataSourceType.CUSTOM] * 46


def test_catalogs_without_slots_spread_over_the_pool_and_stay_when_it_grows() -> None:
    pipeline = two_knowledge_bases()
    for number in range(40):
        place(pipeline, f"alice/shelf {number}/a.txt")
    before = homes(pipeline)

    pool = (*pipeline.pool, PoolMember(knowledge_base_id="KB3", data_source_id="SHARED3"))
    placements = replace(pipeline.placements, pool=pool)
    for catalog in list(pipeline.catalogs.kept.values()):
        placements.ensure(catalog)
    pipeline.drop("alice/a new one/a.txt")
    newest = pipeline.catalogs.kept[place_of("alice/a new one/a.txt").catalog_id]
    _, given = placements.ensure(newest)

    assert set(before[8:]) == {"KB1", "KB2"}
    assert homes(pipeline)[:-1] == before
    assert given.knowledge_base_id == "KB3"


def test_catalogs_go_to_the_emptiest_knowledge_base() -> None:
    pipeline = two_knowledge_bases()

    for number in range(4):
        place(pipeline, f"alice/shelf {number}/a.txt")

    assert homes(pipeline) == ["KB1", "KB2", "KB1", "KB2"]


def test_a_managed_knowledge_base_has_sources_of_their_own_for_199_catalogs() -> None:
    pipeline = Pipeline(pool=(MANAGED,))
    pipeline.bedrock.source_limit = 199  # the 200th is the shared one

    for number in range(201):
        place(pipeline, f"user-{number}/shelf/a.txt")

    types = [each.data_source_type for each in pipeline.catalogs.kept.values()]
    assert types == [DataSourceType.S3] * 199 + [DataSourceType.CUSTOM] * 2


def test_in_a_mixed_pool_the_emptiest_has_the_least_share_of_its_slots_taken() -> None:
    vector = PoolMember(knowledge_base_id="KB1", data_source_id="SHARED1")
    pipeline = Pipeline(pool=(vector, MANAGED))
    pipeline.bedrock.source_limit = 199
    for number in range(52):
        place(pipeline, f"user-{number}/shelf/a.txt")

    # One of the one's 4 slots is a larger share than 49 of the other's 199, and less than 50.
    assert homes(pipeline) == ["KB1", *["KB9"] * 50, "KB1"]


def test_a_data_source_whose_id_a_crash_lost_is_adopted_by_name(pipeline: Pipeline) -> None:
    pipeline.slots.take("KB1", CATALOG, limit=4)
    pipeline.bedrock.create("KB1", data_source_name(CATALOG), prefix="alice/research/", token="t")

    placed = place(pipeline)

    assert placed is Placement.PLACED
    assert pipeline.catalogs.kept[CATALOG].data_source_id == "DS1"
    assert len(pipeline.bedrock.sources) == 1


def test_whatever_comes_back_first_after_the_tables_were_lost_all_data_sources_are_adopted(
    pipeline: Pipeline,
) -> None:
    keys = [f"alice/shelf {number}/a.txt" for number in range(7)]
    for key in keys[:4]:
        catalog_id = place_of(key).catalog_id
        pipeline.bedrock.create("KB1", data_source_name(catalog_id), prefix="", token="t")
    made = dict(pipeline.bedrock.sources)
    pipeline.bedrock.source_limit = 4

    for key in reversed(keys):
        place(pipeline, key)

    assert pipeline.bedrock.sources == made
    for key in keys[:4]:
        catalog_id = place_of(key).catalog_id
        source = pipeline.catalogs.kept[catalog_id].data_source_id
        assert source == made["KB1", data_source_name(catalog_id)]
    assert (pipeline.slots.taken("KB1"), pipeline.slots.lost("KB1")) == (4, frozenset())


def test_a_data_source_that_is_being_deleted_is_waited_for_and_costs_no_slot(
    pipeline: Pipeline,
) -> None:
    pipeline.drop()
    name = data_source_name(CATALOG)  # of the catalog before it was deleted, and that came back
    made = pipeline.bedrock.create("KB1", name, prefix="alice/research/", token="t")
    pipeline.bedrock.deletion_seconds = 100
    pipeline.bedrock.remove("KB1", made)
    removed: list[tuple[str, ...]] = []
    pipeline.bedrock.before("remove", lambda *ids: removed.append(ids))

    with pytest.raises(KnowledgeBaseThrottled):
        pipeline.placements.ensure(pipeline.catalogs.kept[CATALOG])

    assert removed == [("KB1", made)]  # should its deletion have failed
    assert pipeline.slots.taken("KB1") == 1
    assert pipeline.catalogs.kept[CATALOG].data_source_id is None


def test_a_slot_held_before_a_crash_is_used_though_another_knowledge_base_is_emptier() -> None:
    pipeline = two_knowledge_bases()
    pipeline.slots.take("KB2", CATALOG, limit=4)

    place(pipeline)

    assert homes(pipeline) == ["KB2"]


def test_strangers_data_sources_count_as_taken_and_the_next_knowledge_base_is_used() -> None:
    pipeline = two_knowledge_bases()
    for number in range(5):
        pipeline.bedrock.create("KB1", f"stranger-{number}", prefix="", token="t")

    placed = place(pipeline)

    assert placed is Placement.PLACED
    assert homes(pipeline) == ["KB2"]
    assert pipeline.slots.taken("KB1") == 1


def test_a_data_source_that_is_still_being_created_is_waited_for(pipeline: Pipeline) -> None:
    pipeline.bedrock.available = False

    assert place(pipeline) is Placement.WAITING


def test_data_source_names_fit_bedrocks_pattern_whatever_the_catalog() -> None:
    name = data_source_name(place_of("alice/Ünï cödé/a.txt").catalog_id)

    assert name.isascii()
    assert name.replace("-", "").isalnum()
    assert len(name) <= 100
