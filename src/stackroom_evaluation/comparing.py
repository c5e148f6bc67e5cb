"""
Paired comparison of two runs, question by question, with the significance of differences.

With thirty questions most differences are noise, so each has a p value (`chance`): the probability
of a difference as large if the sign of each question's difference were random. It is that of a
paired permutation test, which for binary outcomes is McNemar's. The confidence interval is a
bootstrap over the questions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stackroom_evaluation.evaluation import MEASURES, Evaluation
from stackroom_evaluation.question_file import EvaluationError

NOISE = 0.05  # differences with a larger p value are called noise
_DRAWS, _AT_ONCE = 10_000, 500
_ALL_SIGNS = 13  # with up to so many differing questions, all sign combinations are tried
_SEED = 1  # makes the figures of a comparison reproducible

_Numbers = npt.NDArray[np.float64]
_Values = Mapping[str, Mapping[str, float]]  # by measure and question


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """
    The difference in one measure over `questions` of both runs, with its 95 % confidence interval.
    """

    measure: str
    questions: int
    before: float
    after: float
    low: float
    high: float
    chance: float

    @property
    def is_noise(self) -> bool:
        return self.chance > NOISE

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """The differences between two runs; `alone` counts questions that only one of them has."""

    differences: tuple[PairedDifference, ...]
    alone: int


def compare(before: Evaluation, after: Evaluation) -> RunComparison:
    """Compare all measures but the time, which depends on the machine's other work."""
    one, other = ({each.id for each in run.outcomes} for run in (before, after))
    if not one & other:
        raise EvaluationError("the two runs have no question in common, asked for the same answer")
    return RunComparison(
        differences=tuple(_paired_differences(before.values(), after.values())),
        alone=len(one ^ other),
    )


def compare_with_plain(evaluation: Evaluation) -> tuple[PairedDifference, ...]:
    """
    Compare plain Retrieve (`before`) with the tool (`after`) in one run; empty without Retrieve.
    """
    if not evaluation.has_plain_ranks:
        return ()
    return tuple(_paired_differences(evaluation.plain_values(), evaluation.values()))


def _paired_differences(before: _Values, after: _Values) -> Iterator[PairedDifference]:
    for measure in MEASURES:
        ours, theirs = after.get(measure, {}), before.get(measure, {})
        both = sorted(ours.keys() & theirs.keys())
        if measure == "p50" or not both:
            continue
        new = np.array([ours[each] for each in both])
        old = np.array([theirs[each] for each in both])
        low, high = _interval(new - old)
        yield PairedDifference(
            measure=measure,
            questions=len(both),
            before=float(old.mean()),
            after=float(new.mean()),
            low=low,
            high=high,
            chance=chance(new - old),
        )


def _interval(differences: _Numbers) -> tuple[float, float]:
    random = np.random.default_rng(_SEED)
    means = [
        random.choice(differences, (_AT_ONCE, len(differences))).mean(axis=1)
        for _ in range(_DRAWS // _AT_ONCE)
    ]
    low, high = np.percentile(np.concatenate(means), [2.5, 97.5])
    return float(low), float(high)


def chance(differences: Sequence[float] | _Numbers) -> float:
    """Return the p value: how often random signs make a sum as far from zero."""
    differing = np.asarray(differences, np.float64)
    differing = differing[differing != 0]
    count = len(differing)
    if count <= _ALL_SIGNS:
        signs = (np.arange(2**count)[:, None] >> np.arange(count) & 1) * 2 - 1
        return float(_as_far(signs, differing).mean())
    random = np.random.default_rng(_SEED)
    tosses = (random.choice([-1, 1], (_AT_ONCE, count)) for _ in range(_DRAWS // _AT_ONCE))
    found = sum(int(_as_far(signs, differing).sum()) for signs in tosses)
    return (found + 1) / (_DRAWS + 1)


def _as_far(signs: npt.NDArray[np.int_], differing: _Numbers) -> npt.NDArray[np.bool_]:
    """Return True for sums that are as far from zero as the observed one."""
    seen = abs(differing.sum())
    return np.asarray(abs(signs @ differing) >= seen - 1e-9)
