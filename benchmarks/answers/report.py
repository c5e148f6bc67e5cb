"""The figures as tables: aligned for a terminal, or in Markdown for docs/answers.md."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.answers.asking import AT_ONCE, Asked
from benchmarks.answers.citing import citations
from benchmarks.answers.judging import Pages
from benchmarks.answers.prices import PRICES, dollars_per_thousand
from benchmarks.answers.questions import Question
from benchmarks.answers.ranking import Ranks, ranks
from benchmarks.answers.refusal import MOST_LOST, STEPS, Evidences, by_share, evidences
from benchmarks.answers.ways import ANSWERS, BARE, RANKINGS, SEARCHES
from benchmarks.serving import percentile
from stackroom.ports.retrieval import Search
from stackroom.retrieval.evidence import Calibration

Row = Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One set of the questions, and what every way gave for them."""

    asked: Sequence[Question]
    answered: Asked
    pages: Mapping[str, Pages]
    calibration: Calibration
    vectors: int

    def evidences(self, way: str) -> Evidences:
        return evidences(self.answered.given[way], self.asked, self.calibration)


def tables(subject: Subject, *, tuning: bool) -> Iterator[tuple[str, list[Row]]]:
    """Title and rows, the first row being the heads."""
    yield "The right passage among the first", _ranking(subject)
    yield "Page", _pages(subject)
    yield "Questions that the documents don't answer, by a whole answer", _refusals(subject)
    yield "Evidence, by ranking", _evidence(subject)
    yield "The whole curve: unanswerable refused / answerable lost, by threshold", _curve(subject)
    yield "Milliseconds, and dollars", _costs(subject)
    if tuning:
        yield (
            "Share of meaning in the evidence: AUC, and refused at the most lost",
            _shares(subject),
        )


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
        *(f"{value:.3f}" if name == "MRR" else f"{value:.1%}" for name, value in _items(found)),
        f"{len(missed)}",
        f"{len(missed & before)} of {len(before)}",
    ]


def _items(found: Ranks) -> Sequence[tuple[str, float]]:
    return list(found.measures.items())


def _pages(subject: Subject) -> list[Row]:
    heads = ["way", "passages of PDFs", "with a page", "it has most", "right ones reach the answer"]
    rows: list[Row] = [heads]
    for way in ANSWERS:
        told = citations(subject.answered.given[way], subject.asked, subject.pages)
        rows.append(
            [
                way,
                str(told.passages),
                _share(told.cited, told.passages),
                _share(told.most, told.passages),
                _share(told.reached, told.right),
            ]
        )
    return rows


def _refusals(subject: Subject) -> list[Row]:
    rows: list[Row] = [["way", "refused", "of them near", "of them far", "answerable lost"]]
    for way in ANSWERS:
        refused = {id_ for id_, given in subject.answered.given[way].items() if given.is_refused}
        rows.append(
            [
                way,
                *(
                    _share(len(refused & those), len(those))
                    for those in (
                        _ids(subject.asked, unanswerable=True),
                        _ids(subject.asked, unanswerable=True, kind="near"),
                        _ids(subject.asked, unanswerable=True, kind="far"),
                        _ids(subject.asked, unanswerable=False),
                    )
                ),
            ]
        )
    return rows


def _evidence(subject: Subject) -> list[Row]:
    rows: list[Row] = [
        ["way", "AUC", "threshold", "refused", "lost", f"best at {MOST_LOST:.0%} lost", "refused"]
    ]
    for way in RANKINGS:
        shown = subject.evidences(way)
        least = subject.calibration.least_of([SEARCHES.get(way, _search_of(subject, way))])
        best = shown.best()
        rows.append(
            [
                way,
                f"{shown.auc:.3f}",
                f"{least:.3f}",
                f"{shown.refused(least):.1%}",
                f"{shown.lost(least):.1%}",
                f"{best:.3f}",
                f"{shown.refused(best):.1%}",
            ]
        )
    return rows


def _search_of(subject: Subject, way: str) -> Search:
    """As its answers say."""
    given = next(iter(subject.answered.given[way].values()))
    return given.search or Search.SEMANTIC


def _curve(subject: Subject) -> list[Row]:
    curves = {way: subject.evidences(way) for way in RANKINGS}
    rows: list[Row] = [["threshold", *curves]]
    for step in STEPS:
        points = [(each.refused(step), each.lost(step)) for each in curves.values()]
        if any(refused > 0 for refused, _ in points) and any(lost < 1 for _, lost in points):
            rows.append([f"{step:.2f}", *(f"{one:.0%} / {other:.0%}" for one, other in points)])
    return rows


def _costs(subject: Subject) -> list[Row]:
    texts = [question.question for question in subject.asked]
    rows: list[Row] = [["way", "p50", "p95", f"a second, {AT_ONCE} at once", "$ per 1,000"]]
    for way, seconds in subject.answered.seconds.items():
        rows.append(
            [
                way,
                f"{1_000 * median(seconds):.1f}",
                f"{1_000 * percentile(seconds, 95):.1f}",
                f"{subject.answered.a_second[way]:.0f}",
                f"{dollars_per_thousand(way, texts, subject.vectors):.5f}",
            ]
        )
    return rows


def _shares(subject: Subject) -> list[Row]:
    found = {
        way: by_share(subject.answered.given[way], subject.asked, subject.calibration)
        for way in RANKINGS
    }
    rows: list[Row] = [["share", *found]]
    for share in next(iter(found.values())):
        row = [f"{share:.1f}"]
        for way in found:
            at = found[way][share]
            row.append(f"{at.auc:.3f}  {at.refused(at.best()):.0%} at {at.best():.3f}")
        rows.append(row)
    return rows


def sources() -> list[str]:
    return [f"{what}: {price.source}" for what, price in PRICES.items()]


def aligned(rows: Sequence[Row]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  "
        + row[0].ljust(widths[0])
        + "".join(
            "   " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)
        )
        for row in rows
    )


def markdown(rows: Sequence[Row]) -> str:
    heads, *rest = rows
    rule = ["---", *("--:" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rest))


def _ids(asked: Sequence[Question], *, unanswerable: bool, kind: str | None = None) -> set[str]:
    return {
        each.id
        for each in asked
        if each.unanswerable is unanswerable and (kind is None or each.kind == kind)
    }


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%} ({count} of {total})" if total else "none"
