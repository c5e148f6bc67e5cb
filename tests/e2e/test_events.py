"""Events as they come in real life: twice, late, out of order, untrue, or no events at all."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from stackroom.model import DocumentStatus
from stackroom_local.state import Instance
from tests.e2e.people import Person, eventually
from tests.e2e.traffic import Queue, await_rest, event, held_back, queue, tapped

CATALOG = "notes"
MALFORMED = (
    "not JSON at all",
    "{}",
    json.dumps({"id": "1", "detail-type": "Object Created", "detail": "a string"}),
    json.dumps({"id": "1", "detail-type": "Object Created", "detail": {"object": {"key": ""}}}),
)


@pytest.fixture(scope="module")
def uploads(aws: Callable[[str], Any]) -> Queue:
    return queue(aws, "stackroom-uploads")


@pytest.fixture
def dead_letters(aws: Callable[[str], Any]) -> Iterator[Queue]:
    dead = queue(aws, "stackroom-uploads-dead")
    yield dead
    dead.take()


def test_events_that_come_twice_and_out_of_order_change_nothing(
    bob: Person, aws: Callable[[str], Any], uploads: Queue
) -> None:
    with tapped(aws) as tap:
        bob.put(f"{CATALOG}/gone.txt", "The first draft of the speech was about herons.")
        first = bob.put(f"{CATALOG}/rewritten.txt", "The choir rehearses on Mondays.")
        bob.settle([first])
        bob.remove(f"{CATALOG}/gone.txt")
        second = bob.put(f"{CATALOG}/rewritten.txt", "The choir rehearses on Thursdays.")
        bob.settle([second])
        bob.await_absence(f"{CATALOG}/gone.txt")
        await_rest(aws)
        seen = [body for body in tap.take() if ".metadata.json" not in body]
    records, ingestions = bob.records(), bob.ingestions(CATALOG)

    again = seen * 3
    Random(2).shuffle(again)
    uploads.send(again)
    await_rest(aws)

    assert len(seen) == 4
    assert bob.records() == records
    assert bob.ingestions(CATALOG) == ingestions
    assert [
        each["content"]
        for each in bob.find("When does the choir rehearse?")
        if "choir" in each["content"]
    ] == ["The choir rehearses on Thursdays."]
    of_it = {"filename": "gone.txt"}
    assert bob.files_found("What was the speech about?", filter=of_it) == []


def test_events_of_versions_and_objects_that_are_no_more_are_not_believed(
    bob: Person, aws: Callable[[str], Any], uploads: Queue
) -> None:
    present = bob.put(f"{CATALOG}/present.txt", "The ferry leaves from the third quay.")
    bob.settle([present])
    await_rest(aws)
    record = bob.record(f"{CATALOG}/present.txt")
    later = "FFFFFFFFFFFFFFFFFF"

    uploads.send(
        [
            event(bob.instance, present.key, "Object Deleted", sequencer=later),
            event(
                bob.instance,
                present.key,
                "Object Deleted",
                sequencer=later,
                **{"version-id": "an-old-one", "deletion-type": "Permanently Deleted"},
            ),
            event(bob.instance, present.key, etag="0" * 32, size=1, **{"version-id": "old"}),
            event(bob.instance, f"bob/{CATALOG}/never was.txt"),
            event(bob.instance, f"bob/{CATALOG}/never was.txt", "Object Deleted"),
            event(bob.instance, "bob/never-was-either/there.txt", "Object Deleted"),
        ]
    )
    await_rest(aws)

    assert bob.record(f"{CATALOG}/present.txt") == record
    assert bob.record(f"{CATALOG}/never was.txt") is None
    assert bob.files_found("Where does the ferry leave from?")[0] == "present.txt"


def test_deleting_an_old_version_leaves_the_document_as_it_is(
    bob: Person, aws: Callable[[str], Any]
) -> None:
    old = bob.put(f"{CATALOG}/versions.txt", "Rent is due on the first.")
    bob.settle([old])
    new = bob.put(f"{CATALOG}/versions.txt", "Rent is due on the fifth.")
    bob.settle([new])

    aws("s3").delete_object(Bucket=bob.instance.bucket, Key=new.key, VersionId=old.version_id)
    await_rest(aws)

    record = bob.record(f"{CATALOG}/versions.txt")
    assert record is not None
    assert (record.status, record.version_id) == (DocumentStatus.INDEXED, new.version_id)
    assert bob.find("When is rent due?")[0]["content"] == "Rent is due on the fifth."


def test_malformed_messages_end_alone_in_the_dead_letter_queue(
    bob: Person,
    instance: Instance,
    aws: Callable[[str], Any],
    uploads: Queue,
    dead_letters: Queue,
) -> None:
    with held_back(aws):  # so that nothing but this batch tells of the neighbours
        neighbours = bob.put_all(
            {
                f"{CATALOG}/left.txt": "The umbrella stand was carved by a sailor.",
                f"{CATALOG}/right.txt": "The coal scuttle was bought in Ghent.",
            }
        )
    before = [bob.record(f"{CATALOG}/left.txt"), bob.record(f"{CATALOG}/right.txt")]
    left, right = (event(instance, each.key) for each in neighbours)

    with uploads.impatient():
        uploads.send([left, *MALFORMED, right])
        bob.settle(neighbours)
        dead = eventually(
            lambda: found if len(found := _peek(dead_letters)) >= len(MALFORMED) else None,
            "the malformed messages are set aside",
        )
        uploads.await_empty()

    assert before == [None, None]
    assert sorted(dead or []) == sorted(MALFORMED)
    assert bob.files_found("Who carved the umbrella stand?")[0] == "left.txt"
    assert bob.files_found("Where was the coal scuttle bought?")[0] == "right.txt"


def _peek(letters: Queue) -> list[str]:
    """The bodies, left where they are."""
    answer = letters.aws("sqs").receive_message(
        QueueUrl=letters.url, MaxNumberOfMessages=10, VisibilityTimeout=0
    )
    return [each["Body"] for each in answer.get("Messages", [])]
