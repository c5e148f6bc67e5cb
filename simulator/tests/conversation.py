"""Requests to Converse and its relatives, and what comes back."""

from collections.abc import Mapping
from typing import Any

from simulator.tests.world import HAIKU

QUESTION = "Which city has hills?"
IMAGE = {"image": {"format": "png", "source": {"bytes": b"png"}}}
PROMPT_ARN = "arn:aws:bedrock:us-east-1:123456789012:prompt/ABCDEFGHIJ:1"
PROMPT = """\
Answer from these.
<passage number="1">
Bonn lies at a river called Rhine.
</passage>
<passage number="2">
Rome has seven hills. The head of marketing earns 120,000 a year.
</passage>
Name the numbers in brackets."""


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"text": text} for text in texts]}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"text": text}]}


def request(question: str = QUESTION, **more: Any) -> dict[str, Any]:
    asked = {"modelId": HAIKU, "system": [{"text": PROMPT}], "messages": [user(question)]}
    return {**asked, **more}


def answer_text(answer: dict[str, Any]) -> str:
    [block] = answer["output"]["message"]["content"]
    return str(block["text"])


ASKS = user("How often is the pump greased?")
USE = {"toolUseId": "a", "name": "search", "input": {}}
OBJECT = {"type": "object", "properties": {"query": {"type": "string"}}}


def tool(name: str = "search", schema: object = OBJECT) -> dict[str, Any]:
    return {"toolSpec": {"name": name, "inputSchema": {"json": schema}}}


def offered(*tools: Mapping[str, Any], choice: object = None) -> dict[str, Any]:
    return {"tools": tools, **({"toolChoice": choice} if choice else {})}


def uses(*ids: str, given: object = None) -> dict[str, Any]:
    return turn(
        "assistant",
        *({"toolUse": {"toolUseId": each, "name": "search", "input": given or {}}} for each in ids),
    )


def results(*ids: str, **more: Any) -> dict[str, Any]:
    made = {"content": [{"text": "Every 200 hours."}], **more}
    return turn("user", *({"toolResult": {"toolUseId": each, **made}} for each in ids))


def turn(role: str, *blocks: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": blocks}
