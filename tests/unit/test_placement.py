from stackroom.model import PoolMember
from stackroom.placement import Placement, data_source_name
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of


def two_knowledge_bases() -> Pipeline:
    return Pipeline(pool=tuple(PoolMember(knowledge_base_id=each) for each in ("KB1", "KB2")))


def place(pipeline: Pipeline, key: str = KEY) -> Placement:
    pipeline.drop(key)
    return pipeline.placements.ensure(pipeline.catalogs.kept[place_of(key).catalog_id])


def homes(pipeline: Pipeline) -> list[str | None]:
    return [each.knowledge_base_id for each in pipeline.catalogs.kept.values()]


def test_a_catalog_gets_one_data_source_of_its_own_and_keeps_it(pipeline: Pipeline) -> None:
    first = place(pipeline)
    second = pipeline.placements.ensure(pipeline.catalogs.kept[CATALOG])

    assert (first, second) == (Placement.PLACED, Placement.PLACED)
    assert list(pipeline.bedrock.sources) == [("KB1", data_source_name(CATALOG))]
    assert pipeline.catalogs.kept[CATALOG].data_source_id == "DS1"


def test_four_catalogs_a_knowledge_base_and_the_fifth_slot_stays_free(pipeline: Pipeline) -> None:
    placed = [place(pipeline, f"alice/shelf {number}/a.txt") for number in range(5)]

    assert placed == [Placement.PLACED] * 4 + [Placement.NO_SLOT]
    assert len(pipeline.bedrock.sources) == 4


def test_catalogs_go_to_the_emptiest_knowledge_base() -> None:
    pipeline = two_knowledge_bases()

    for number in range(4):
        place(pipeline, f"alice/shelf {number}/a.txt")

    assert homes(pipeline) == ["KB1", "KB2", "KB1", "KB2"]


def test_a_data_source_whose_id_a_crash_lost_is_adopted_by_name(pipeline: Pipeline) -> None:
    pipeline.slots.take("KB1", CATALOG, limit=4)
    pipeline.bedrock.create("KB1", data_source_name(CATALOG), prefix="alice/research/", token="t")

    placed = place(pipeline)

    assert placed is Placement.PLACED
    assert pipeline.catalogs.kept[CATALOG].data_source_id == "DS1"
    assert len(pipeline.bedrock.sources) == 1


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
