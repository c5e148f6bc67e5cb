"""Tables of the figures of all sets, with tests of significance."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median

from benchmarks.answers.measuring import AT, PLAIN, TOOL, Outcome, of_way
from benchmarks.layout import Row
from stackroom_evaluation.comparing import NOISE, chance

# Keys are names of sets.
Outcomes = Mapping[str, Sequence[Outcome]]


def figures(found: Outcomes, groups: Mapping[str, str]) -> list[Row]:
    """Return the table; in the mean, the sets of a group count as one (`groups` are by set)."""
    heads = ["set", "way", *(f"first {count}" for count in AT), "a first is right", "got nothing"]
    rows: list[Row] = [
        [
            *heads,
            "answerable weak",
            "weak without sources",
            "unanswerable weak",
            "tokens in 5",
            "p50 ms",
        ]
    ]
    by_way: dict[str, dict[str, list[list[float | None]]]] = {
        way: defaultdict(list) for way in (PLAIN, TOOL)
    }
    for name, outcomes in found.items():
        for way in (PLAIN, TOOL):
            of_one = of_way(outcomes, way)
            shares = [*_found(of_one), *_weak(outcomes, way)]
            by_way[way][groups[name]].append(shares)
            nothing = f"{sum(not each.files for each in of_one)} of {len(of_one)}"
            tokens = f"{fmean(each.tokens for each in of_one):.0f}"
            rows.append([name, way, *_cells(shares, nothing), tokens, _p50(outcomes, way)])
    for way, by_group in by_way.items():
        means = _means([_means(group) for group in by_group.values()])
        rows.append(["mean of sets", way, *_cells(means, ""), "", ""])
    return rows


def _found(outcomes: Sequence[Outcome]) -> list[float | None]:
    found = [fmean(each.found[at] for each in outcomes) for at in range(len(AT))]
    return [*found, fmean(each.is_first for each in outcomes)]


def _weak(outcomes: Sequence[Outcome], way: str) -> list[float | None]:
    """
    Return the shares of weak answers: of answerable questions, of the same questions without the
    documents that answer them, and of unanswerable ones.
    """
    if way == PLAIN:
        return [None, None, None]
    asked = [each for each in outcomes if each.way == way]
    without = [each for each in asked if each.is_without_sources]
    others = [each for each in asked if not each.is_answerable and not each.is_without_sources]
    return [
        _mean([float(each.relevance != "strong" or not each.files) for each in those])
        for those in (of_way(outcomes, way), without, others)
    ]


def _cells(shares: Sequence[float | None], nothing: str) -> list[str]:
    cells = ["" if share is None else f"{share:.1%}" for share in shares]
    ranks = len(AT) + 1
    return [*cells[:ranks], nothing, *cells[ranks:]]


def _means(rows: Sequence[Sequence[float | None]]) -> list[float | None]:
    return [_mean(column) for column in zip(*rows, strict=True)]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return fmean(known) if known else None


def _p50(outcomes: Sequence[Outcome], way: str) -> str:
    took = [each.milliseconds for each in of_way(outcomes, way) if each.milliseconds is not None]
    return f"{median(took):.1f}" if took else ""


def differences(found: Outcomes) -> list[Row]:
    """Return a row for each set: how much more the tool finds than plain Retrieve, and p."""
    rows: list[Row] = [["set", *(f"first {count}" for count in AT), "a first is right"]]
    for name, outcomes in found.items():
        rows.append([name, *(f"{more:+.1f}, p {p:.3f}" for more, p in _paired(outcomes))])
    return rows


def losses(found: Outcomes) -> list[str]:
    """Name where plain Retrieve finds more, by more than one question or by more than chance."""
    columns = [*(f"first {count}" for count in AT), "a first is right"]
    return [
        f"{name}, {column}: by {-more:.1f} questions, p {p:.3f}"
        for name, outcomes in found.items()
        for column, (more, p) in zip(columns, _paired(outcomes), strict=True)
        if more < -1 or (more < 0 and p <= NOISE)
    ]


def _paired(outcomes: Sequence[Outcome]) -> Iterator[tuple[float, float]]:
    pairs = list(zip(of_way(outcomes, PLAIN), of_way(outcomes, TOOL), strict=True))
    assert all(one.question == other.question for one, other in pairs), "both were asked in turns"
    for at in range(len(AT)):
        gains = [other.found[at] - one.found[at] for one, other in pairs]
        yield sum(gains), chance(gains)
    gains = [float(other.is_first) - float(one.is_first) for one, other in pairs]
    yield sum(gains), chance(gains)
