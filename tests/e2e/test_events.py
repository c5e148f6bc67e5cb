"""Messages that tell of no event, between those that do."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stackroom_local.state import Instance
from tests.e2e.people import Person, eventually
from tests.e2e.traffic import Queue, event, held_back, queue

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
