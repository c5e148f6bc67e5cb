"""
Whatever goes wrong, everything agrees after quiet and one reconciliation.

Here something that can go wrong in each story; `make chaos` tries all that can.
"""

import random

import pytest

from tests.chaos import troubles
from tests.chaos.campaign import play
from tests.chaos.scenarios import SCENARIOS
from tests.chaos.trials import all_of
from tests.chaos.wire import Wire

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_story_agrees_whatever_goes_wrong_in_it(wire: Wire, name: str) -> None:
    plain = play(wire, SCENARIOS[name], trouble=troubles.observe)
    trial = random.Random(name).choice(list(all_of(name, plain)))

    outcome = trial.run(wire)

    assert plain.discrepancies == []
    assert outcome.discrepancies == [], outcome.told
