"""The marks by which a model cites, `[1]` or `[1, 3]`, taken out of what it wrote."""

import re
from collections.abc import Iterator

from stackroom.retrieval.cited_answers import Mark

# With the spaces before it; what a parenthesis follows is a link of Markdown.
_MARK = re.compile(r"[ \t]*\[([0-9]{1,3}(?:[ \t]*[,;][ \t]*[0-9]{1,3})*)\](?!\()")
_NUMBER = re.compile(r"[0-9]+")
_CLOSING = ".,;:!?…。！？)\"'”’»"  # belongs to the sentence whose mark it follows


def unmarked(answer: str, count: int) -> tuple[str, tuple[Mark, ...]]:
    """
    The answer without its marks, and where they stood; `count` passages may be cited.

    A number that no passage has is text, and so is what stands beside it in the same brackets. A
    mark in front of everything is for nothing.
    """
    text, places = _taken_out(answer.strip(), count)
    return text, tuple(_marks(text, places))


def _taken_out(answer: str, count: int) -> tuple[str, dict[int, list[int]]]:
    """The text, and the numbers by the place in it where their marks stood."""
    text, at = "", 0
    places: dict[int, list[int]] = {}
    for match in _MARK.finditer(answer):
        numbers = [int(number) for number in _NUMBER.findall(match[1])]
        if not all(1 <= number <= count for number in numbers):
            continue
        between = answer[at : match.start()]
        is_of_one_list = len(text) in places and between.strip(" \t") in {",", ";"}
        text += "" if is_of_one_list else between
        text = text.lstrip()  # behind a mark in front of everything
        places.setdefault(len(text), []).extend(numbers)
        at = match.end()
    return (text + answer[at:]).lstrip(), places


def _marks(text: str, places: dict[int, list[int]]) -> Iterator[Mark]:
    """A full stop that follows a mark is before it, so that each stands behind its sentence."""
    for place, numbers in places.items():
        end = place
        while end < len(text) and text[end] in _CLOSING:
            end += 1
        if text[:end].strip():
            yield Mark(end=end, numbers=tuple(dict.fromkeys(numbers)))
