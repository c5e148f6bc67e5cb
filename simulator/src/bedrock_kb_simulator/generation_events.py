"""An answer of RetrieveAndGenerate as RetrieveAndGenerateStream tells it: the same, in events."""

from collections.abc import Iterator
from typing import Any

from bedrock_kb_simulator.response_events import pieces

Event = dict[str, Any]


def events_of(answer: dict[str, Any]) -> Iterator[Event]:
    """Rule generate.stream."""
    text, told = answer["output"]["text"], 0
    for citation in answer["citations"]:
        end = citation["generatedResponsePart"]["textResponsePart"]["span"]["end"] + 1
        yield from _outputs(text[told:end])
        yield {"citation": {**citation, "citation": citation}}
        told = end
    yield from _outputs(text[told:])
    if action := answer.get("guardrailAction"):
        yield {"guardrail": {"action": action}}


def _outputs(text: str) -> Iterator[Event]:
    for piece in pieces(text):
        yield {"output": {"text": piece}}
