"""
The way of a dropped file where nobody has chosen anything: its catalog gets a data source of its
own, which it keeps until both are deleted.
"""

import json
from collections.abc import Iterator

import pytest

from stackroom.model import DocumentStatus
from stackroom.runs.placement import data_source_name
from stackroom.runs.worklists import shared_worklist
from stackroom_local.cli.console import output
from stackroom_local.cli.documents import status
from stackroom_local.state import Instance
from tests.e2e.people import Agent, Person
from tests.e2e.traffic import Aws, await_rest, aws_of, data_sources, logged, states_of
from tests.local.running import ANY_SCORE, local_mode, stackroom

HERS = {
    "research/corals.txt": "Corals of the reef grow a centimetre a year.",
    "field notes/owls.txt": "The barn owl left the tower at dusk.",
}
HIS = {"minutes/may.txt": "In May the board chose a blue letterhead."}
# A knowledge base has five data sources: four of catalogs' own, and the one that is shared.
FOURTH = {f"crowd/guest {n}.txt": f"Guest {n} sits at table {n % 7}." for n in range(30)}
BEYOND = {
    "recipes/soup.txt": "The soup wants three leeks.",
    "songs/evening.txt": "The evening song has nine verses.",
}


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    with local_mode(tmp_path_factory.mktemp("default") / "state", *ANY_SCORE) as running:
        yield running


@pytest.fixture(scope="module")
def aws(instance: Instance) -> Aws:
    return aws_of(instance)


@pytest.fixture(scope="module")
def bob(instance: Instance) -> Person:
    person = Person(instance, "bob")
    person.settle(person.put_all(HIS))
    return person


@pytest.fixture(scope="module")
def alice(instance: Instance, bob: Person) -> Person:
    """Hers are two of the three catalogs that the first files have come into."""
    person = Person(instance, "alice")
    person.settle(person.put_all(HERS))
    return person


@pytest.fixture(scope="module")
def first_sources(aws: Aws, alice: Person) -> dict[str, str]:
    """What Bedrock lists by then."""
    return data_sources(aws, home_of(alice))


@pytest.fixture(scope="module")
def beyond(alice: Person, first_sources: dict[str, str]) -> Person:
    """Alice, with a fourth catalog and two more."""
    alice.settle(alice.put_all(FOURTH))
    alice.settle(alice.put_all(BEYOND))
    return alice


def says(instance: Instance, *arguments: str) -> str:
    """What the command line prints, whatever the terminal's width."""
    done = stackroom(*arguments, state_dir=instance.state_dir)
    assert done.returncode == 0, done.stdout + done.stderr
    return " ".join(done.stdout.split())


def home_of(person: Person) -> str:
    return str(person.catalog("research").knowledge_base_id)


def test_each_new_catalog_has_a_data_source_named_after_it(
    alice: Person, bob: Person, first_sources: dict[str, str]
) -> None:
    catalogs = [alice.catalog("research"), alice.catalog("field notes"), bob.catalog("minutes")]

    named = {data_source_name(each): each.data_source_id for each in catalogs}

    assert first_sources.keys() - named.keys() == {"shared"}
    assert named.items() <= first_sources.items()
    assert {name.rpartition("-cat-")[0] for name in named} == {"research", "field-notes", "minutes"}


@pytest.mark.parametrize("name", ["research", "field notes"])
def test_an_execution_ensures_the_data_source_ingests_waits_and_polls(
    aws: Aws, alice: Person, name: str
) -> None:
    await_rest(aws)

    first, *_ = states_of(aws, alice.catalog(name).catalog_id)

    assert first[0] == "EnsureDataSource"
    started = first.index("StartIngestion")
    assert first[started + 1 : started + 4] == [
        "IsIngestionStarted",
        "WaitForIngestion",
        "PollIngestion",
    ]
    assert first[-1] == "WorklistSettled"


def test_the_status_poller_logs_its_polls(aws: Aws, alice: Person) -> None:
    catalog_id = alice.catalog("research").catalog_id

    polls = logged(aws, "status-poller", "run moved on")

    of_hers = [each for each in polls if each["worklist_id"] == catalog_id]
    assert {each["action"] for each in of_hers} == {"poll"}
    assert of_hers[-1]["outcome"] == "settled"
    assert of_hers[-1]["documents"]["indexed"] == 1


def test_what_was_dropped_is_indexed_and_found_by_its_owner_alone(
    alice: Person, bob: Person
) -> None:
    records = {**alice.records(), **bob.records()}

    hers = alice.files_found("What did the owl do at dusk?")
    his = bob.files_found("Which letterhead did the board choose?")

    assert {each.status for each in records.values()} == {DocumentStatus.INDEXED}
    assert hers[0] == "owls.txt"
    assert his == ["may.txt"]


def test_another_drop_is_ingested_by_the_same_data_source(
    aws: Aws, alice: Person, first_sources: dict[str, str]
) -> None:
    home, before = home_of(alice), alice.catalog("research").data_source_id

    alice.settle([alice.put("research/sponges.txt", "A sponge filters a barrel a day.")])

    assert data_sources(aws, home) == first_sources
    assert alice.catalog("research").data_source_id == before
    assert alice.files_found("What does a sponge filter?")[0] == "sponges.txt"


def test_the_fifth_catalog_and_whatever_follows_share_a_data_source(
    aws: Aws, beyond: Person, instance: Instance
) -> None:
    catalogs = {name: beyond.catalog(name) for name in ("crowd", "recipes", "songs")}
    sources = data_sources(aws, home_of(beyond))

    told = stackroom("status", "--pool", "--json", state_dir=instance.state_dir)

    assert catalogs["crowd"].data_source_id == sources[data_source_name(catalogs["crowd"])]
    assert catalogs["recipes"].data_source_id == sources["shared"]
    assert catalogs["songs"].data_source_id == sources["shared"]
    assert len(sources) == 5
    (pool,) = json.loads(told.stdout)["knowledge_bases"]
    assert pool["own_sources"] == [
        "alice/crowd",
        "alice/field notes",
        "alice/research",
        "bob/minutes",
    ]
    assert pool["shared"] == ["alice/recipes", "alice/songs"]


def test_what_lies_on_the_shared_data_source_is_found_through_the_tools(
    aws: Aws, beyond: Person, instance: Instance
) -> None:
    songs = beyond.catalog("songs")
    question = "How many verses has the evening song?"

    asked = Agent(instance, "alice")("query_catalog", query=question, catalog_id=songs.catalog_id)
    stranger = Agent(instance, "bob").text(
        "query_catalog", query=question, catalog_id=songs.catalog_id
    )

    assert [each["filename"] for each in asked["metadata"]["sources"]] == ["evening.txt"]
    assert "nine" not in stranger
    assert states_of(aws, shared_worklist(home_of(beyond)))


def test_a_deleted_catalog_takes_its_data_source_along(
    aws: Aws, beyond: Person, instance: Instance
) -> None:
    catalog, home = beyond.catalog("field notes"), home_of(beyond)
    await_rest(aws)
    runs = len(states_of(aws, catalog.catalog_id))

    answer = Agent(instance, "alice")("delete_catalog", catalog_id=catalog.catalog_id, confirm=True)

    assert answer["content"][0]["text"] == (
        "Deleted catalog 'field notes' and all 1 document. Data source and vectors removed."
    )
    assert answer["metadata"]["data_source_deleted"] is True
    assert data_source_name(catalog) not in data_sources(aws, home)
    await_rest(aws)
    (taken_down,) = states_of(aws, catalog.catalog_id)[runs:]
    assert "StartIngestion" not in taken_down  # nothing else deletes documents
    receipts = stackroom("receipts", "--user", "alice", "--json", state_dir=instance.state_dir)
    (receipt,) = json.loads(receipts.stdout)["receipts"]
    assert receipt["searchable_before"] is not None
    assert receipt["unsearchable_since"] is not None
    assert beyond.files_found("Which owl left the tower?", filter={"filename": "owls.txt"}) == []


def test_the_place_that_has_become_free_is_the_next_new_catalog_s(aws: Aws, beyond: Person) -> None:
    beyond.settle([beyond.put("late/news.txt", "The late edition sold out.")])

    catalog = beyond.catalog("late")
    assert catalog.data_source_id == data_sources(aws, home_of(beyond))[data_source_name(catalog)]


def test_thirty_files_at_once_are_each_there_once(beyond: Person) -> None:
    found = [
        beyond.files_found("who is it?", filter={"filename": path.removeprefix("crowd/")})
        for path in FOURTH
    ]

    assert found == [[path.removeprefix("crowd/")] for path in FOURTH]


def test_what_is_indexed_in_a_large_catalog_does_not_seem_to_wait(
    instance: Instance,
    beyond: Person,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("stackroom.ingestion.estimates.PAGE", 10)

    status(instance, user=beyond.name, watch=False, told=output(False))

    printed = capsys.readouterr().out
    assert "and 30 more, most of them indexed" in printed
    assert "to be taken up" not in printed


@pytest.mark.parametrize("catalog", ["crowd", "annex"])
def test_a_file_is_replaced_and_then_removed_with_a_receipt(
    instance: Instance, beyond: Person, catalog: str
) -> None:
    beyond.settle([beyond.put(f"{catalog}/note.txt", "The annex smells of cedar.")])
    beyond.settle([beyond.put(f"{catalog}/note.txt", "The annex smells of juniper.")])
    before = beyond.find("What smell?", filter={"filename": "note.txt"})

    printed = says(instance, "delete", f"alice/{catalog}/note.txt")

    assert [each["content"] for each in before] == ["The annex smells of juniper."]
    assert "unsearchable since 20" in printed
    assert beyond.find("What smell?", filter={"filename": "note.txt"}) == []
    assert beyond.record(f"{catalog}/note.txt") is None
    assert "note.txt" in says(instance, "receipts", "--user", "alice")


def test_the_same_content_under_another_name_stays(instance: Instance, beyond: Person) -> None:
    twins = {f"twins/{name}.txt": "Two peas in one pod." for name in ("castor", "pollux")}
    beyond.settle(beyond.put_all(twins))

    says(instance, "delete", "alice/twins/castor.txt")

    catalog_id = beyond.catalog("twins").catalog_id
    assert beyond.files_found("peas", catalog_id=catalog_id) == ["pollux.txt"]


@pytest.mark.parametrize("name", ["research", "songs"])
def test_a_deleted_catalog_leaves_nothing_and_its_name_can_be_used_again(
    instance: Instance, beyond: Person, name: str
) -> None:
    printed = says(instance, "delete", "--user", "alice", "--catalog", name, "--yes")

    assert "is gone" in printed
    assert not any(key.startswith(f"alice/{name}/") for key in beyond.records())
    beyond.settle([beyond.put(f"{name}/new.txt", f"A new beginning for {name}.")])
    catalog_id = beyond.catalog(name).catalog_id
    assert beyond.files_found("What began?", catalog_id=catalog_id) == ["new.txt"]


def test_an_id_or_a_user_that_is_empty_is_refused_by_name(instance: Instance) -> None:
    nothing = stackroom("receipts", "", state_dir=instance.state_dir)
    nobody = stackroom("status", "--user", "", state_dir=instance.state_dir)

    assert (nothing.returncode, nobody.returncode) == (1, 1)
    assert nothing.stderr.startswith("stackroom: there is no receipt ''")
    assert "--user '' can't be a user id" in nobody.stderr


def test_a_reconciliation_finds_nothing_amiss(instance: Instance, beyond: Person) -> None:
    printed = says(instance, "reconcile", "--dry-run")

    assert "found nothing" in printed
