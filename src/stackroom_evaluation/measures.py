"""
The rank of the right passage, by ir-measures, in run files that anyone can score again.

    cd DIR; ir_measures qrels.txt run.txt Success@3 RR

Several passages may contain the answer, because they overlap, and one is enough: recall at k is the
share of questions with a right passage among the first k, which ir-measures calls Success@k.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import ir_measures
from ir_measures import RR, Qrel, ScoredDoc, Success

from stackroom_evaluation.judging import Shown
from stackroom_evaluation.question_file import replace

QRELS = "qrels.txt"
_MEASURES = {
    "at 1": Success @ 1,
    "at 3": Success @ 3,
    "at 5": Success @ 5,
    "at 10": Success @ 10,
    "MRR": RR,
}


class Ranked(NamedTuple):
    """A ranked passage, with a name without spaces, as the file formats require."""

    name: str
    is_right: bool


# The shown passages by the id of an answerable question, best first.
Rankings = Mapping[str, Sequence[Ranked]]


def name_of(shown: Shown) -> str:
    digest = hashlib.sha256(shown.text.encode()).hexdigest()[:12]
    return f"{quote(shown.file, safe='') or 'nowhere'}/{digest}"


def values_by_question(rankings: Rankings) -> dict[str, dict[str, float]]:
    """Return `at 1` to `at 10` and `MRR`, 0 to 1, by measure and question id."""
    names = {measure: name for name, measure in _MEASURES.items()}
    found: dict[str, dict[str, float]] = {name: {} for name in _MEASURES}
    for each in ir_measures.iter_calc(_MEASURES.values(), _qrels([rankings]), _run(rankings)):
        found[names[each.measure]][each.query_id] = each.value
    return found


def write_runs(folder: Path, runs: Mapping[str, Rankings]) -> None:
    """
    Write TREC's formats: a file for each run by its name, and one qrels with all right passages.
    """
    folder.mkdir(parents=True, exist_ok=True)
    qrels = "".join(
        f"{each.query_id} 0 {each.doc_id} {each.relevance}\n" for each in _qrels(runs.values())
    )
    replace(folder / QRELS, qrels.encode())
    for name, rankings in runs.items():
        lines = [
            f"{question} Q0 {each.name} {rank} {1 / rank:g} {name}\n"
            for question, passages in rankings.items()
            for rank, each in enumerate(passages, start=1)
        ]
        replace(folder / f"{name}.txt", "".join(lines).encode())


def _qrels(runs: Iterable[Rankings]) -> list[Qrel]:
    """
    Return every right passage, and one per question that nobody finds.

    With the latter, questions whose answer is never found count, too.
    """
    runs = list(runs)
    right = {
        (question, each.name)
        for rankings in runs
        for question, passages in rankings.items()
        for each in passages
        if each.is_right
    }
    right |= {(question, "the-passage") for rankings in runs for question in rankings}
    return [Qrel(question, name, 1) for question, name in sorted(right)]


def _run(rankings: Rankings) -> list[ScoredDoc]:
    return [
        ScoredDoc(question, each.name, 1 / rank)
        for question, passages in rankings.items()
        for rank, each in enumerate(passages, start=1)
    ]
