"""
How high the right passage ranks: by ir-measures, over run files that anyone can score again.

    cd .cache/answers/runs/report; ir_measures qrels.txt s3-vectors-hybrid.txt Success@3 RR

Several passages may hold the answer, for they overlap, and one is enough: recall at k is the share
of the questions with a right one among the first k, which ir-measures calls Success@k.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ir_measures
from ir_measures import RR, Qrel, ScoredDoc, Success

from benchmarks.answers.given import Found, Given
from benchmarks.answers.judging import is_right
from benchmarks.answers.questions import Question

_MEASURES = {"at 1": Success @ 1, "at 3": Success @ 3, "at 5": Success @ 5, "MRR": RR}

GivenBy = Mapping[str, Mapping[str, Given]]  # by way, then by the question's id


@dataclass(frozen=True)
class Ranks:
    """`measures` by name, 0 to 1; `first` is the rank of the first right passage by question."""

    measures: Mapping[str, float]
    first: Mapping[str, int | None]


def ranks(given: Mapping[str, Given], asked: Sequence[Question]) -> Ranks:
    """Of one way, over the questions that have an answer."""
    answerable = [question for question in asked if question.spots]
    first = {each.id: first_right(each, given[each.id].found) for each in answerable}
    figures = ir_measures.calc_aggregate(
        list(_MEASURES.values()), _qrels(answerable, [given]), _run(answerable, given)
    )
    return Ranks(
        measures={name: figures[measure] for name, measure in _MEASURES.items()}, first=first
    )


def first_right(question: Question, found: Sequence[Found]) -> int | None:
    """Counted from 1."""
    return next((rank for rank, each in enumerate(found, 1) if answers(question, each)), None)


def answers(question: Question, found: Found) -> bool:
    return any(is_right(found.text, name, question) for name in (found.document, *found.others))


def write_runs(folder: Path, given: GivenBy, asked: Sequence[Question]) -> None:
    """TREC's formats: a run for each way, one qrels of all passages that any way found right."""
    folder.mkdir(parents=True, exist_ok=True)
    answerable = [question for question in asked if question.spots]
    qrels = _qrels(answerable, list(given.values()))
    (folder / "qrels.txt").write_text(
        "".join(f"{each.query_id} 0 {each.doc_id} {each.relevance}\n" for each in qrels)
    )
    for way, answered in given.items():
        lines = [
            f"{each.query_id} Q0 {each.doc_id} {rank} {each.score:g} {slug(way)}\n"
            for question in answerable
            for rank, each in enumerate(_run([question], answered), start=1)
        ]
        (folder / f"{slug(way)}.txt").write_text("".join(lines))


def slug(way: str) -> str:
    words = "".join(letter if letter.isalnum() else " " for letter in way.lower())
    return "-".join(words.split())


def _qrels(asked: Sequence[Question], given: Sequence[Mapping[str, Given]]) -> list[Qrel]:
    """
    Every passage found that is right; and for each question one that nobody finds, so that a
    question whose answer is never found counts, too.
    """
    right = {
        (question.id, _name(found))
        for answered in given
        for question in asked
        for found in answered[question.id].found
        if answers(question, found)
    }
    right |= {(question.id, f"{question.document}/the-passage") for question in asked}
    return [Qrel(question, name, 1) for question, name in sorted(right)]


def _run(asked: Sequence[Question], given: Mapping[str, Given]) -> list[ScoredDoc]:
    return [
        ScoredDoc(question.id, _name(found), 1 / rank)
        for question in asked
        for rank, found in enumerate(given[question.id].found, start=1)
    ]


def _name(found: Found) -> str:
    digest = hashlib.sha256(found.text.encode()).hexdigest()[:12]
    return f"{found.document or 'nowhere'}/{digest}"
