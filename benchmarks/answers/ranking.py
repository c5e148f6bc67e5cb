"""
How high the right passage ranks, by the measures that everybody has (stackroom_evaluation).

    cd .cache/answers/runs/report; ir_measures qrels.txt s3-vectors-hybrid.txt Success@3 RR
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.answers.given import Given
from benchmarks.answers.questions import Question
from stackroom_evaluation import measures
from stackroom_evaluation.judging import first_right
from stackroom_evaluation.measures import Rankings, measured, ranked

GivenBy = Mapping[str, Mapping[str, Given]]  # by way, then by the question's id


@dataclass(frozen=True)
class Ranks:
    """`measures` by name, 0 to 1; `first` is the rank of the first right passage by question."""

    measures: Mapping[str, float]
    first: Mapping[str, int | None]


def ranks(given: Mapping[str, Given], asked: Sequence[Question]) -> Ranks:
    """Of one way, over the questions that have an answer."""
    first = {each.id: first_right(each.spots, given[each.id].found) for each in asked if each.spots}
    return Ranks(measures=measured(_rankings(given, asked)), first=first)


def write_runs(folder: Path, given: GivenBy, asked: Sequence[Question]) -> None:
    """TREC's formats: a run for each way, one qrels of all passages that any way found right."""
    measures.write_runs(
        folder, {slug(way): _rankings(answered, asked) for way, answered in given.items()}
    )


def slug(way: str) -> str:
    words = "".join(letter if letter.isalnum() else " " for letter in way.lower())
    return "-".join(words.split())


def _rankings(given: Mapping[str, Given], asked: Sequence[Question]) -> Rankings:
    return {each.id: ranked(given[each.id].found, each.spots) for each in asked if each.spots}
