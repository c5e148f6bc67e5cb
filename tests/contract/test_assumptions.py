"""Assumptions about AWS: each mark in the code has a row, and each row a step to settle it."""

import re

import pytest

from docs.fidelity import ROOT, marks
from stackroom_cli.smoke.assumptions import ASSUMPTIONS, Assumption
from stackroom_cli.smoke.smoke_run import STEPS


def test_marks_and_rows_are_of_the_same_assumptions() -> None:
    assert set(marks()) == set(ASSUMPTIONS)


@pytest.mark.parametrize("each", ASSUMPTIONS.values(), ids=ASSUMPTIONS)
def test_a_row_is_whole_dated_and_settled_by_a_step(each: Assumption) -> None:
    assert all(vars(each).values())
    assert re.search(r"\b20\d\d-\d\d\b", each.evidence), "when was it seen or read?"
    assert each.step in {step.name for step in STEPS}
    for path in re.findall(r"\bsrc/\S+?\.py\b", each.do):
        assert (ROOT / path).exists(), path
