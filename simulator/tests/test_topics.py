"""The threshold of denied topics: texts it detects, and texts it passes."""

from bedrock_kb_simulator.embedder import MiniLM
from bedrock_kb_simulator.screening import Guard, Side
from simulator.tests.holding import holds
from simulator.tests.world import TOPICS, guardrail_request

ABOUT: dict[str, tuple[str, ...]] = {
    "Investment advice": (
        "Which shares should I buy this year?",
        "How should I allocate my pension portfolio?",
        "You should buy shares of the company before the price rises.",
    ),
    "Salaries": (
        "What is the salary of our CEO?",
        "The head of marketing earns 120,000 a year.",
        "Was a bonus paid to Peter?",
    ),
}
ORDINARY = (
    "Which city has hills?",
    "What does the maintenance manual say about the pump?",
    "How many vacation days do new employees get?",
    "Summarise the quarterly report.",
    "Sorry, I am unable to assist you with this request.",
    "Extracted, not generated (no language model runs here):",
    "Where is the fire extinguisher?",
)


@holds("guardrail.topics")
def test_guardrail_topics_are_detected_only_in_texts_about_them() -> None:
    guard = Guard(body=guardrail_request(topics=TOPICS), embedder=MiniLM())

    def found(text: str) -> set[str]:
        judged = guard.judge(text, Side.INPUT).topics or ()
        return {each.name for each in judged if each.detected}

    about = {text: {topic} for topic, texts in ABOUT.items() for text in texts}
    expected = {**about, **{text: set() for text in ORDINARY}}

    caught = {text: found(text) for text in expected}

    assert caught == expected
    long = "The valve closes at 4 bar. " * 50 + "What is the salary of our CEO?"
    assert found(long) == {"Salaries"}
