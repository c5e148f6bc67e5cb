"""Events as they come in real life: twice, late, out of order, untrue, or no events at all."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

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
