"""What every `Worklists` promises: who was asked for stays until that is seen to."""

import pytest

from stackroom.aws.worklists import DynamoWorklists
from stackroom.ports.worklists import Entry, Worklists
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.worklists import FakeWorklists

SHARED = "shared-KB1"
OTHER = "shared-KB2"


@pytest.fixture(params=["fake", "dynamodb"])
def worklists(request: pytest.FixtureRequest) -> Worklists:
    if request.param == "fake":
        return FakeWorklists()
    client = request.getfixturevalue("dynamodb")
    return DynamoWorklists(client=client, table=CONTROL_TABLE)


def add(worklists: Worklists, *catalog_ids: str) -> None:
    for catalog_id in catalog_ids:
        worklists.add(SHARED, catalog_id)


def listed(worklists: Worklists, *, after: str | None = None, limit: int = 100) -> list[str]:
    return [each.catalog_id for each in worklists.entries(SHARED, after=after, limit=limit)]


def only(worklists: Worklists) -> Entry:
    [entry] = worklists.entries(SHARED, limit=100)
    return entry


def test_catalogs_are_listed_by_their_ids_each_once_in_pages_of_their_own_worklist(
    worklists: Worklists,
) -> None:
    before = listed(worklists)

    add(worklists, "cat-c", "cat-a", "cat-b", "cat-a")

    assert before == []
    assert listed(worklists) == ["cat-a", "cat-b", "cat-c"]
    assert listed(worklists, limit=2) == ["cat-a", "cat-b"]
    assert listed(worklists, after="cat-b", limit=2) == ["cat-c"]
    assert listed(worklists, after="cat-c", limit=2) == []
    assert list(worklists.entries(OTHER, limit=100)) == []


def test_the_next_page_begins_after_one_that_has_left_meanwhile(worklists: Worklists) -> None:
    add(worklists, "cat-a", "cat-b", "cat-c")
    *_, last = worklists.entries(SHARED, limit=2)
    worklists.drop(SHARED, last)

    assert listed(worklists, after=last.catalog_id, limit=2) == ["cat-c"]


def test_one_that_was_asked_for_since_it_was_read_stays(worklists: Worklists) -> None:
    add(worklists, "cat-a", "cat-b")
    read, _ = worklists.entries(SHARED, limit=100)
    add(worklists, "cat-a")

    assert not worklists.drop(SHARED, read)

    news, _ = worklists.entries(SHARED, limit=100)
    assert news.stamp != read.stamp
    assert worklists.drop(SHARED, news)
    assert listed(worklists) == ["cat-b"]


def test_one_that_was_dropped_and_asked_for_anew_stays(worklists: Worklists) -> None:
    add(worklists, "cat-a")
    read = only(worklists)
    worklists.drop(SHARED, read)
    add(worklists, "cat-a")

    assert not worklists.drop(SHARED, read)

    assert listed(worklists) == ["cat-a"]
