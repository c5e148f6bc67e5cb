"""
A model that needs no provider: it plays a script of tool calls, in a tool loop that is real.

A script is a generator. It yields calls, gets the text of each result, and returns what the model
says at the end. What a call needs to know of an earlier one, it reads in that text, as a model
does: results have metadata too, which a script never sees.
"""

import json
import re
import uuid
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from strands.models import Model
from strands.types.content import Message, Messages
from strands.types.streaming import StreamEvent
from strands.types.tools import ToolSpec

# From the first wait to the longest, each twice the one before: every call of a tool goes deeper
# into Strands' event loop, which ends at Python's recursion limit.
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 8.0
_MOST_POLLS = 60


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: object

    def tool_among(self, offered: Sequence[str]) -> str:
        """An MCP gateway puts its target's name before a tool's."""
        for name in offered:
            if name.rpartition("___")[2] == self.tool:
                return name
        raise LookupError(f"{self.tool} is not offered, only {', '.join(offered)}")


Script: TypeAlias = Generator[Call, str, str]


def store_and_ask(catalog: str, file: Path, question: str) -> Script:
    """A catalog, a file in it, a question about it; what is there from the last time is used."""
    text = yield Call("create_catalog", {"catalog_name": catalog})
    if "already exists" in text:
        text = yield Call("list_catalogs", {})
        text = text.partition(f"**{catalog}**")[2]
    catalog_id = _first(r"cat-\w+", text)
    content = yield Call("read_file", {"path": str(file)})
    upload = {"catalog_id": catalog_id, "filename": file.name, "file_content": content}
    text = yield Call("upload_to_catalog", upload)
    if "replace=true" in text:
        text = yield Call("upload_to_catalog", {**upload, "replace": True})
    _first(r"doc-\w+", text)
    for poll in range(_MOST_POLLS):
        text = yield Call("get_indexing_status", {"catalog_id": catalog_id})
        overall = _first(r"\*\*Overall\*\*: (\w+)", text)
        if overall != "indexing":
            break
        yield Call("wait", {"seconds": min(_LONGEST_WAIT, _FIRST_WAIT * 2**poll)})
    if overall != "ready":
        return f"The file is not indexed:\n{text}"
    yield Call("select_catalog", {"catalog_id": catalog_id})
    return (yield Call("query_catalog", {"query": question}))


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise LookupError(f"no {pattern} in: {text}")
    return found[found.re.groups]


class ScriptedModel(Model):
    def __init__(self, script: Script) -> None:
        self._script = script
        self._has_begun = False

    async def stream(
        self, messages: Messages, tool_specs: list[ToolSpec] | None = None, *_: Any, **__: Any
    ) -> AsyncIterator[StreamEvent]:
        offered = [each["name"] for each in tool_specs or ()]
        yield {"messageStart": {"role": "assistant"}}
        try:
            call = self._next(messages[-1])
        except StopIteration as end:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": str(end.value)}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        use = {"name": call.tool_among(offered), "toolUseId": uuid.uuid4().hex}
        # Strands' type of a start demands a member that its own models leave out.
        yield {"contentBlockStart": {"start": {"toolUse": use}}}  # type: ignore[typeddict-item]
        given = json.dumps(call.arguments)
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": given}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}

    def _next(self, message: Message) -> Call:
        if self._has_begun:
            return self._script.send(text_of(message))
        self._has_begun = True
        return next(self._script)

    # Abstract in Model, for agents that are asked for an object; this one is asked for an answer.
    async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[dict[str, Any]]:  # type: ignore[override]
        raise NotImplementedError("a script answers in text; it makes no objects")
        yield {}

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "scripted"}

    def update_config(self, **model_config: Any) -> None:
        """There is nothing to configure."""


def text_of(message: Message) -> str:
    """What a message's tool results say."""
    results = [block["toolResult"] for block in message["content"] if "toolResult" in block]
    return "\n".join(
        said(str(part["text"])) for each in results for part in each["content"] if "text" in part
    )


def said(text: str) -> str:
    """An MCP gateway sends a function's whole answer as JSON; of a catalog tool's, the text."""
    try:
        answer = json.loads(text)
    except ValueError:
        return text
    if isinstance(answer, Mapping) and isinstance(answer.get("content"), list):
        return "\n".join(str(part["text"]) for part in answer["content"])
    return text
