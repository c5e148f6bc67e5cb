"""
What a search tool found, read out of its result: passages, each with where it stands.

Known are the results of `retrieve_from_knowledge_base` in an agent's process, which are numbered
sources with quoted passages; JSON with `results` as a gateway's tool answers it, or Bedrock's
`retrievalResults`; and any other text, which is one passage.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_SOURCE = re.compile(r"\d+\. (?P<source>.+?)(?:, score -?[\d.]+)?")
_QUOTE = "> "
_RESULTS = ("results", "retrievalResults")
_NAMES = ("filename", "title", "name", "uri", "url", "document_id")


@dataclass(frozen=True, kw_only=True)
class Passage:
    """`pages` is over how many it goes, as far as its result tells."""

    text: str
    source: str = ""
    pages: int = 1


def passages_of(result: str) -> list[Passage]:
    """In the order of the result; those without text are left out."""
    found = _of_json(result)
    if found is None:
        found = list(_of_quotes(result)) or [Passage(text=result)]
    return [passage for passage in found if passage.text.strip()]


def _of_quotes(result: str) -> Iterator[Passage]:
    source, quoted = "", list[str]()
    for line in [*result.splitlines(), ""]:
        if line.startswith(_QUOTE.rstrip()):
            quoted.append(line.removeprefix(_QUOTE.rstrip()).strip())
            continue
        if quoted and source:
            yield Passage(text="\n".join(quoted), source=source)
        if quoted:
            source, quoted = "", []
        if match := _SOURCE.fullmatch(line):
            source = match["source"]


def _of_json(result: str) -> list[Passage] | None:
    """None for what is no JSON object; one without results speaks for itself."""
    try:
        body = json.loads(result)
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    for name in _RESULTS:
        if isinstance(body.get(name), list) and not body.get("error"):
            return [_passage(each) for each in body[name] if isinstance(each, Mapping)]
    return [Passage(text=str(body.get("error") or result))]


def _passage(result: Mapping[str, Any]) -> Passage:
    content = result.get("content", result.get("text", ""))
    text = content.get("text", "") if isinstance(content, Mapping) else content
    source = result.get("source", result.get("location", ""))
    first, last = _ends(source) or (1, 1)
    return Passage(text=str(text), source=_named(source), pages=last - first + 1)


def _named(source: Any) -> str:
    if not isinstance(source, Mapping):
        return str(source)
    for name in _NAMES:
        if source.get(name):
            return f"{source[name]}{_paged(source)}"
    inner = next((each for each in source.values() if isinstance(each, Mapping)), None)
    return _named(inner) if inner else ""


def _paged(source: Mapping[str, Any]) -> str:
    if ends := _ends(source):
        return f" (pages {ends[0]} to {ends[1]})"
    page = source.get("page")
    return f" (page {page})" if page is not None else ""


def _ends(source: Any) -> tuple[int, int] | None:
    """The pages where a passage begins and ends, if its result tells of two."""
    if not isinstance(source, Mapping):
        return None
    first, last = source.get("page_first"), source.get("page_last")
    if isinstance(first, int) and isinstance(last, int) and first < last:
        return first, last
    return None
