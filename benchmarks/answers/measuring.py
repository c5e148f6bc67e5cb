"""Asks every question of a set in both ways, and records the outcomes."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.answers.sets import Asked, Judge, MeasuredSet
from benchmarks.answers.ways import Given, Way
from stackroom.search.excerpts import estimated_tokens

AT = (1, 3, 5, 10)
PLAIN, TOOL = "plain Retrieve", "Stackroom"
_UNMEASURED = 5  # questions that warm up connections, place maps and first calls


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """
    The outcome of one question asked in one way.

    For an answerable question, `found` has the share of the answer in the first passages, by AT,
    and `is_first` tells if the first passage has a part of it. `tokens` are those of the first
    five passages, because longer passages find more. `milliseconds` is None if the time is
    meaningless.
    """

    question: str
    way: str
    found: tuple[float, ...] = ()
    is_first: bool = False
    files: tuple[str, ...]
    tokens: int
    relevance: str | None
    is_without_sources: bool = False
    milliseconds: float | None = None

    @property
    def is_answerable(self) -> bool:
        return bool(self.found)


def outcomes(
    measured: MeasuredSet, *, plain: Way, tool: Way, tool_without: Callable[[frozenset[str]], Way]
) -> Iterator[Outcome]:
    """
    Ask each question in both ways, in turns. The tool is asked answerable ones once more without
    their source documents, unless the set has no others.
    """
    ways = {PLAIN: plain, TOOL: tool}
    for number, asked in enumerate(measured.asked):
        turns = list(ways) if number % 2 else list(reversed(ways))
        for name in turns:
            began = time.perf_counter()
            given = ways[name](asked.question)
            took = (time.perf_counter() - began) * 1_000
            yield _outcome(asked, name, given, took if number >= _UNMEASURED else None)
        if asked.judge is not None and asked.sources < measured.files.keys():
            given = tool_without(asked.sources)(asked.question)
            yield Outcome(
                question=asked.question,
                way=TOOL,
                files=_files(given),
                tokens=_tokens(given),
                relevance=given.relevance,
                is_without_sources=True,
            )


def _outcome(asked: Asked, way: str, given: Given, milliseconds: float | None) -> Outcome:
    found = () if asked.judge is None else _found(asked.judge, given)
    return Outcome(
        question=asked.question,
        way=way,
        found=found,
        is_first=bool(found) and found[0] > 0,
        files=_files(given),
        tokens=_tokens(given),
        relevance=given.relevance,
        milliseconds=milliseconds,
    )


def _found(judge: Judge, given: Given) -> tuple[float, ...]:
    return tuple(judge(given.shown[:count]) for count in AT)


def _files(given: Given) -> tuple[str, ...]:
    return tuple(each.file for each in given.shown)


def _tokens(given: Given) -> int:
    return sum(estimated_tokens(each.text) for each in given.shown[:5])


def of_way(found: Sequence[Outcome], way: str) -> list[Outcome]:
    """Return the outcomes of the answerable questions."""
    return [each for each in found if each.way == way and each.is_answerable]
