"""How near a text has to be to a denied topic: what the threshold catches, and what it lets by."""

from stackroom_local.simulator.embedding import MiniLM
from stackroom_local.simulator.screening import Guard, Side
from tests.simulator.holding import holds
from tests.simulator.topics import ABOUT, ORDINARY, TOPICS
from tests.simulator.world import guardrail_request


@holds("guardrail.topics")
def test_texts_about_a_topic_are_caught_and_told_from_others_even_in_a_long_text() -> None:
    guard = Guard(body=guardrail_request(topics=TOPICS), embedder=MiniLM())

    def found(text: str) -> set[str]:
        judged = guard.judged(text, Side.INPUT).topics or ()
        return {each.name for each in judged if each.detected}

    about = {text: {topic} for topic, texts in ABOUT.items() for text in texts}
    expected = {**about, **{text: set() for text in ORDINARY}}

    caught = {text: found(text) for text in expected}

    assert caught == expected
    long = "The valve closes at 4 bar. " * 50 + "What is the salary of our CEO?"
    assert found(long) == {"Salaries"}
