"""`make bench-answers`; ARGS="--tune" looks at the set to tune on only, "--help" tells the rest."""

import argparse
import logging
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import get_args

from bedrock_kb_simulator.embedding_models import DEFAULT_MODEL, ModelName
from benchmarks.answers.aims import aims
from benchmarks.answers.asking import Asked, ask, ask_alone
from benchmarks.answers.chunk_sizes import chunk_sizes
from benchmarks.answers.citing import paged
from benchmarks.answers.compared import compared
from benchmarks.answers.corpus import CACHE, Document, fetched, pages_of
from benchmarks.answers.examples import chosen, written
from benchmarks.answers.judging import Pages
from benchmarks.answers.layout import Row, aligned, markdown
from benchmarks.answers.library import library
from benchmarks.answers.prices import BILLED
from benchmarks.answers.questions import Question, problems, questions, shared
from benchmarks.answers.ranking import write_runs
from benchmarks.answers.report import tables
from benchmarks.answers.stores import stores
from benchmarks.answers.subject import Subject
from benchmarks.answers.ways import as_function, calibration, default, place_maps, vectors_of
from benchmarks.serving import NotMeasured, measure, print_machine
from stackroom.quota.prices import PRICES
from stackroom_local.state import Instance

RUNS = CACHE / "runs"


def main() -> None:
    options = _options()
    documents = fetched()
    asked = questions()
    _check(asked, documents)
    if options.check:
        return
    if options.share > 1:
        documents, asked = shared(documents, asked, options.share)
    sets = ["tune"] if options.tune else ["tune", "report"]
    if options.ten:
        sets = ["report"]
    of_set = {name: [each for each in asked if each.set == name] for name in sets}
    print_machine()
    name = "library" if options.share == 1 else f"library-{options.share}"
    with library(documents, name=name, model=options.model) as instance, as_function(instance):
        logging.disable(logging.WARNING)  # the functions' own lines are not of this report
        pages, weighing, vectors = paged(documents), calibration(), vectors_of(instance)
        print(f"searched: {_described(documents)}, {vectors:,} passages\n", flush=True)
        if options.stores or options.chunks:
            _compare(options, instance, of_set, pages)
            return
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
    print("Prices:", *(f"{what}: {PRICES[what].source}" for what in BILLED), sep="\n  ")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-answers", description=__doc__)
    parser.add_argument("--tune", action="store_true", help="the set to tune on, no other")
    parser.add_argument("--check", action="store_true", help="only whether the quotes are there")
    parser.add_argument("--ten", action="store_true", help="ten questions in full, as Markdown")
    parser.add_argument("--markdown", action="store_true", help="the tables as Markdown")
    parser.add_argument("--stores", action="store_true", help="the same passages in every store")
    parser.add_argument("--chunks", type=_sizes, help="other sizes of chunks: 150,300,600")
    parser.add_argument("--share", type=int, default=1, help="every nth document alone")
    parser.add_argument("--model", choices=get_args(ModelName), default=DEFAULT_MODEL)
    options = parser.parse_args()
    if options.share < 1:
        parser.error(f"--share {options.share}: allowed: 1, and more")
    return options


def _sizes(text: str) -> list[int]:
    sizes = [int(part) for part in text.split(",")]
    if not sizes or min(sizes) < 1:
        raise ValueError(text)
    return sizes


def _compare(
    options: argparse.Namespace,
    instance: Instance,
    of_set: Mapping[str, Sequence[Question]],
    pages: Mapping[str, Pages],
) -> None:
    """Other ways to keep the same documents, asked alike."""
    with ExitStack() as stack:
        kept = chunk_sizes(instance, options.chunks) if options.chunks else []
        if options.stores:
            kept += stack.enter_context(stores(instance))
        for name, those in of_set.items():
            print(f"set {name!r}: {len(those)} questions to each of {len(kept)}\n", flush=True)
            tables = compared(kept, those, pages=pages, place_maps=place_maps())
            _print_tables(tables, as_markdown=options.markdown)


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
    _print_tables(measured, as_markdown=as_markdown)


def _print_tables(found: Iterable[tuple[str, list[Row]]], *, as_markdown: bool) -> None:
    for title, rows in found:
        print(f"{'### ' if as_markdown else ''}{title}\n")
        print(f"{markdown(rows) if as_markdown else aligned(rows)}\n", flush=True)


def _print_ten(asked: Sequence[Question], answered: Asked) -> None:
    print("\n".join(written(chosen(asked), answered.given, default())))


if __name__ == "__main__":
    measure(main)
