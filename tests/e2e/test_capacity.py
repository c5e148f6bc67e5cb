"""Many files and many catalogs at once, in a local mode of their own that they may fill."""

from collections.abc import Iterator

import pytest

from stackroom.model import DocumentStatus
from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.local.running import local_mode

MANY = {
    f"crowd/guest {number}.txt": f"Guest number {number} sits at table {number % 7}."
    for number in range(30)
}
PLACES = ("crowd", "second", "third", "fourth")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    with local_mode(tmp_path_factory.mktemp("capacity") / "state") as running:
        yield running


@pytest.fixture(scope="module")
def host(instance: Instance) -> Person:
    """Their four catalogs take every place that the knowledge base has."""
    host = Person(instance, "host")
    dropped = host.put_all(MANY)
    host.settle(dropped + host.put_all({f"{name}/a.txt": f"A {name}." for name in PLACES[1:]}))
    return host


def test_thirty_files_at_once_are_all_indexed_by_few_jobs(host: Person) -> None:
    records = host.records()

    statuses = {records[f"host/{path}"].status for path in MANY}
    assert statuses == {DocumentStatus.INDEXED}
    assert len(host.jobs("crowd")) <= 4


def test_thirty_files_at_once_are_each_there_once(host: Person) -> None:
    catalog_id = host.catalog("crowd").catalog_id

    passages = [
        each["source"]["filename"]
        for table in range(7)
        for each in host.find(f"Who sits at table {table}?", catalog_id=catalog_id)
    ]
    alone = [
        host.files_found("who is it?", filter={"filename": path.removeprefix("crowd/")})
        for path in MANY
    ]

    assert len(set(passages)) > 20
    assert alone == [[path.removeprefix("crowd/")] for path in MANY]


def test_the_fifth_catalog_fails_saying_what_an_operator_can_do(host: Person) -> None:
    dropped = host.put("fifth/a.txt", "There is no chair for the fifth.")
    host.settle([dropped])

    record = host.record("fifth/a.txt")
    assert record is not None
    assert record.status is DocumentStatus.FAILED
    assert record.status_reason == (
        "no knowledge base has a free data source for this catalog; "
        "ask your operator to raise knowledge_base_pool_size, then drop the file again"
    )
    assert host.find("Is there a chair for the fifth?")[0]["source"]["filename"] != "fifth/a.txt"


def test_with_every_place_taken_the_others_go_on(host: Person) -> None:
    host.settle([host.put("fourth/b.txt", "The fourth has brought a ukulele.")])

    assert host.files_found("Who has brought a ukulele?")[0] == "b.txt"
