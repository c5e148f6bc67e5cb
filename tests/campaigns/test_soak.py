"""A minute of `make soak`, with every kind of kill in it."""

from pathlib import Path

import pytest

from stackroom_local.processes import free_ports
from tests.campaigns.soak.mode import Mode
from tests.campaigns.soak.soak import KINDS, Soak


@pytest.mark.processes
@pytest.mark.timeout(1800)
def test_after_a_minute_of_kills_everybody_sees_what_they_dropped(tmp_path: Path) -> None:
    told: list[str] = []
    soak = Soak(
        mode=Mode(tmp_path, free_ports(4), speed=40, seed=8),
        seed=8,
        minutes=1,
        patience=600,
        tell=told.append,
    )

    tally = soak.run()

    assert tally.disagreements == [], [*told, tally.told()]
    assert tally.kills.keys() == set(KINDS)
    assert tally.faults.total() > 0
