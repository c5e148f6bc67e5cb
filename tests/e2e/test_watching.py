"""Watching a running local mode: what changed is read and shown, and nothing else."""

from collections.abc import Iterator
from typing import Any

import pytest

from stackroom.documents.model import Document, DocumentStatus
from stackroom_local.sites.site_records import ChangedRecords
from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.local.running import stackroom

# Files of no known type fail at once and need no ingestion.
FAILED, INDEXED = DocumentStatus.FAILED, DocumentStatus.INDEXED


@pytest.fixture
def wendy(instance: Instance) -> Person:
    return Person(instance, "wendy")


@pytest.fixture
def calls(instance: Instance) -> Iterator[list[str]]:
    """The operations of DynamoDB and its streams that this process asks for, in order."""
    made: list[str] = []

    def note(model: Any, **_: Any) -> None:
        made.append(model.name)

    services = [instance.client(each) for each in ("dynamodb", "dynamodbstreams")]
    for each in services:
        each.meta.events.register("before-call", note)
    yield made
    for each in services:
        each.meta.events.unregister("before-call", note)


def documents(following: ChangedRecords) -> dict[str, Document]:
    return {each.s3_key: each for listing in following.look() for each in listing.documents}


def test_after_the_first_look_only_what_changed_is_read(wendy: Person, calls: list[str]) -> None:
    following = ChangedRecords(wendy.instance, wendy.name)
    wendy.settle([wendy.put("papers/first.exe", "x")])
    documents(following)

    calls.clear()
    documents(following)
    idle = set(calls)
    wendy.settle([wendy.put("papers/second.exe", "x")])
    calls.clear()
    seen = documents(following)

    assert idle == {"GetRecords"}
    assert set(calls) <= {"GetRecords", "BatchGetItem"}
    assert seen["wendy/papers/second.exe"].status is FAILED


def test_status_ends_once_what_was_put_a_moment_ago_has_settled(wendy: Person) -> None:
    wendy.put("papers/late.txt", "A page that came late.")

    watched = stackroom(
        "status", "--until-settled", "-u", "wendy", state_dir=wendy.instance.state_dir
    )

    assert (watched.returncode, watched.stderr) == (0, "")
    assert wendy.records()["wendy/papers/late.txt"].status is INDEXED
