"""
A stand-in for a language model: it searches if it can, extracts an answer and says so.

It uses the first offered tool whose input needs only a text `query`, once for a question, with the
question itself. It extracts the answer from what the tool found, or from passages in the prompt.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.conversation_parts import (
    Conversation,
    Reply,
    Text,
    Tool,
    ToolResult,
    ToolUse,
    use_id,
)
from bedrock_kb_simulator.embedder import Embedder

# Passages in the result of a search tool, with their sources.
#
# Three forms are read: numbered sources with quoted passages, as `retrieve_from_knowledge_base`
# returns them in an agent's process; JSON with a gateway tool's `results` or Bedrock's
# `retrievalResults`; any other text is one passage.

_SOURCE = re.compile(r"\d+\. (?P<source>.+?)(?:, score -?[\d.]+)?")
_QUOTE = "> "
_RESULTS = ("results", "retrievalResults")
_NAMES = ("filename", "title", "name", "uri", "url", "document_id")


@dataclass(frozen=True, kw_only=True)
class FoundPassage:
    """A passage in a tool's result; `pages` is the number of pages it spans, if known."""

    text: str
    source: str = ""
    pages: int = 1
    is_error: bool = False


def passages_of(result: str) -> list[FoundPassage]:
    """Return the passages of a result in order, without empty ones."""
    found = _of_json(result)
    if found is None:
        is_error = result.startswith("Error: ")
        found = list(_of_quotes(result)) or [FoundPassage(text=result, is_error=is_error)]
    return [passage for passage in found if passage.text.strip()]


def _of_quotes(result: str) -> Iterator[FoundPassage]:
    source, quoted = "", list[str]()
    for line in [*result.splitlines(), ""]:
        if line.startswith(_QUOTE.rstrip()):
            quoted.append(line.removeprefix(_QUOTE.rstrip()).strip())
            continue
        if quoted and source:
            yield FoundPassage(text="\n".join(quoted), source=source)
        if quoted:
            source, quoted = "", []
        if match := _SOURCE.fullmatch(line):
            source = match["source"]


def _of_json(result: str) -> list[FoundPassage] | None:
    """Return the passages in a JSON object, or None for other text."""
    try:
        body = json.loads(result)
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    for name in _RESULTS:
        if isinstance(body.get(name), list) and not body.get("error"):
            return [_passage(each) for each in body[name] if isinstance(each, Mapping)]
    error = body.get("message") if body.get("error") is True else body.get("error")
    return [FoundPassage(text=str(error or result), is_error=bool(error))]


def _passage(result: Mapping[str, Any]) -> FoundPassage:
    content = result.get("content", result.get("text", ""))
    text = content.get("text", "") if isinstance(content, Mapping) else content
    source = result.get("source", result.get("location", ""))
    first, last = _ends(source) or (1, 1)
    named = _number(result.get("metadata")) or _source_name(source)
    return FoundPassage(text=str(text), source=named, pages=last - first + 1)


def _number(metadata: Any) -> str:
    """Return the citation number of a result, or an empty string."""
    number = metadata.get("citation") if isinstance(metadata, Mapping) else None
    return str(number) if isinstance(number, int) else ""


def _source_name(source: Any) -> str:
    if not isinstance(source, Mapping):
        return str(source)
    for name in _NAMES:
        if source.get(name):
            return f"{source[name]}{_page_suffix(source)}"
    inner = next((each for each in source.values() if isinstance(each, Mapping)), None)
    return _source_name(inner) if inner else ""


def _page_suffix(source: Mapping[str, Any]) -> str:
    if ends := _ends(source):
        return f" (pages {ends[0]} to {ends[1]})"
    page = source.get("page")
    return f" (page {page})" if page is not None else ""


def _ends(source: Any) -> tuple[int, int] | None:
    """Return a passage's first and last page, if its result has two."""
    if not isinstance(source, Mapping):
        return None
    first, last = source.get("page_first"), source.get("page_last")
    if isinstance(first, int) and isinstance(last, int) and first < last:
        return first, last
    return None


# An answer by extraction, where no language model is configured.
#
# It quotes and cites the sentences of the passages nearest to the question; if none is near enough,
# it says that nothing answers.

NOTICE = "Extracted, not generated (no language model runs here): "
NO_ANSWER = f"{NOTICE}nothing that was found answers the question."

# The least similarity of question and sentence for an answer.
# Chosen on English and German questions of published sets (Chroma's chunking_evaluation, XQuAD) and
# the same ones with their source documents left out. With all-MiniLM-L6-v2 it loses 2 to 4 % of the
# answerable and refuses a third (German) to two thirds (English) of the others; with
# multilingual-e5-small it loses up to 2 % and refuses 80 to 90 %.
_ENOUGH = 0.42

# Passages that a caller has numbered, whatever the tags' name.
_NUMBERED = re.compile(r'<([\w-]+) number="(\d{1,4})">\s*(.*?)\s*</\1>', re.DOTALL)
# A full stop within a word ends none: 3.5 bar, manual.pdf.
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?]+[\"'”’»)\]]*(?=\s)|[。！？]+[」』）]*|$)", re.MULTILINE)
_ENDED = re.compile(r"[.!?:。！？][\"'”’»)\]」』）]*$")
# The beginning of a line that continues the one before; a list item begins otherwise.
_CONTINUES = re.compile(r"(?!\w{1,3}[.)]\s)[(\[\"'“„‘«「『（<$€£~]*\w")
_UNSPACED = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")  # no spaces between words
_SENTENCES = 3
_CANDIDATES = 24  # sentences compared with the question, which bounds the time
_PASSAGES = 8  # of a tool's result, best first
_COMPARED = 48  # sentences of all of those together
_NEAR = 0.5  # share of the best sentence's score; others are about something else
_WRAPPED = 60  # characters: a line this long continues in the next
_FULL = 0.8  # share of the longest line: in narrower text, wrapped lines are about as long
_SHORTEST = 20  # characters; a shorter one is a heading or a fragment


@dataclass(frozen=True, kw_only=True)
class Extraction:
    embedder: Embedder

    def completion(self, question: str, prompt: str) -> str:
        """Answer from numbered passages in a prompt, with citations."""
        passages = _numbered_in(prompt)
        if not passages:
            return f"{NOTICE}there are no passages to take an answer from."
        nearest = self._nearest(question, [text for _, text in passages])
        if not nearest:
            return NO_ANSWER
        return NOTICE + " ".join(f"{text} [{passages[place][0]}]" for text, place in nearest)

    def of_passages(self, question: str, passages: Sequence[FoundPassage]) -> str:
        """
        Answer from passages of search results.

        Each source gives its sentence nearest to the question, if near enough, so that none crowds
        out the others; a single source gives several.
        """
        if passages and all(each.is_error for each in passages):
            return NOTICE + passages[0].text
        sources = _sources_by_sentence(question, passages[:_PASSAGES])
        if not sources:
            return f"{NOTICE}nothing was found."
        found: dict[str, list[tuple[float, str]]] = {}
        scored = self._score(question, list(sources))
        if not scored:
            return NO_ANSWER
        for score, sentence in scored:
            found.setdefault(sources[sentence].source, []).append((score, sentence))
        each = 1 if len(found) > 1 else _SENTENCES
        ranked = sorted(
            ((*best, place) for place, nearest in found.items() for best in nearest[:each]),
            reverse=True,
        )
        least = ranked[0][0] * _NEAR
        chosen = [near for near in ranked[:_SENTENCES] if near[0] >= least]
        return NOTICE + " ".join(f"{text} [{at}]" if at else text for _, text, at in chosen)

    def _nearest(self, question: str, texts: Sequence[str]) -> list[tuple[str, int]]:
        """Return the nearest sentences, each once, with the position of its passage."""
        sentences: dict[str, int] = {}
        for place, text in enumerate(texts):
            for sentence in _whole_sentences(text):
                sentences.setdefault(sentence, place)
        scored = self._score(question, _likeliest(question, list(sentences), _CANDIDATES))
        return [(sentence, sentences[sentence]) for _, sentence in scored[:_SENTENCES]]

    def _score(self, question: str, sentences: Sequence[str]) -> list[tuple[float, str]]:
        """Return scored sentences, nearest first, or none if the nearest is no answer."""
        query = self.embedder.embed_question(question)
        scored = [(float(self.embedder.embed(each) @ query), each) for each in sentences]
        nearest = sorted(scored, reverse=True)
        return nearest if nearest and nearest[0][0] >= _ENOUGH else []


def _numbered_in(prompt: str) -> list[tuple[int, str]]:
    """Return the numbered passages in a prompt."""
    found = _NUMBERED.finditer(prompt)
    return [(int(each[2]), html.unescape(each[3])) for each in found if each[3]]


def _sources_by_sentence(
    question: str, passages: Sequence[FoundPassage]
) -> dict[str, FoundPassage]:
    """
    Return the likeliest sentences of the passages, each once, with the passage to cite.

    If several passages have a sentence, the one over the fewest pages is cited, then the first.
    """
    sources: dict[str, FoundPassage] = {}
    for passage in sorted(passages, key=lambda each: each.pages):
        sentences = _whole_sentences(passage.text)
        for sentence in _likeliest(question, sentences, _COMPARED // len(passages)):
            sources.setdefault(sentence, passage)
    is_part = {one for one in sources for other in sources if one != other and one in other}
    return {each: passage for each, passage in sources.items() if each not in is_part}


def _whole_sentences(text: str) -> list[str]:
    """Return the sentences of a text, or the whole text if it has none."""
    return _sentences(text) or [" ".join(text.split())]


def _sentences(text: str) -> list[str]:
    sentences = (" ".join(match[0].split()) for match in _SENTENCE.finditer(_unwrap(text)))
    return [each for each in sentences if len(each) >= _SHORTEST and not each.startswith("#")]


def _unwrap(text: str) -> str:
    """
    Return the text with each wrapped sentence in one line.

    Headings and list items end with their line.
    """
    lines = [line.strip() for line in text.splitlines()]
    blocks = (_join_lines(list(block)) for is_text, block in groupby(lines, key=bool) if is_text)
    return "\n".join(chain.from_iterable(blocks))


def _join_lines(block: Sequence[str]) -> list[str]:
    """Join the wrapped lines of a block without empty lines."""
    longest = max(map(len, block))
    is_prose = _ENDED.search(block[-1]) is not None or any(line[0].islower() for line in block)
    joined = [block[0]]
    for before, line in pairwise(block):
        first = line[0] if _UNSPACED.match(line) else line.split()[0]
        is_full = is_prose and len(before) + len(first) >= _FULL * longest
        if _continues(before, line, is_full=is_full or len(joined[-1]) >= _WRAPPED):
            is_spaced = not (_UNSPACED.match(before[-1]) and _UNSPACED.match(line))
            joined[-1] += f" {line}" if is_spaced else line
        else:
            joined.append(line)
    return joined


def _continues(before: str, line: str, *, is_full: bool) -> bool:
    """Return True if `line` continues `before`; `is_full` if `before` is as long as it can be."""
    begins = _CONTINUES.match(line)
    if begins is None or before.startswith("#"):
        return False
    begins_small = begins[0][-1].islower()
    if _ENDED.search(before):
        return before.endswith(":") and begins_small and is_full
    return before.endswith((",", "、")) or begins_small or is_full


def _likeliest(question: str, sentences: Sequence[str], limit: int) -> list[str]:
    """Return the sentences with most of the question's words; ties keep their order."""
    question_words = set(_words(question))
    best = sorted(sentences, key=lambda each: -len(question_words.intersection(_words(each))))
    return best[:limit]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


_QUERY = "query"


@dataclass(frozen=True, kw_only=True)
class StandIn:
    extraction: Extraction

    def reply(self, conversation: Conversation) -> Reply:
        """Return the next turn. Raises ServiceError for a required tool that it can't use."""
        offer, results = conversation.offer, _results(conversation)
        searches = [tool for tool in offer.tools if _is_search(tool)]
        if offer.must_use:
            fitting = [tool for tool in searches if offer.demanded in ("", tool.name)]
            if not fitting:
                raise rules.NOT_SIMULATED.broken(
                    what="uses of tools but searches by toolChoice, without a script or a model"
                )
            return _search(conversation, fitting[0])
        if not results and searches and conversation.question:
            return _search(conversation, searches[0])
        question = conversation.question
        if results:
            text = self.extraction.of_passages(question, [*_passages_in(results)])
        else:
            text = self.extraction.completion(question, conversation.read)
        return Reply(blocks=[Text(text=text)], stop="end_turn")


def _results(conversation: Conversation) -> list[ToolResult]:
    """Return the tool results since the user's last question."""
    results: list[ToolResult] = []
    for turn in reversed(conversation.turns):
        results = [*turn.results, *results]
        if turn.role == "user" and turn.text:
            break
    return results


def _passages_in(results: Sequence[ToolResult]) -> Iterator[FoundPassage]:
    for result in results:
        for part in result.parts:
            yield from passages_of(part.text)


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
