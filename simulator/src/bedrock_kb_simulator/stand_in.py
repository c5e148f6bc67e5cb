"""
What a model says where there is none: it searches if it can, extracts, says so, invents nothing.

Of the tools that are offered it uses one, once for a question, with the question as it stands: the
first whose input needs nothing but a text `query`. The answer is made of what that found, or of
the passages and documents that the conversation has itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bedrock_kb_simulator.extraction import Extraction
from bedrock_kb_simulator.found import Passage, passages_of
from bedrock_kb_simulator.messages import (
    Conversation,
    Document,
    Reply,
    Text,
    Tool,
    ToolResult,
    ToolUse,
    use_id,
)
from bedrock_kb_simulator.rules import NOT_SIMULATED

_QUERY = "query"


@dataclass(frozen=True, kw_only=True)
class StandIn:
    extraction: Extraction

    def reply(self, conversation: Conversation) -> Reply:
        """Raises ServiceError where a tool is demanded that it can't use."""
        offer, results = conversation.offer, _results(conversation)
        searches = [tool for tool in offer.tools if _is_search(tool)]
        if offer.must_use:
            fitting = [tool for tool in searches if offer.demanded in ("", tool.name)]
            if not fitting:
                raise NOT_SIMULATED.broken(
                    what="uses of tools but searches by toolChoice, without a script or a model"
                )
            return _search(conversation, fitting[0])
        if not results and searches and conversation.question:
            return _search(conversation, searches[0])
        documents = [document for turn in conversation.turns for document in turn.documents]
        if results or documents:
            return self._extracted(conversation.question, [*_found(results), *_read(documents)])
        text = self.extraction.completion(conversation.question, conversation.read)
        return Reply(blocks=[Text(text=text)], stop="end_turn")

    def _extracted(self, question: str, found: Sequence[Passage]) -> Reply:
        text = self.extraction.of_passages(question, found)
        return Reply(blocks=[Text(text=text)], stop="end_turn")


def _results(conversation: Conversation) -> list[ToolResult]:
    """Those that the model has got since the user's last question."""
    results: list[ToolResult] = []
    for turn in reversed(conversation.turns):
        results = [*turn.results, *results]
        if turn.role == "user" and turn.text:
            break
    return results


def _found(results: Sequence[ToolResult]) -> Iterator[Passage]:
    for result in results:
        for part in result.parts:
            if isinstance(part, Text):
                yield from passages_of(part.text)


def _read(documents: Sequence[Document]) -> Iterator[Passage]:
    for document in documents:
        if document.text.strip():
            yield Passage(text=document.text, source=document.name)


def _is_search(tool: Tool) -> bool:
    properties = tool.schema.get("properties")
    described = properties.get(_QUERY) if isinstance(properties, dict) else None
    is_text = isinstance(described, dict) and described.get("type") == "string"
    return is_text and set(tool.schema.get("required") or ()) <= {_QUERY}


def _search(conversation: Conversation, tool: Tool) -> Reply:
    longest = tool.schema["properties"][_QUERY].get("maxLength")
    query = conversation.question.strip()
    given = {_QUERY: query[:longest] if isinstance(longest, int) else query}
    identifier = use_id(conversation, 0, tool.name, given)
    return Reply(blocks=[ToolUse(id=identifier, name=tool.name, input=given)], stop="tool_use")
