from dataclasses import replace

import pytest

from stackroom.errors import KnowledgeBaseThrottled, RecordChanged
from stackroom.model import DataSource, DataSourceType, PoolMember
from stackroom.runs.placement import Placement, Placements
from stackroom.runs.placing import SharedFirst, data_source_name
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of


def a_pool(size: int) -> Pipeline:
    """The first of them has the data source that catalogs share."""
    return Pipeline(
        pool=tuple(
            PoolMember(knowledge_base_id=f"KB{each}", data_source_id=f"SHARED{each}")
            for each in range(1, size + 1)
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


def test_catalogs_without_slots_share_one_data_source_and_stay_when_the_pool_grows() -> None:
    pipeline = a_pool(2)
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

    assert set(before[8:]) == {"KB1"}
    assert homes(pipeline)[:-1] == before
    assert given.knowledge_base_id == "KB3"


def test_catalogs_go_to_the_emptiest_knowledge_base_and_last_to_the_shared_ones() -> None:
    pipeline = a_pool(3)

    for number in range(4):
        place(pipeline, f"alice/shelf {number}/a.txt")

    assert homes(pipeline) == ["KB2", "KB3", "KB2", "KB3"]


def test_a_managed_knowledge_base_has_sources_of_their_own_for_199_catalogs() -> None:
    pipeline = Pipeline(pool=(MANAGED,))
    pipeline.bedrock.source_limit = 199  # the 200th is the shared one

    for number in range(201):
        place(pipeline, f"user-{number}/shelf/a.txt")

    types = [each.data_source_type for each in pipeline.catalogs.kept.values()]
    assert types == [DataSourceType.S3] * 199 + [DataSourceType.CUSTOM] * 2


def test_in_a_mixed_pool_the_emptiest_has_the_least_share_of_its_slots_taken() -> None:
    pipeline = Pipeline(pool=(*a_pool(2).pool, MANAGED))
    pipeline.bedrock.source_limit = 199
    for number in range(52):
        place(pipeline, f"user-{number}/shelf/a.txt")

    # One of the one's 4 slots is a larger share than 49 of the other's 199, and less than 50.
    assert homes(pipeline) == ["KB2", *["KB9"] * 50, "KB2"]


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


def shared_first(pipeline: Pipeline, *, busy: frozenset[str] = frozenset()) -> Placements:
    """`busy` are the knowledge bases where direct calls would wait for long."""
    placing = SharedFirst(
        catalogs=pipeline.catalogs,
        slots=pipeline.slots,
        pool=pipeline.pool,
        is_sooner=lambda each: each in busy,
    )
    return replace(pipeline.placements, placing=placing)


def chosen(pipeline: Pipeline, placements: Placements, key: str = KEY) -> DataSource | None:
    pipeline.drop(key)
    return placements.placing.choose(pipeline.catalogs.kept[place_of(key).catalog_id])


def test_a_new_catalog_is_placed_on_the_shared_data_source_and_bedrock_is_not_asked(
    pipeline: Pipeline,
) -> None:
    placements = shared_first(pipeline)
    pipeline.slots.survey("KB1", [])
    asked: list[object] = []
    for operation in ("find", "create", "all", "is_available"):
        pipeline.bedrock.before(operation, lambda *given: asked.append(given))

    first = chosen(pipeline, placements)
    again = placements.placing.choose(pipeline.catalogs.kept[CATALOG])

    assert first == again == pipeline.catalogs.kept[CATALOG].source
    assert first is not None
    assert first.is_shared
    assert asked == []


def test_what_chooses_and_what_ensures_come_to_the_same_shared_data_source() -> None:
    pipeline = a_pool(2)
    placements = shared_first(pipeline)
    keys = [f"alice/shelf {number}/a.txt" for number in range(10)]
    for key in keys:
        pipeline.drop(key)
    catalogs = list(pipeline.catalogs.kept.values())

    ensured = [placements.ensure(each) for each in catalogs]
    bare = [each.model_copy(update={"data_source_id": None}) for each in catalogs]
    chosen_later = [placements.placing.choose(each) for each in bare]

    assert [source for _, source in ensured] == chosen_later
    assert {source.data_source_id for _, source in ensured} == {"SHARED1"}


def test_before_the_data_sources_were_looked_through_a_run_has_to_find_out(
    pipeline: Pipeline,
) -> None:
    placements = shared_first(pipeline)

    before = chosen(pipeline, placements)
    _, found = placements.ensure(pipeline.catalogs.kept[CATALOG])
    after = chosen(pipeline, placements, "alice/another/a.txt")

    assert before is None
    assert found.is_shared
    assert after == found
    assert pipeline.bedrock.sources == {}


def test_a_survey_is_made_once_and_lets_catalogs_be_placed_at_once(pipeline: Pipeline) -> None:
    placements = shared_first(pipeline)
    pipeline.bedrock.create("KB1", "ds-of somebody", prefix="", token="t")

    placements.survey()
    noted = pipeline.slots.noted("KB1")
    pipeline.bedrock.create("KB1", "ds-of another", prefix="", token="u")
    placements.survey()

    assert noted == pipeline.slots.noted("KB1") == frozenset({"!lost-ds-of somebody"})
    assert chosen(pipeline, placements) is not None


def test_a_catalog_whose_data_source_is_there_yet_comes_back_to_it_though_new_ones_share(
    pipeline: Pipeline,
) -> None:
    placements = shared_first(pipeline)
    made = pipeline.bedrock.create("KB1", data_source_name(CATALOG), prefix="", token="t")
    other = chosen(pipeline, placements, "alice/another/a.txt")
    _, of_other = placements.ensure(
        pipeline.catalogs.kept[place_of("alice/another/a.txt").catalog_id]
    )

    unplaced = chosen(pipeline, placements)
    _, adopted = placements.ensure(pipeline.catalogs.kept[CATALOG])

    assert (other, of_other.is_shared) == (None, True)
    assert unplaced is None
    assert adopted.data_source_id == made
    assert pipeline.slots.noted("KB1") == frozenset({CATALOG})


def test_a_catalog_that_holds_a_slot_is_not_placed_elsewhere(pipeline: Pipeline) -> None:
    pipeline.slots.survey("KB1", [])
    pipeline.slots.take("KB1", CATALOG, limit=4)

    assert chosen(pipeline, shared_first(pipeline)) is None
    assert pipeline.catalogs.kept[CATALOG].source is None


def test_where_direct_calls_are_busy_a_catalog_gets_its_own_while_there_is_room(
    pipeline: Pipeline,
) -> None:
    placements = shared_first(pipeline, busy=frozenset({"KB1"}))
    pipeline.slots.survey("KB1", [])
    kinds = []
    for number in range(6):
        key = f"alice/shelf {number}/a.txt"
        if chosen(pipeline, placements, key) is None:
            placements.ensure(pipeline.catalogs.kept[place_of(key).catalog_id])
        kinds.append(pipeline.catalogs.kept[place_of(key).catalog_id].data_source_type)

    assert kinds == [DataSourceType.S3] * 4 + [DataSourceType.CUSTOM] * 2


def test_a_managed_knowledge_base_is_for_catalogs_of_their_own_first() -> None:
    pipeline = Pipeline(pool=(MANAGED,))
    placements = shared_first(pipeline)

    assert chosen(pipeline, placements) is None
    _, source = placements.ensure(pipeline.catalogs.kept[CATALOG])
    assert not source.is_shared


def test_who_places_a_catalog_elsewhere_meanwhile_is_not_overruled(pipeline: Pipeline) -> None:
    pipeline.slots.survey("KB1", [])
    pipeline.drop()
    read_before = pipeline.catalogs.kept[CATALOG]
    own = DataSource(knowledge_base_id="KB1", data_source_id="DS9")
    pipeline.catalogs.place(CATALOG, own)

    with pytest.raises(RecordChanged):
        shared_first(pipeline).placing.choose(read_before)

    assert pipeline.catalogs.kept[CATALOG].source == own


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
    pipeline = a_pool(2)
    pipeline.slots.take("KB2", CATALOG, limit=4)

    place(pipeline)

    assert homes(pipeline) == ["KB2"]


def test_strangers_data_sources_count_as_taken_and_the_next_knowledge_base_is_used() -> None:
    pipeline = a_pool(2)
    for number in range(5):
        pipeline.bedrock.create("KB2", f"stranger-{number}", prefix="", token="t")

    placed = place(pipeline)

    assert placed is Placement.PLACED
    assert homes(pipeline) == ["KB1"]
    assert pipeline.slots.taken("KB2") == 1


def test_a_data_source_that_is_still_being_created_is_waited_for(pipeline: Pipeline) -> None:
    pipeline.bedrock.available = False

    assert place(pipeline) is Placement.WAITING


def test_data_source_names_fit_bedrocks_pattern_whatever_the_catalog() -> None:
    name = data_source_name(place_of("alice/Ünï cödé/a.txt").catalog_id)

    assert name.isascii()
    assert name.replace("-", "").isalnum()
    assert len(name) <= 100
