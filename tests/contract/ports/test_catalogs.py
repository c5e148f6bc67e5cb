"""What every `CatalogRegister` promises."""

from datetime import timedelta

import pytest

from stackroom.aws.catalogs import MAX_CATALOGS, DynamoCatalogRegister
from stackroom.errors import CatalogLimitReached
from stackroom.model import CatalogStatus
from stackroom.ports import CatalogRegister
from tests.aws.stores import CATALOG_TABLE, CONTROL_TABLE
from tests.fakes.pipeline import FakeCatalogs
from tests.records import NOW, a_catalog

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
    catalogs: CatalogRegister, knowledge_base_id: str = "KB1", data_source_id: str = "DS1"
) -> None:
    catalogs.place(
        "cat-alice-1", knowledge_base_id=knowledge_base_id, data_source_id=data_source_id
    )


def test_an_opened_catalog_reads_back_whole_and_no_other(catalogs: CatalogRegister) -> None:
    opened = catalogs.open(a_catalog())

    assert opened == a_catalog()
    assert catalogs.get("cat-alice-1") == opened
    assert catalogs.get("cat-alice-2") is None


def test_opening_it_again_answers_the_one_that_is_there(catalogs: CatalogRegister) -> None:
    first = catalogs.open(a_catalog(at=NOW))
    place(catalogs)

    second = catalogs.open(a_catalog(at=LATER))

    assert second.created_at == first.created_at
    assert second == catalogs.get("cat-alice-1")
    assert second.data_source_id == "DS1"


def test_a_user_has_a_hundred_catalogs_and_no_more(catalogs: CatalogRegister) -> None:
    for number in range(MAX_CATALOGS):
        catalogs.open(a_catalog(number))

    with pytest.raises(CatalogLimitReached, match=r"Maximum catalog limit \(100\) reached"):
        catalogs.open(a_catalog(100))
    known = catalogs.open(a_catalog(99, at=LATER))
    others = catalogs.open(a_catalog(user_id="bob"))

    assert catalogs.get("cat-alice-100") is None
    assert known.created_at == NOW
    assert catalogs.get(others.catalog_id) == others


def test_opening_one_catalog_twice_counts_once(catalogs: CatalogRegister) -> None:
    for _ in range(2):
        for number in range(MAX_CATALOGS - 1):
            catalogs.open(a_catalog(number))

    last = catalogs.open(a_catalog(MAX_CATALOGS - 1))

    assert catalogs.get(last.catalog_id) == last


def test_a_user_sees_the_own_catalogs(catalogs: CatalogRegister) -> None:
    own = [catalogs.open(a_catalog(number)) for number in range(3)]
    catalogs.open(a_catalog(user_id="bob"))

    listed = list(catalogs.of_user("alice"))

    assert sorted(listed, key=lambda each: each.catalog_id) == own
    assert list(catalogs.of_user("carol")) == []


def test_a_place_is_stored_and_storing_it_again_is_safe(catalogs: CatalogRegister) -> None:
    catalogs.open(a_catalog())

    place(catalogs)
    place(catalogs)

    placed = {"knowledge_base_id": "KB1", "data_source_id": "DS1"}
    assert catalogs.get("cat-alice-1") == a_catalog().model_copy(update=placed)


def test_a_place_once_stored_is_never_changed(catalogs: CatalogRegister) -> None:
    catalogs.open(a_catalog())
    place(catalogs)

    with pytest.raises(AssertionError):
        place(catalogs, "KB2", "DS2")

    found = catalogs.get("cat-alice-1")
    assert found is not None
    assert (found.knowledge_base_id, found.data_source_id) == ("KB1", "DS1")


def test_a_summary_changes_counts_and_status_and_leaves_the_place(
    catalogs: CatalogRegister,
) -> None:
    catalogs.open(a_catalog())
    place(catalogs)

    catalogs.summarise("cat-alice-1", status=CatalogStatus.INDEXING, count=3, size=99, at=LATER)

    assert catalogs.get("cat-alice-1") == a_catalog().model_copy(
        update={
            "status": CatalogStatus.INDEXING,
            "document_count": 3,
            "total_bytes": 99,
            "updated_at": LATER,
            "knowledge_base_id": "KB1",
            "data_source_id": "DS1",
        }
    )
