"""
Files in a deployment with default settings: they are replaced, removed, and rebuilt by the
reconciler after their records were lost or set back to a moment.
"""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bedrock_kb_simulator.assumptions import CustomTells
from infra.restore import Restoration
from stackroom.clock import utc_now
from stackroom.model.records import DocumentStatus
from stackroom_local.state import Instance
from tests.e2e.people import Agent, Person, eventually
from tests.local.running import ANY_SCORE, local_mode, stackroom

HERS = {
    "research/corals.txt": "Corals of the reef grow a centimetre a year.",
    "field notes/owls.txt": "The barn owl left the tower at dusk.",
}
HIS = {"minutes/may.txt": "In May the board chose a blue letterhead."}
# A knowledge base has five data sources: four of catalogs' own, and the one that is shared.
FOURTH = {"crowd/guests.txt": "Thirty guests sit at seven tables."}
BEYOND = {
    "recipes/soup.txt": "The soup wants three leeks.",
    "songs/evening.txt": "The evening song has nine verses.",
}
QUIET_SECONDS = 11  # what is younger, `reconcile` leaves for the next time
NOTHING = "no discrepancies: bucket, records, index and control table agree\n"
# They sort before and among the others'.
UNREADABLE: dict[str, dict[str, str]] = {
    "ann/papers/secret.txt": {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": "k" * 32},
    "ann/papers/cold.txt": {"StorageClass": "GLACIER"},
}
ODD = ["key/cat/" + "a" * 1011 + ".txt", "key/cat/\x07.exe", "key/cat/....//x.txt"]
REASONS = {
    "ann/papers/secret.txt": "upload it again without --sse-c",
    "ann/papers/cold.txt": "it is archived (GLACIER)",
}


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A local mode whose Retrieve identifies documents by their object; elsewhere it is the id."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEDROCK_KB_SIMULATOR_CUSTOM_DOCUMENTS_TELL", CustomTells.LOCATION)
        with local_mode(tmp_path_factory.mktemp("default") / "state", *ANY_SCORE) as running:
            yield running


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
def beyond(alice: Person) -> Person:
    """Alice, with a fourth catalog and two more."""
    alice.settle(alice.put_all(FOURTH))
    alice.settle(alice.put_all(BEYOND))
    return alice


def says(instance: Instance, *arguments: str) -> str:
    done = stackroom(*arguments, state_dir=instance.state_dir)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("catalog", ["crowd", "songs"])
def test_a_file_is_replaced_and_then_removed_with_a_receipt(
    instance: Instance, beyond: Person, catalog: str
) -> None:
    """On a data source of its catalog's own, and on the shared one."""
    beyond.settle([beyond.put(f"{catalog}/note.txt", "The annex smells of cedar.")])
    beyond.settle([beyond.put(f"{catalog}/note.txt", "The annex smells of juniper.")])
    before = beyond.find("annex smells", filter={"filename": "note.txt"})

    printed = " ".join(says(instance, "delete", f"alice/{catalog}/note.txt").split())

    assert [each["content"] for each in before] == ["The annex smells of juniper."]
    assert "unsearchable since 20" in printed
    assert beyond.find("annex smells", filter={"filename": "note.txt"}) == []
    assert beyond.record(f"{catalog}/note.txt") is None


def test_lost_records_are_rebuilt_and_the_second_time_nothing_is_found(
    instance: Instance, beyond: Person
) -> None:
    """Whatever else lies there, what can't be read or nobody expects, keeps nobody waiting."""
    ann = Person(instance, "ann")
    for key in (*ODD, *UNREADABLE):
        upload(instance, key, **UNREADABLE.get(key, {}))
    for key in UNREADABLE:
        ann.await_status(key.removeprefix("ann/"), DocumentStatus.FAILED)
    stackroom("status", "--until-settled", "-u", "key", state_dir=instance.state_dir)
    before = beyond.records()
    lose_records(instance)
    time.sleep(QUIET_SECONDS)

    rehearsed = says(instance, "reconcile", "--dry-run")
    untouched = beyond.records()
    first = says(instance, "reconcile")
    for key in before:
        beyond.await_status(key.removeprefix("alice/"), DocumentStatus.INDEXED)
    time.sleep(QUIET_SECONDS)

    assert "a dry run repairs nothing" in rehearsed
    assert untouched == {}
    assert re.search(r"found (\d+) discrepancies; \1 repaired", first), first
    reasons = {key: str(record.status_reason) for key, record in ann.records().items()}
    assert {key for key, told in REASONS.items() if told in reasons[key]} == {*REASONS}
    assert says(instance, "reconcile") == NOTHING
    assert {key: each.etag for key, each in beyond.records().items()} == {
        key: each.etag for key, each in before.items()
    }
    assert beyond.files_found("corals grow")[0] == "corals.txt"
    ann.settle([ann.put("papers/secret.txt", "It is no secret any more.")])
    assert ann.files_found("secret") == ["secret.txt"]


def test_a_reconciliation_makes_restored_tables_true_again(instance: Instance) -> None:
    """Restore the tables to a moment, by the steps of docs/operations.md."""
    otto, dynamodb = Person(instance, "otto"), instance.client("dynamodb")
    tables = (instance.catalog_table, instance.control_table)
    letters = {"letters/old.txt": "From Bruges.", "letters/torn.txt": "From Ghent."}
    otto.settle(otto.put_all(letters))
    streams = {
        each: dynamodb.describe_table(TableName=each)["Table"]["LatestStreamArn"] for each in tables
    }

    def event_filenames() -> set[str]:
        events = Agent(instance, "otto")("list_events", limit=100)["metadata"]["events"]
        return {each["detail"].get("filename") for each in events}

    restoration = Restoration(dynamodb=dynamodb, write_line=print)
    for table in tables:
        restoration.restore_copy(table, utc_now())
    otto.settle([otto.put("letters/new.txt", "From Antwerp.")])
    otto.remove("letters/torn.txt")
    otto.await_absence("letters/torn.txt")

    for table in tables:
        restoration.copy_back(table)
    for table in tables:
        restoration.delete_copy(table)
    known = set(otto.records())

    def reconciled() -> bool:
        assert stackroom("reconcile", state_dir=instance.state_dir).returncode == 0
        statuses = {key: each.status for key, each in otto.records().items()}
        kept = ("otto/letters/old.txt", "otto/letters/new.txt")
        return statuses == dict.fromkeys(kept, DocumentStatus.INDEXED)

    eventually(reconciled, "records are those of the bucket")
    assert known == {f"otto/{path}" for path in letters}
    assert set(otto.files_found("Where is the letter from?")) == {"old.txt", "new.txt"}
    # Of tables whose streams are others than when it was deployed, nobody would be told.
    streamed = {each: dynamodb.describe_table(TableName=each)["Table"] for each in tables}
    assert {name: each["LatestStreamArn"] for name, each in streamed.items()} == streams
    otto.settle([otto.put("letters/later.txt", "From Bruges again.")])
    eventually(lambda: "later.txt" in event_filenames(), "what happened after it is told")
    assert not [each for each in dynamodb.list_tables()["TableNames"] if "restored" in each]


def upload(instance: Instance, key: str, **options: str) -> None:
    s3: Any = instance.client("s3")
    s3.put_object(Bucket=instance.bucket, Key=key, Body=b"text", **options)


def lose_records(instance: Instance) -> None:
    dynamodb: Any = instance.client("dynamodb")
    for item in dynamodb.scan(TableName=instance.catalog_table)["Items"]:
        key = {name: item[name] for name in ("catalog_id", "sk")}
        dynamodb.delete_item(TableName=instance.catalog_table, Key=key)
