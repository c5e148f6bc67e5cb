"""`stackroom adopt` is killed twice, and completed: nothing is lost, doubled or left untold."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stackroom_local.state import Instance
from tests.campaigns.adoption import Campaign
from tests.local.running import local_mode

pytestmark = pytest.mark.processes

OBJECTS = 320


@pytest.fixture(scope="module")
def own_mode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """At a shared one, other tests would wait behind all these files."""
    with local_mode(tmp_path_factory.mktemp("adoption") / "state") as running:
        yield running


@pytest.mark.parametrize(("source", "moves"), [("bucket", True), ("folder", False)])
def test_every_file_of_an_adoption_killed_twice_is_accounted_for(
    own_mode: Instance, source: str, moves: bool, tmp_path: Path
) -> None:
    folder = tmp_path if source == "folder" else None

    problems = Campaign(own_mode, OBJECTS, moves, f"adopter-of-{source}", folder).run()

    assert problems == []
