"""`make bench-answers`; ARGS="--tune" looks at the set to tune on only, "--help" tells the rest."""

import argparse
import logging
import sys
from collections.abc import Sequence

from benchmarks.answers.aims import aims
from benchmarks.answers.asking import Asked, ask, ask_alone
from benchmarks.answers.citing import paged
from benchmarks.answers.corpus import CACHE, Document, fetched, pages_of
from benchmarks.answers.examples import chosen, written
from benchmarks.answers.layout import aligned, markdown
from benchmarks.answers.library import library
from benchmarks.answers.prices import PRICES
from benchmarks.answers.questions import Question, problems, questions
from benchmarks.answers.ranking import write_runs
from benchmarks.answers.report import tables
from benchmarks.answers.subject import Subject
from benchmarks.answers.ways import as_function, calibration, default, vectors_of
from benchmarks.serving import NotMeasured, measure, print_machine

RUNS = CACHE / "runs"


def main() -> None:
    options = _options()
    documents = fetched()
    asked = questions()
    _check(asked, documents)
    if options.check:
        return
    sets = ["tune"] if options.tune else ["tune", "report"]
    if options.ten:
        sets = ["report"]
    of_set = {name: [each for each in asked if each.set == name] for name in sets}
    print_machine()
    with library(documents) as instance, as_function(instance):
        logging.disable(logging.WARNING)  # the functions' own lines are not of this report
        pages, weighing, vectors = paged(documents), calibration(), vectors_of(instance)
        print(f"searched: {_described(documents)}, {vectors:,} passages\n", flush=True)
        for name, those in of_set.items():
            answered = ask(those, at_once=not (options.tune or options.ten))
            write_runs(RUNS / name, answered.given, those)
            if options.ten:
                _print_ten(those, answered)
                continue
            subject = Subject(
                asked=those,
                answered=answered,
                pages=pages,
                alone=ask_alone(those, [each.name for each in documents]),
                calibration=weighing,
                vectors=vectors,
                default=default(),
            )
            _print(name, subject, as_markdown=options.markdown)
    print("Prices:", *(f"{what}: {price.source}" for what, price in PRICES.items()), sep="\n  ")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-answers", description=__doc__)
    parser.add_argument("--tune", action="store_true", help="the set to tune on, no other")
    parser.add_argument("--check", action="store_true", help="only whether the quotes are there")
    parser.add_argument("--ten", action="store_true", help="ten questions in full, as Markdown")
    parser.add_argument("--markdown", action="store_true", help="the tables as Markdown")
    return parser.parse_args()


def _check(asked: Sequence[Question], documents: Sequence[Document]) -> None:
    found = list(problems(asked, documents))
    if found:
        print("\n".join(found), file=sys.stderr)
        raise NotMeasured(f"{len(found)} questions and their documents disagree")
    answerable = sum(not each.unanswerable for each in asked)
    print(f"{answerable} questions with known passages, {len(asked) - answerable} without answers")


def _described(documents: Sequence[Document]) -> str:
    pages = sum(page.number is not None for each in documents for page in pages_of(each))
    return f"{len(documents)} documents with {pages:,} PDF pages"


def _print(name: str, subject: Subject, *, as_markdown: bool) -> None:
    unanswerable = sum(each.unanswerable for each in subject.asked)
    count = f"{len(subject.asked) - unanswerable} questions, {unanswerable} unanswerable"
    print(f"{'## ' if as_markdown else '== '}set {name!r}: {count}\n")
    tuning = name == "tune"
    measured = list(tables(subject))
    if not tuning:
        measured.append((f"Aims, of the default ({subject.default})", aims(subject)))
    for title, rows in measured:
        print(f"{'### ' if as_markdown else ''}{title}\n")
        print(f"{markdown(rows) if as_markdown else aligned(rows)}\n", flush=True)


def _print_ten(asked: Sequence[Question], answered: Asked) -> None:
    print("\n".join(written(chosen(asked), answered.given, default())))


if __name__ == "__main__":
    measure(main)
