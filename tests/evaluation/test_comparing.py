"""Tests of the paired comparison of two runs."""

import pytest

from stackroom_evaluation.comparing import PairedDifference, compare
from stackroom_evaluation.evaluation import Evaluation
from stackroom_evaluation.question_file import EvaluationError, KnownQuestion
from tests.evaluation.answering import evaluated, passage


def a_run(right: set[int], *, of: int, file: str = "a.md") -> Evaluation:
    """Return a run in which these questions are answered by the right file."""
    return evaluated(
        {
            KnownQuestion(question=f"question {each}?", file=file): [
                passage("text", file if each in right else "b.md")
            ]
            for each in range(of)
        }
    )


def of_top1(before: Evaluation, after: Evaluation) -> PairedDifference:
    return next(each for each in compare(before, after).differences if each.measure == "top1")


@pytest.mark.parametrize(
    ("more", "of", "chance", "is_noise"),
    [
        (0, 32, 1.0, True),
        (5, 32, 2 / 2**5, True),
        (6, 32, 2 / 2**6, False),  # McNemar's exact test, without a change the other way
    ],
)
def test_small_differences_are_noise(more: int, of: int, chance: float, is_noise: bool) -> None:
    found = of_top1(a_run(set(range(10)), of=of), a_run(set(range(10 + more)), of=of))

    assert found.difference == pytest.approx(more / of)
    assert found.chance == pytest.approx(chance, abs=0.001)
    assert found.is_noise is is_noise
    assert found.low <= found.difference <= found.high


def test_gains_and_losses_are_set_against_each_other() -> None:
    found = of_top1(a_run({0, 1, 2}, of=12), a_run({2, 3, 4, 5, 6}, of=12))

    # Two lost, four won: the value of scipy's binomtest(2, 6).
    assert found.chance == pytest.approx(0.6875)
    assert found.low < 0 < found.high


def test_chance_of_many_changes_is_drawn_as_the_exact_test_has_it() -> None:
    before, after = a_run(set(range(8)), of=40), a_run(set(range(8, 24)), of=40)

    # Eight lost, sixteen won: the value of scipy's binomtest(8, 24).
    assert of_top1(before, after).chance == pytest.approx(0.1516, abs=0.01)


def test_only_questions_with_the_same_answer_in_both_runs_are_compared() -> None:
    before = a_run({0}, of=8)

    assert compare(before, a_run({0, 1}, of=10)).alone == 2
    with pytest.raises(EvaluationError, match="no question in common"):
        compare(before, a_run({0}, of=8, file="c.md"))
