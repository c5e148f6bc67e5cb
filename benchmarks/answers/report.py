"""The figures of every way, as tables."""

from collections.abc import Iterator

from benchmarks.answers.asking import AT_ONCE
from benchmarks.answers.citing import citations
from benchmarks.answers.layout import Row, share
from benchmarks.answers.prices import dollars_per_thousand
from benchmarks.answers.ranking import Ranks, ranks
from benchmarks.answers.refusal import STEPS
from benchmarks.answers.subject import Subject
from benchmarks.answers.ways import ANSWERS, BARE, RANKINGS
from benchmarks.serving import percentile
from stackroom_evaluation.least_score import MOST_LOST


def tables(subject: Subject) -> Iterator[tuple[str, list[Row]]]:
    """Title and rows, the first row being the heads."""
    yield "The right passage among the first", _ranking(subject)
    yield "By language, the documents being of the same", _languages(subject)
    yield "Page", _pages(subject)
    yield "Questions that the documents don't answer, by a whole answer", _refusals(subject)
    yield "A shelf of one document: its own questions, and another document's", _alone(subject)
    yield "Best scores, by ranking", _evidence(subject)
    yield "The whole curve: unanswerable refused / answerable lost, by least", _curve(subject)
    yield "Milliseconds, and dollars", _costs(subject)


def _ranking(subject: Subject) -> list[Row]:
    found = {way: ranks(given, subject.asked) for way, given in subject.answered.given.items()}
    heads = [
        "way",
        *next(iter(found.values())).measures,
        "misses at 3",
        "of those of bare Retrieve",
    ]
    return [heads, *(_ranked(way, each, found[BARE]) for way, each in found.items())]


def _ranked(way: str, found: Ranks, bare: Ranks) -> Row:
    missed = {question for question, rank in found.first.items() if rank is None or rank > 3}
    before = {question for question, rank in bare.first.items() if rank is None or rank > 3}
    return [
        way,
        *(
            f"{value:.3f}" if name == "MRR" else f"{value:.1%}"
            for name, value in found.measures.items()
        ),
        f"{len(missed)}",
        f"{len(missed & before)} of {len(before)}",
    ]


def _languages(subject: Subject) -> list[Row]:
    rows: list[Row] = [["way", "language", "at 1", "at 3", "MRR", "refused", "answerable lost"]]
    for way in ANSWERS:
        refused = subject.refused(way)
        for language in dict.fromkeys(each.language for each in subject.asked):
            asked = [each for each in subject.asked if each.language == language]
            if not any(each.spots for each in asked):
                continue
            found = ranks(subject.answered.given[way], asked).measures
            without = {each.id for each in asked if each.unanswerable}
            answerable = {each.id for each in asked} - without
            rows.append(
                [
                    way,
                    language,
                    f"{found['at 1']:.1%}",
                    f"{found['at 3']:.1%}",
                    f"{found['MRR']:.3f}",
                    share(len(refused & without), len(without)),
                    share(len(refused & answerable), len(answerable)),
                ]
            )
    return rows


def _pages(subject: Subject) -> list[Row]:
    heads = ["way", "passages of PDFs", "with a page", "it has most", "right ones reach the answer"]
    rows: list[Row] = [heads]
    for way in ANSWERS:
        told = citations(subject.answered.given[way], subject.asked, subject.pages)
        rows.append(
            [
                way,
                str(told.passages),
                share(told.cited, told.passages),
                share(told.most, told.passages),
                share(told.reached, told.right),
            ]
        )
    return rows


def _refusals(subject: Subject) -> list[Row]:
    rows: list[Row] = [["way", "refused", "of them near", "of them far", "answerable lost"]]
    for way in ANSWERS:
        refused = subject.refused(way)
        rows.append(
            [
                way,
                *(
                    share(len(refused & those), len(those))
                    for those in (
                        subject.ids(unanswerable=True),
                        subject.ids(unanswerable=True, kind="near"),
                        subject.ids(unanswerable=True, kind="far"),
                        subject.ids(unanswerable=False),
                    )
                ),
            ]
        )
    return rows


def _alone(subject: Subject) -> list[Row]:
    shelves = subject.alone.values()
    lost = sum(each.is_own_refused for each in shelves)
    refused = sum(each.is_other_refused for each in shelves)
    heads = ["way", "its own lost", "another's refused"]
    return [heads, [subject.default, share(lost, len(shelves)), share(refused, len(shelves))]]


def _evidence(subject: Subject) -> list[Row]:
    heads = ["way", "AUC", "least", "refused", "lost"]
    unmeasured = ["by words alone, refused", "lost"]
    rows: list[Row] = [[*heads, f"best least at {MOST_LOST:.0%} lost", "refused", *unmeasured]]
    for way in RANKINGS:
        shown = subject.evidences[way]
        rows.append(
            [
                way,
                f"{shown.auc:.3f}",
                f"{subject.calibration.least.get(shown.search, 0.0):.3f}",
                f"{shown.refused(subject.calibration):.1%}",
                f"{shown.lost(subject.calibration):.1%}",
                f"{shown.best:.3f}",
                f"{shown.refused(shown.at(shown.best)):.1%}",
                *(f"{share:.1%}" for share in shown.by_words),
            ]
        )
    return rows


def _curve(subject: Subject) -> list[Row]:
    rows: list[Row] = [["least", *RANKINGS]]
    before: list[str] = []
    for step in STEPS:
        cells = [_point(subject, way, step) for way in RANKINGS]
        if cells != before:
            rows.append([f"{step:.2f}", *cells])
        before = cells
    return rows


def _point(subject: Subject, way: str, least: float) -> str:
    shown = subject.evidences[way]
    calibration = shown.at(least)
    return f"{shown.refused(calibration):.0%} / {shown.lost(calibration):.0%}"


def _costs(subject: Subject) -> list[Row]:
    texts = [question.question for question in subject.asked]
    rows: list[Row] = [["way", "p50", "p95", f"a second, {AT_ONCE} at once", "$ per 1,000"]]
    for way, seconds in subject.answered.seconds.items():
        rows.append(
            [
                way,
                f"{subject.p50(way):.1f}",
                f"{1_000 * percentile(seconds, 95):.1f}",
                f"{subject.answered.a_second[way]:.0f}" if subject.answered.a_second else "",
                f"{dollars_per_thousand(way, texts, subject.vectors):.5f}",
            ]
        )
    return rows
