"""The function of a batch agent, asked by a queue."""

from typing import Any

import pytest

from stackroom.errors import ModelThrottled
from tests.agents.batch_world import World, data, messages
from tests.agents.models import Asked, ModelOutput, PlayedModel


def failed(answer: dict[str, Any]) -> list[str]:
    [(key, failures)] = answer.items()
    assert key == "batchItemFailures"
    return [each["itemIdentifier"] for each in failures]


def _playing(asked: Asked) -> ModelOutput:
    question = asked.texts[-1]
    if "broken" in question:
        return RuntimeError(question)
    if "throttled" in question:
        return ModelThrottled("Converse")
    return f"answer to {question.rpartition(chr(10))[2]}"


@pytest.fixture
def asked_world(world: World) -> World:
    world.plays(PlayedModel(play=_playing))
    return world


def test_each_message_is_answered_and_exactly_those_that_failed_are_named(
    asked_world: World,
) -> None:
    url = asked_world.answers_queue()

    answer = asked_world.ask(
        messages(data("one"), data("broken"), '"two"', "no json", data("throttled"), {})
    )

    assert failed(answer) == ["m-2", "m-4", "m-5", "m-6"]
    assert sorted(asked_world.answers(url), key=str) == [
        {"messageId": "m-1", "success": True, "result": "answer to one"},
        {"messageId": "m-3", "success": True, "result": "answer to two"},
    ]
    lines = asked_world.printed.lines("message failed")
    assert [(each["message_id"], each["error_type"]) for each in lines] == [
        ("m-2", "RuntimeError"),
        ("m-4", "MalformedEvent"),
        ("m-5", "ModelThrottled"),
        ("m-6", "MalformedEvent"),
    ]
    assert [each["outcome"] for each in asked_world.printed.lines("answered")] == ["MessagesFailed"]
    # Nor is one answered of which no answer can be sent.
    asked_world.sqs.delete_queue(QueueUrl=url)
    assert failed(asked_world.ask(messages(data("one"), data("two")))) == ["m-1", "m-2"]


def test_fifo_queue_returns_all_messages_after_a_failed_one(asked_world: World) -> None:
    batch = messages(data("one"), data("broken"), data("two"), queue="questions.fifo")

    answer = asked_world.ask(batch)

    assert failed(answer) == ["m-2", "m-3"]
    assert [each["message_id"] for each in asked_world.printed.lines("message not begun")] == [
        "m-3"
    ]
