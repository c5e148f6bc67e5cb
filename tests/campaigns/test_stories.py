"""
Six stories that every change must hold: whatever goes wrong in them, everything agrees after quiet
and one reconciliation. `make prove` takes all stories, `make chaos` all faults.
"""

from random import Random

import pytest

from tests.campaigns.chaos.trials import EVERY_DAY, all_of, plain
from tests.campaigns.chaos.wire import Wire

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", EVERY_DAY)
def test_a_story_agrees_after_a_death_and_after_any_other_mishap(wire: Wire, name: str) -> None:
    story, chance = plain(wire, name), Random(name)
    trials = list(all_of(name, story))
    deaths = [each for each in trials if each.kills and not each.rate]
    mishaps = [each for each in trials if not each.kills]

    outcomes = [chance.choice(each).run(wire) for each in (deaths, mishaps)]

    assert story.discrepancies == []
    assert {each.told: each.discrepancies for each in outcomes if each.discrepancies} == {}
    assert all(each.injected for each in outcomes)
