"""
Retrieve's implicitFilterConfiguration, by a stand-in for the model: rule implicit-filter.stand-in.

What AWS's model is shown is the question and the attributes' descriptions, so the stand-in looks
at nothing else: it never sees the documents.
"""

import re
from collections.abc import Iterator
from typing import Any

from bedrock_kb_simulator.filters import Filter
from bedrock_kb_simulator.rules import FILTER_GROUP, IMPLICIT_FILTER_MODEL
from bedrock_kb_simulator.screening import folded, stands_in

# Of a foundation model, or of a profile over regions.
_MODEL = re.compile(r"(?:.*/)?(?:[a-z-]+\.)?anthropic\.claude-[^/]+")
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|(?<!\w)'((?:[^']|'(?=\w))+)'(?!\w)")
_NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:\.\d+)?(?![\w])")
_PART = re.compile(r"[^\W_]+")
_SAYS_YES = frozenset({"is", "has", "are", "can"})


def check(configuration: dict[str, Any]) -> None:
    """Raises ServiceError for a model that makes no filters; all else is the API model's."""
    model = configuration["modelArn"]
    if not _MODEL.fullmatch(model):
        raise IMPLICIT_FILTER_MODEL.broken(model=model)


def implied(configuration: dict[str, Any], question: str) -> Filter | None:
    """The filter that the question means; None if it says nothing of any attribute."""
    asked = folded(question)
    found = [
        _any_of(choices[: FILTER_GROUP.limit])
        for attribute in configuration["metadataAttributes"]
        if (choices := list(_choices(attribute, asked)))
    ][: FILTER_GROUP.limit]
    if len(found) > 1:
        return {"andAll": found}
    return found[0] if found else None


def _choices(attribute: dict[str, Any], asked: str) -> Iterator[Filter]:
    """What the question says of an attribute, each by itself."""
    key, told = attribute["key"], attribute["description"]
    match attribute["type"]:
        case "BOOLEAN":
            words = [each for each in _PART.findall(folded(key)) if each not in _SAYS_YES]
            if words and all(stands_in(each, asked) for each in words):
                yield _is("equals", key, value=True)
        case "NUMBER":
            described = [float(each) for each in _NUMBER.findall(told)]
            for number in dict.fromkeys(float(each) for each in _NUMBER.findall(asked)):
                if described and min(described) <= number <= max(described):
                    yield _is("equals", key, value=number)
        case kind:
            operator = "listContains" if kind == "STRING_LIST" else "equals"
            values = dict.fromkeys("".join(groups) for groups in _QUOTED.findall(told))
            for value in values:
                if stands_in(folded(value), asked):
                    yield _is(operator, key, value=value)


def _any_of(choices: list[Filter]) -> Filter:
    return {"orAll": choices} if len(choices) > 1 else choices[0]


def _is(operator: str, key: str, *, value: object) -> Filter:
    return {operator: {"key": key, "value": value}}
