"""Citations of an answer, in AWS's form: which part of it rests on which passages."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bedrock_kb_simulator.metadata import OF_VECTOR, OwnKeys
from bedrock_kb_simulator.retrieval import reference
from bedrock_kb_simulator.vectors import Hit

# [1], or [1, 3], with the spaces before it, and no link of Markdown.
_MARK = re.compile(r"[ \t]*\[(\d{1,3}(?:[ \t]*,[ \t]*\d{1,3})*)\](?!\()")
_CLOSING = ".,;:!?…)\"'"  # belongs to the part whose mark it follows


def citation(
    text: str, start: int, hits: Sequence[Hit], *, own: OwnKeys = OF_VECTOR
) -> dict[str, Any]:
    """Of `text`, which begins at `start` of the answer."""
    # AWS's spans end with the last character, inclusively.
    span = {"start": start, "end": start + len(text) - 1}
    return {
        "generatedResponsePart": {"textResponsePart": {"text": text, "span": span}},
        "retrievedReferences": [reference(hit, own) for hit in hits],
    }


def cited(
    answer: str, hits: Sequence[Hit], *, own: OwnKeys = OF_VECTOR
) -> tuple[str, list[dict[str, Any]]]:
    """
    The answer without its marks, and a citation for each part that ends with some, as rule
    generate.citations says.

    A mark is the number of a passage, counted from 1; a number that no passage has is text.
    """
    text, marks = _unmarked(answer.strip(), len(hits))
    citations = []
    for start, end, numbers in _parts(text, marks):
        named = [hits[number - 1] for number in dict.fromkeys(numbers)]
        citations.append(citation(text[start:end], start, named, own=own))
    return text, citations


def _unmarked(answer: str, count: int) -> tuple[str, dict[int, list[int]]]:
    """The text, and the numbers by the place in it where their marks stood."""
    text, at = "", 0
    marks: dict[int, list[int]] = {}
    for match in _MARK.finditer(answer):
        numbers = [int(number) for number in match[1].split(",")]
        if all(1 <= number <= count for number in numbers):
            text, at = (text + answer[at : match.start()]).lstrip(), match.end()
            marks.setdefault(len(text), []).extend(numbers)
    return (text + answer[at:]).lstrip(), marks


def _parts(text: str, marks: dict[int, list[int]]) -> Iterator[tuple[int, int, list[int]]]:
    """Where each part begins and ends, and its numbers; a mark at the very beginning has none."""
    start = 0
    for place, numbers in marks.items():
        end = place
        while end < len(text) and text[end] in _CLOSING:
            end += 1
        while start < end and text[start].isspace():
            start += 1
        if start < end:
            yield start, end, numbers
            start = end
