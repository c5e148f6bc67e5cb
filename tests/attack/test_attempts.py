"""A sample of `make attack`, in the local mode that all end-to-end tests share."""

from collections.abc import Iterator

import pytest

from stackroom_local.state import Instance
from tests.attack.campaign import attempts, run
from tests.attack.stage import TOOLS, Stage, staged

SEED = 9


@pytest.fixture(scope="module")
def stage(instance: Instance) -> Iterator[Stage]:
    cast = {"victim": ("ida", "harbour"), "attacker": ("kim", "sea")}
    with staged(instance, SEED, **cast) as found:
        yield found


def test_no_attempt_of_a_sample_reaches_what_is_another_users(stage: Stage) -> None:
    tally = run(stage, attempts(stage, SEED, share=4))

    assert (tally.leaks, tally.unstructured, tally.changes) == ({}, {}, [])
    assert set(TOOLS) <= set(tally.tools)


def test_all_attempts_are_more_than_three_hundred_and_try_every_tool(stage: Stage) -> None:
    found = list(attempts(stage, SEED))

    assert len(found) >= 300
    assert set(TOOLS) <= {each.tool for each in found}
