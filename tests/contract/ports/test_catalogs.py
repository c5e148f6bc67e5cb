"""Every `CatalogRegister` keeps these promises."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from stackroom.aws.dynamodb.catalog_records import MAX_CATALOGS, DynamoCatalogRegister
from stackroom.errors import LimitReached, RecordChanged
from stackroom.model.attributes import MOST_RECORDED
from stackroom.model.records import Catalog, CatalogStatus, DataSource, DataSourceType
from stackroom.model.repositories import CatalogRegister
from tests.aws.stores import CATALOG_TABLE, CONTROL_TABLE
from tests.fakes.pipeline import FakeCatalogs
from tests.support.records import NOW, a_catalog

LATER = NOW + timedelta(minutes=1)


@pytest.fixture(params=["fake", "dynamodb"])
def catalogs(request: pytest.FixtureRequest) -> CatalogRegister:
    if request.param == "fake":
        return FakeCatalogs()
    return DynamoCatalogRegister(
        client=request.getfixturevalue("dynamodb"),
        table=CATALOG_TABLE,
        control_table=CONTROL_TABLE,
    )


def place(
    catalogs: CatalogRegister,
    knowledge_base_id: str = "KB1",
    data_source_id: str = "DS1",
    kind: DataSourceType = DataSourceType.S3,
) -> None:
    source = DataSource(
        knowledge_base_id=knowledge_base_id, data_source_id=data_source_id, type=kind
    )
    catalogs.place("cat-alice-1", source)


def found(catalogs: CatalogRegister) -> Catalog:
    catalog = catalogs.get("cat-alice-1")
    assert catalog is not None
    return catalog


def test_opened_catalog_reads_back_and_reopening_returns_it_unchanged(
    catalogs: CatalogRegister,
) -> None:
    first = catalogs.open(a_catalog(at=NOW))
    read = catalogs.get("cat-alice-1")
    place(catalogs)

    second = catalogs.open(a_catalog(at=LATER))

    assert first == read == a_catalog(at=NOW)
    assert catalogs.get("cat-alice-2") is None
    assert second.created_at == first.created_at
    assert second == catalogs.get("cat-alice-1")
    assert second.data_source_id == "DS1"


def test_recorded_attribute_types_are_added_to_those_that_are_there(
    catalogs: CatalogRegister,
) -> None:
    catalogs.open(a_catalog(at=NOW))

    for types in ({"year:number"}, {"year:text", "tags:list"}, {"year:number"}):
        catalogs.record_attributes("cat-alice-1", frozenset(types))
    catalogs.record_attributes("cat-alice-2", frozenset({"year:number"}))

    assert found(catalogs).attribute_types == {"year:number", "year:text", "tags:list"}
    assert catalogs.get("cat-alice-2") is None


def test_attribute_types_beyond_what_a_record_keeps_are_not_added(
    catalogs: CatalogRegister,
) -> None:
    catalogs.open(a_catalog(at=NOW))
    many = frozenset(f"name{number}:text" for number in range(MOST_RECORDED))
    catalogs.record_attributes("cat-alice-1", many)

    catalogs.record_attributes("cat-alice-1", frozenset({"year:number"}))

    assert found(catalogs).attribute_types == many


def test_description_changes_only_the_named_fields(catalogs: CatalogRegister) -> None:
    catalogs.open(a_catalog(at=NOW, description="papers"))
    place(catalogs)

    catalogs.describe("cat-alice-1", name="Name", description="", at=LATER)

    assert found(catalogs).model_dump(exclude={"knowledge_base_id", "data_source_id"}) == a_catalog(
        at=NOW, name="Name", description="", updated_at=LATER
    ).model_dump(exclude={"knowledge_base_id", "data_source_id"})
    assert found(catalogs).data_source_id == "DS1"
    catalogs.mark_deleting("cat-alice-1", at=LATER)
    with pytest.raises(RecordChanged):
        catalogs.describe("cat-alice-1", name="Other", description="", at=LATER)


@pytest.mark.slow  # so many transactions take moto seconds
def test_user_has_at_most_a_hundred_catalogs_counted_until_closed(
    catalogs: CatalogRegister,
) -> None:
    opened = [catalogs.open(a_catalog(number)) for number in range(MAX_CATALOGS - 1)]
    again = [catalogs.open(a_catalog(number, at=LATER)) for number in (0, 1, 98)]
    opened.append(catalogs.open(a_catalog(MAX_CATALOGS - 1)))

    with pytest.raises(LimitReached, match=r"Maximum catalog limit \(100\) reached"):
        catalogs.open(a_catalog(100))
    known = catalogs.open(a_catalog(99, at=LATER))
    others = catalogs.open(a_catalog(user_id="bob"))
    refused = catalogs.get("cat-alice-100")
    catalogs.mark_deleting(opened[0].catalog_id, at=NOW)
    for _ in range(2):
        catalogs.close(opened[0])
    catalogs.open(a_catalog(MAX_CATALOGS))
    with pytest.raises(LimitReached):
        catalogs.open(a_catalog(MAX_CATALOGS + 1))

    assert refused is None
    assert {each.created_at for each in (*again, known)} == {NOW}
    assert catalogs.get(others.catalog_id) == others


def test_a_user_sees_the_own_catalogs(catalogs: CatalogRegister) -> None:
    own = [catalogs.open(a_catalog(number)) for number in range(3)]
    catalogs.open(a_catalog(user_id="bob"))

    listed = list(catalogs.of_user("alice"))

    assert sorted(listed, key=lambda each: each.catalog_id) == own
    assert list(catalogs.of_user("carol")) == []


@pytest.mark.parametrize("shared", [False, True])
def test_stored_data_source_can_be_stored_again_but_not_replaced(
    catalogs: CatalogRegister, shared: bool
) -> None:
    source = DataSource(
        knowledge_base_id="KB1",
        data_source_id="DS1",
        type=DataSourceType.CUSTOM,
        is_shared=shared,
    )
    catalogs.open(a_catalog())

    catalogs.place("cat-alice-1", source)
    catalogs.place("cat-alice-1", source)
    with pytest.raises(RecordChanged):
        place(catalogs, "KB2", "DS2")

    placed = found(catalogs).source
    assert placed == source
    assert placed.is_shared is shared


def test_a_marked_catalog_is_deleting_until_it_is_unmarked(catalogs: CatalogRegister) -> None:
    catalogs.open(a_catalog())

    catalogs.mark_deleting("cat-alice-1", at=NOW)
    catalogs.mark_deleting("cat-alice-1", at=LATER)
    marked = found(catalogs)
    catalogs.unmark_deleting("cat-alice-1", at=NOW)
    unmarked = found(catalogs)
    catalogs.unmark_deleting("cat-alice-1", at=LATER)

    changes = {"status": CatalogStatus.DELETING, "updated_at": LATER, "deleting_since": NOW}
    assert marked == a_catalog().model_copy(update=changes)
    assert unmarked == a_catalog().model_copy(update={"status": CatalogStatus.READY})
    assert found(catalogs) == unmarked


def test_only_a_marked_catalog_loses_its_slot_and_may_be_given_another(
    catalogs: CatalogRegister,
) -> None:
    catalogs.open(a_catalog())
    place(catalogs, kind=DataSourceType.CUSTOM)

    with pytest.raises(RecordChanged):
        catalogs.clear_data_source("cat-alice-1")
    kept = found(catalogs).data_source_id
    catalogs.mark_deleting("cat-alice-1", at=NOW)
    catalogs.clear_data_source("cat-alice-1")
    catalogs.clear_data_source("cat-alice-1")
    cleared = found(catalogs)
    place(catalogs, "KB2", "DS2")

    marked = {"status": CatalogStatus.DELETING, "deleting_since": NOW}
    assert kept == "DS1"
    assert cleared == a_catalog().model_copy(update=marked)
    assert found(catalogs).data_source_id == "DS2"


def test_only_a_marked_catalog_is_closed_and_never_one_opened_anew(
    catalogs: CatalogRegister,
) -> None:
    old = catalogs.open(a_catalog(at=NOW))
    with pytest.raises(RecordChanged):
        catalogs.close(old)
    catalogs.mark_deleting("cat-alice-1", at=NOW)
    for _ in range(2):
        catalogs.close(old)
    gone = catalogs.get("cat-alice-1"), list(catalogs.of_user("alice"))
    new = catalogs.open(a_catalog(at=LATER))
    catalogs.mark_deleting("cat-alice-1", at=LATER)

    with pytest.raises(RecordChanged):
        catalogs.close(old)

    assert gone == (None, [])
    assert found(catalogs).created_at == new.created_at


def test_no_change_brings_back_a_catalog_that_is_gone(catalogs: CatalogRegister) -> None:
    changes: list[Callable[[], None]] = [
        lambda: place(catalogs),
        lambda: catalogs.clear_data_source("cat-alice-1"),
        lambda: catalogs.describe("cat-alice-1", name="Name", description="", at=NOW),
        lambda: catalogs.mark_deleting("cat-alice-1", at=NOW),
        lambda: catalogs.unmark_deleting("cat-alice-1", at=NOW),
    ]

    for change in changes:
        with pytest.raises(RecordChanged):
            change()

    assert catalogs.get("cat-alice-1") is None
