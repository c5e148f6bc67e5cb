"""What is too little to be an answer."""

import pytest

from stackroom.ports.retrieval import Search
from stackroom.retrieval.calibrations import CALIBRATIONS, Calibration

CALIBRATION = Calibration(
    least={Search.HYBRID: 0.4, Search.RANKED: 0.3}, most_missing={Search.HYBRID: 0.3}
)


@pytest.mark.parametrize(
    ("best", "missing", "searches", "is_answered"),
    [
        (0.4, 0.3, [Search.HYBRID], True),
        (0.39, 0.3, [Search.HYBRID], False),
        (0.4, 0.31, [Search.HYBRID], False),
        (0.39, 0.31, [Search.HYBRID, Search.RANKED], True),
        (0.29, 0, [Search.HYBRID, Search.RANKED], False),
        (0.0, 1, [Search.TEXT], True),
        (None, 1, [Search.HYBRID], True),
        (0.5, 0, [], True),
    ],
)
def test_a_question_is_answered_by_the_lowest_bar_of_the_ways_it_was_searched(
    best: float | None, missing: float, searches: list[Search], is_answered: bool
) -> None:
    assert CALIBRATION.is_answered(best, missing=missing, searches=searches) is is_answered


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_a_passage_that_is_all_the_question_says_is_an_answer_to_each(name: str) -> None:
    for search in Search:
        assert CALIBRATIONS[name].is_answered(0.9, missing=0.1, searches=[search])


def test_what_nobody_has_measured_holds_nothing_back() -> None:
    assert CALIBRATIONS["none"].is_answered(0.0, missing=1, searches=[Search.HYBRID])
