"""
Two runs in pairs, question by question: what differs, and whether that is more than chance.

With thirty questions most differences are noise, and it is said of each. `chance` is how often a
difference as large would come of tossing a coin for each question: a paired permutation test,
which for right and wrong alone is McNemar's. The interval is the bootstrap's over the questions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stackroom_evaluation.evaluation import MEASURES, Evaluation
from stackroom_evaluation.question_file import EvaluationError

NOISE = 0.05  # a difference that chance makes more often than this is called noise
_DRAWS, _AT_ONCE = 10_000, 500
_ALL_SIGNS = 13  # questions that differ, up to which every toss is tried
_SEED = 1  # the same runs differ by the same figures, whenever they are compared

_Numbers = npt.NDArray[np.float64]
_Values = Mapping[str, Mapping[str, float]]  # by measure and question


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """Of one measure, over the `questions` that both runs have; `low` to `high` with 95 %."""

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
class RunsCompared:
    """`alone` are questions that only one of the runs has, with that answer."""

    differences: tuple[PairedDifference, ...]
    alone: int


def compared(before: Evaluation, after: Evaluation) -> RunsCompared:
    """All measures but the time, which a machine's other work decides."""
    one, other = ({each.id for each in run.outcomes} for run in (before, after))
    if not one & other:
        raise EvaluationError("the two runs have no question in common, asked for the same answer")
    return RunsCompared(
        differences=tuple(_paired(before.values(), after.values())), alone=len(one ^ other)
    )


def compared_with_plain(evaluation: Evaluation) -> tuple[PairedDifference, ...]:
    """Of one run: `before` is plain Retrieve, `after` the tool; nothing if it was not asked."""
    if not evaluation.is_beside_plain:
        return ()
    return tuple(_paired(evaluation.plain_values(), evaluation.values()))


def _paired(before: _Values, after: _Values) -> Iterator[PairedDifference]:
    for measure in MEASURES:
        ours, theirs = after.get(measure, {}), before.get(measure, {})
        both = sorted(ours.keys() & theirs.keys())
        if measure == "p50" or not both:
            continue
        now = np.array([ours[each] for each in both])
        then = np.array([theirs[each] for each in both])
        low, high = _interval(now - then)
        yield PairedDifference(
            measure=measure,
            questions=len(both),
            before=float(then.mean()),
            after=float(now.mean()),
            low=low,
            high=high,
            chance=chance(now - then),
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
    """How often tossing a coin for each question makes a sum as far from zero."""
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
    """Whether the sum is as far from zero as the one that was seen."""
    seen = abs(differing.sum())
    return np.asarray(abs(signs @ differing) >= seen - 1e-9)
