"""Every way asked every question, and how long that takes."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.answers.given import Given, Way
from benchmarks.answers.questions import Question
from benchmarks.answers.ways import shelf, ways

AT_ONCE = 8  # agents, for the questions a second
_UNMEASURED = 5  # for connections, place maps, and the first call of everything


@dataclass(frozen=True, kw_only=True)
class Asked:
    """By way: what it gave by the question's id, how long each took, and how many a second."""

    given: Mapping[str, Mapping[str, Given]]
    seconds: Mapping[str, Sequence[float]]
    a_second: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Alone:
    """
    A question to a shelf of one document, by the caller's filter: the one that answers, another.

    The other one is the next by name that doesn't answer it.
    """

    is_own_refused: bool
    is_other_refused: bool


def ask_alone(questions: Sequence[Question], documents: Sequence[str]) -> dict[str, Alone]:
    """`documents` are file names; the way is the default one of whole answers."""
    is_refused = shelf()
    asked: dict[str, Alone] = {}
    for question in questions:
        if question.unanswerable:
            continue
        own = next(each for each in documents if Path(each).stem == question.document)
        after = documents.index(own) + 1
        others = [*documents[after:], *documents[:after]]
        other = next(
            each for each in others if Path(each).stem not in {spot.file for spot in question.spots}
        )
        asked[question.id] = Alone(
            is_own_refused=is_refused(own, question.question),
            is_other_refused=is_refused(other, question.question),
        )
    return asked


def ask(questions: Sequence[Question], *, at_once: bool) -> Asked:
    """One by one, the ways in turns; and then each way by several agents `at_once`, if asked to."""
    print(f"asking {len(questions)} questions each way", flush=True)
    given, seconds = one_by_one(ways(), questions)
    # Made anew: an agent's question is a new one, as a rule, and its vector not kept yet.
    again = ways() if at_once else {}
    a_second = {name: _at_once(way, questions) for name, way in again.items()}
    return Asked(given=given, seconds=seconds, a_second=a_second)


def one_by_one(
    asked: Mapping[str, Way], questions: Sequence[Question]
) -> tuple[dict[str, dict[str, Given]], dict[str, list[float]]]:
    """What each way gave by the question's id, and how many seconds each of them took."""
    names = list(asked)
    given: dict[str, dict[str, Given]] = {name: {} for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number, question in enumerate(questions):
        turn = number % len(names)  # no way always comes first
        for name in (*names[turn:], *names[:turn]):
            began = time.perf_counter()
            given[name][question.id] = asked[name](question.question)
            if number >= _UNMEASURED:
                seconds[name].append(time.perf_counter() - began)
    return given, seconds


def _at_once(way: Way, questions: Sequence[Question]) -> float:
    texts = [question.question for question in questions]
    began = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as agents:
        for _ in agents.map(way, texts):
            pass
    return len(texts) / (time.perf_counter() - began)
