"""Many files and many catalogs at once, in a local mode of their own that they may fill."""

from collections.abc import Callable, Iterator

import pytest

from stackroom.model import DataSourceType, DocumentStatus
from stackroom_local.cli.console import output
from stackroom_local.cli.documents import status
from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.local.running import ANY_SCORE, local_mode, stackroom

MANY = {
    f"crowd/guest {number}.txt": f"Guest number {number} sits at table {number % 7}."
    for number in range(30)
}
Command = Callable[..., str]
PLACES = ("crowd", "second", "third", "fourth")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    with local_mode(tmp_path_factory.mktemp("capacity") / "state", *ANY_SCORE) as running:
        yield running


@pytest.fixture(scope="module")
def host(instance: Instance) -> Person:
    """Their four catalogs take every place that the knowledge base has."""
    host = Person(instance, "host")
    for name in PLACES:
        host.place(name)
    dropped = host.put_all(MANY)
    host.settle(dropped + host.put_all({f"{name}/a.txt": f"A {name}." for name in PLACES[1:]}))
    return host


@pytest.fixture
def says(instance: Instance) -> Command:
    """The command line, as its user has it; what it prints."""

    def run(*arguments: str) -> str:
        done = stackroom(*arguments, state_dir=instance.state_dir)
        assert done.returncode == 0, done.stdout + done.stderr
        return " ".join(done.stdout.split())  # whatever the terminal's width

    return run


def test_thirty_files_at_once_are_all_indexed_by_few_jobs(host: Person) -> None:
    records = host.records()

    statuses = {records[f"host/{path}"].status for path in MANY}
    assert statuses == {DocumentStatus.INDEXED}
    assert 0 < len(host.jobs("crowd")) <= 4


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


def test_catalogs_without_a_data_source_of_their_own_share_one(host: Person) -> None:
    names = [f"guest house {number}" for number in range(6)]
    dropped = host.put_all({f"{each}/a.txt": f"The keys of {each} hang here." for each in names})

    host.settle(dropped)

    records = host.records()
    assert {records[each.key].status for each in dropped} == {DocumentStatus.INDEXED}
    catalogs = [host.catalog(each) for each in names]
    assert {each.data_source_type for each in catalogs} == {DataSourceType.CUSTOM}
    assert len({each.data_source_id for each in catalogs}) == 1
    found = host.find("Where do the keys hang?", catalog_id=catalogs[3].catalog_id)
    assert [each["source"]["filename"] for each in found] == ["a.txt"]
    assert "guest house 3" in found[0]["content"]


def test_with_every_place_taken_the_others_go_on(host: Person) -> None:
    host.settle([host.put("fourth/b.txt", "The fourth has brought a ukulele.")])

    assert host.files_found("Who has brought a ukulele?")[0] == "b.txt"


def test_a_shared_file_is_replaced_and_then_removed_with_a_receipt(
    host: Person, says: Command
) -> None:
    host.settle([host.put("annex/note.txt", "The annex smells of cedar.")])
    host.settle([host.put("annex/note.txt", "The annex smells of juniper.")])
    catalog_id = host.catalog("annex").catalog_id
    before = [each["content"] for each in host.find("What smell?", catalog_id=catalog_id)]

    printed = says("delete", "note.txt", "--user", "host", "--catalog", "annex")

    assert before == ["The annex smells of juniper."]
    assert "unsearchable since 20" in printed
    assert host.find("What smell?", catalog_id=catalog_id) == []
    assert host.record("annex/note.txt") is None
    assert "note.txt" in says("receipts", "--user", "host")


def test_an_id_or_a_user_that_is_empty_is_refused_by_name(instance: Instance) -> None:
    nothing = stackroom("receipts", "", state_dir=instance.state_dir)
    nobody = stackroom("status", "--user", "", state_dir=instance.state_dir)

    assert (nothing.returncode, nobody.returncode) == (1, 1)
    assert nothing.stderr.startswith("stackroom: there is no receipt ''")
    assert "--user '' can't be a user id" in nobody.stderr


def test_the_same_content_under_another_name_stays(host: Person, says: Command) -> None:
    twins = {f"twins/{name}.txt": "Two peas in one pod." for name in ("castor", "pollux")}
    host.settle(host.put_all(twins))

    says("delete", "host/twins/castor.txt")

    assert host.files_found("peas", catalog_id=host.catalog("twins").catalog_id) == ["pollux.txt"]


def test_the_pool_is_shown_with_who_lives_where(host: Person, says: Command) -> None:
    printed = says("status", "--pool")

    assert "4 of 4: host/crowd, host/fourth, host/second, host/third" in printed


@pytest.mark.parametrize("name", ["second", "guest house 5"])
def test_a_deleted_catalog_leaves_nothing_and_its_name_can_be_used_again(
    host: Person, says: Command, name: str
) -> None:
    printed = says("delete", "--user", "host", "--catalog", name, "--yes")

    assert "is gone" in printed
    assert not any(key.startswith(f"host/{name}/") for key in host.records())
    host.settle([host.put(f"{name}/new.txt", f"A new beginning for {name}.")])
    found = host.find("What began?", catalog_id=host.catalog(name).catalog_id)
    assert [each["source"]["filename"] for each in found] == ["new.txt"]


def test_what_is_indexed_in_a_large_catalog_does_not_seem_to_wait(
    instance: Instance,
    host: Person,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("stackroom.ingestion.estimates.PAGE", 10)

    status(instance, user="host", watch=False, told=output(False))

    printed = capsys.readouterr().out
    assert "and 30 more, most of them indexed" in printed
    assert "to be taken up" not in printed


def test_a_reconciliation_finds_nothing_amiss(host: Person, says: Command) -> None:
    printed = says("reconcile", "--dry-run")

    assert "found nothing" in printed
