"""What is too little to be an answer."""

import pytest

from stackroom.ports.retrieval import Search
from stackroom.retrieval.calibrations import CALIBRATIONS, Calibration

CALIBRATION = Calibration(least={Search.HYBRID: 0.4, Search.RANKED: 0.3})


@pytest.mark.parametrize(
    ("best", "searches", "is_answered"),
    [
        (0.4, [Search.HYBRID], True),
        (0.39, [Search.HYBRID], False),
        (0.39, [Search.HYBRID, Search.RANKED], True),
        (0.29, [Search.HYBRID, Search.RANKED], False),
        (0.0, [Search.TEXT], True),
        (None, [Search.HYBRID], True),
    ],
)
def test_a_question_is_held_to_the_lowest_bar_of_the_ways_it_was_searched(
    best: float | None, searches: list[Search], is_answered: bool
) -> None:
    assert CALIBRATION.is_answered(best, searches) is is_answered


def test_a_bar_that_whoever_deploys_sets_holds_for_every_way() -> None:
    calibration = Calibration.of(0.6)

    for search in Search:
        assert calibration.is_answered(0.6, [search])
        assert not calibration.is_answered(0.59, [search])


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_a_store_that_only_scores_is_on_a_scale_of_its_own(name: str) -> None:
    assert CALIBRATIONS[name].is_answered(0.01, [Search.SEMANTIC])
