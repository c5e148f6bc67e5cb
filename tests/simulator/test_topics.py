"""How near a text has to be to a denied topic: what the threshold catches, and what it lets by."""

import pytest

from stackroom_local.simulator.embedding import MiniLM
from stackroom_local.simulator.screening import Guard, Side
from tests.simulator.holding import holds
from tests.simulator.topics import ABOUT, ORDINARY, TOPICS
from tests.simulator.world import guardrail_request


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard(body=guardrail_request(topics=TOPICS), embedder=MiniLM())


def found(guard: Guard, text: str) -> set[str]:
    return {each.name for each in guard.judged(text, Side.INPUT).topics or () if each.detected}


@holds("guardrail.topics")
def test_texts_about_a_topic_are_caught_and_told_from_other_topics(guard: Guard) -> None:
    about = {text: {topic} for topic, texts in ABOUT.items() for text in texts}
    expected = {**about, **{text: set() for text in ORDINARY}}

    caught = {text: found(guard, text) for text in expected}

    assert caught == expected


def test_one_sentence_about_a_topic_is_found_in_a_long_text(guard: Guard) -> None:
    text = "The valve closes at 4 bar. " * 50 + "What is the salary of our CEO?"

    assert found(guard, text) == {"Salaries"}
