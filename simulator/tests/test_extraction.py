"""Extracted answers: whole sentences of the passages."""

import pytest

from bedrock_kb_simulator.embedder import MiniLM
from bedrock_kb_simulator.stand_in import NO_ANSWER, NOTICE, Extraction, FoundPassage

FERRY = """# The night ferry

The ferry leaves the pier every evening at 21:15 and comes back at 06:30. On Sundays there is one
late crossing more: it leaves the pier at 22:40. Dogs need a ticket.
"""
PRICES = """Prices of the night ferry
Adults pay 9.50 on board the ferry
Children under six travel free
- a bicycle on the ferry is 3.00
"""
NARROW = """The ferry to the island of
Helgoland (by the new pier
in the west) costs
9.50 on Sundays:
“children pay half.” It is a boat of
Norddeich."""
JAPANESE = """フェリーは毎晩九時に桟橋を出て、翌朝の六時半に
港へ戻ります。犬には切符が必要です。"""


@pytest.mark.parametrize(
    ("text", "question", "sentence"),
    [
        (
            FERRY,
            "When does the late crossing leave on Sundays?",
            "On Sundays there is one late crossing more: it leaves the pier at 22:40.",
        ),
        (PRICES, "What do adults pay on the ferry?", "Adults pay 9.50 on board the ferry"),
        (PRICES, "What does a bicycle cost?", "- a bicycle on the ferry is 3.00"),
        (
            NARROW,
            "What does the ferry cost?",
            "The ferry to the island of Helgoland (by the new pier in the west) costs 9.50 on"
            " Sundays: “children pay half.”",
        ),
        (
            JAPANESE,
            "フェリーは何時に桟橋を出ますか",
            "フェリーは毎晩九時に桟橋を出て、翌朝の六時半に港へ戻ります。",
        ),
    ],
    ids=[
        "wrapped sentence is joined",
        "separate line stays separate",
        "list item stays separate",
        "narrow text is joined before capitals, numbers and brackets",
        "text without spaces gets none",
    ],
)
def test_extracted_sentence_is_quoted_verbatim(text: str, question: str, sentence: str) -> None:
    answer = Extraction(embedder=MiniLM()).of_passages(
        question, [FoundPassage(text=text, source="1")]
    )

    first = answer.removeprefix(NOTICE).partition(" [1]")[0]
    assert first == sentence


def test_without_a_near_sentence_nothing_is_answered_or_cited() -> None:
    extraction = Extraction(embedder=MiniLM())
    question = "Who won the football world cup in 1998?"
    passages = [FoundPassage(text=FERRY, source="1"), FoundPassage(text=PRICES, source="2")]
    prompt = "\n".join(
        f'<result number="{number}">{each.text}</result>'
        for number, each in enumerate(passages, start=1)
    )

    assert extraction.of_passages(question, passages) == NO_ANSWER
    assert extraction.completion(question, prompt) == NO_ANSWER
    assert "late crossing" in extraction.completion("When is the late crossing?", prompt)
