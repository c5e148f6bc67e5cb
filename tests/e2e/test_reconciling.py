"""
What a disaster takes from the tables, the reconciler rebuilds from the bucket.

Whatever else lies there: what can't be read, and keys that nobody expects, keep nobody waiting.
"""

import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from stackroom.model import DocumentStatus
from stackroom_local.clients import client
from stackroom_local.state import Instance
from tests.e2e.people import Person, eventually
from tests.local.running import ANY_SCORE, local_mode, stackroom

pytestmark = pytest.mark.processes

# The fifth catalog and the sixth live on the shared data source.
CATALOGS = [f"shelf-{number}" for number in range(6)]
QUIET_SECONDS = 11  # what is younger, `reconcile` leaves for the next time
NOTHING = "found nothing: bucket, records, index and control table agree\n"


@pytest.fixture
def judy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    with local_mode(tmp_path_factory.mktemp("reconciling") / "state", *ANY_SCORE) as running:
        yield Person(running, "judy")


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


def test_lost_records_are_rebuilt_and_the_second_time_nothing_is_found(judy: Person) -> None:
    files = {f"{name}/letter.txt": f"A letter from {name}." for name in CATALOGS}
    ann = Person(judy.instance, "ann")
    for key in (*ODD, *UNREADABLE):
        upload(judy.instance, key, **UNREADABLE.get(key, {}))
    judy.settle(judy.put_all(files))
    for key in UNREADABLE:
        ann.await_status(key.removeprefix("ann/"), DocumentStatus.FAILED)
    before = judy.records()
    lose_records(judy.instance)
    time.sleep(QUIET_SECONDS)

    rehearsed = reconcile(judy, "--dry-run")
    untouched = judy.records()
    first = reconcile(judy)
    for path in files:
        judy.await_status(path, DocumentStatus.INDEXED)
    time.sleep(QUIET_SECONDS)

    assert "this is what would be done" in rehearsed
    assert untouched == {}
    assert "found 11 discrepancies; 11 mended" in first
    reasons = {key: str(record.status_reason) for key, record in ann.records().items()}
    assert {key for key, told in REASONS.items() if told in reasons[key]} == {*REASONS}
    assert reconcile(judy) == NOTHING
    assert {key: each.etag for key, each in judy.records().items()} == {
        key: each.etag for key, each in before.items()
    }
    assert sorted(judy.files_found("A letter")) == ["letter.txt"] * len(CATALOGS)
    ann.settle([ann.put("papers/secret.txt", "It is no secret any more.")])
    assert ann.files_found("secret") == ["secret.txt"]


def upload(instance: Instance, key: str, **options: str) -> None:
    s3: Any = client("s3", instance.aws_endpoint)
    s3.put_object(Bucket=instance.bucket, Key=key, Body=b"text", **options)


def test_an_upload_whose_function_died_is_told_as_waiting_until_it_is_taken_up(
    judy: Person,
) -> None:
    judy.settle([judy.put("shelf-0/first.txt", "The first letter.")])
    stopped = upload_workers(judy.instance)
    for each in stopped:
        each.suspend()

    dropped = judy.put("shelf-0/second.txt", "The second letter.")
    told = stackroom("status", state_dir=judy.instance.state_dir).stdout
    for each in stopped:
        each.kill()
    told_after_its_death = stackroom("status", state_dir=judy.instance.state_dir).stdout
    eventually(lambda: reconcile(judy) != NOTHING, "it is old enough to be registered")
    judy.settle([dropped])

    waiting = f"1 upload waits to be taken up:\n  {dropped.key}\n"
    assert waiting in told
    assert waiting in told_after_its_death
    assert "to be taken up" not in stackroom("status", state_dir=judy.instance.state_dir).stdout


def upload_workers(instance: Instance) -> list[psutil.Process]:
    ministack = psutil.Process(instance.children["ministack"])
    return [
        each
        for each in ministack.children(recursive=True)
        if "functions.upload_handler.handler.handler" in each.cmdline()
    ]


def reconcile(person: Person, *options: str) -> str:
    done = stackroom("reconcile", *options, state_dir=person.instance.state_dir)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lose_records(instance: Instance) -> None:
    dynamodb: Any = client("dynamodb", instance.aws_endpoint)
    for item in dynamodb.scan(TableName=instance.catalog_table)["Items"]:
        key = {name: item[name] for name in ("catalog_id", "sk")}
        dynamodb.delete_item(TableName=instance.catalog_table, Key=key)
