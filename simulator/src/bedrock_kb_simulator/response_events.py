"""An answer of Converse as ConverseStream tells it: the same, in events."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

_PIECE = (
    40  # characters; AWS's pieces are a few tokens each, and nothing may rest on where they end
)


def events_of(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Rule converse.stream."""
    message = answer["output"]["message"]
    yield {"messageStart": {"role": message["role"]}}
    for index, block in enumerate(message["content"]):
        yield from _block(block, index)
    yield {"messageStop": {"stopReason": answer["stopReason"]}}
    told = {name: answer[name] for name in ("usage", "metrics", "trace") if name in answer}
    yield {"metadata": told}


def _block(block: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    """A text has no event for its start; an input is JSON that is whole with its last piece."""
    place = {"contentBlockIndex": index}
    if "toolUse" in block:
        use = block["toolUse"]
        named = {"toolUseId": use["toolUseId"], "name": use["name"]}
        yield {"contentBlockStart": {"start": {"toolUse": named}, **place}}
        for piece in pieces(json.dumps(use["input"])):
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": piece}}, **place}}
    else:
        for piece in pieces(block["text"]):
            yield {"contentBlockDelta": {"delta": {"text": piece}, **place}}
    yield {"contentBlockStop": place}


def pieces(text: str) -> Sequence[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
