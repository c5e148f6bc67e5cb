"""Watching a running local mode until all has settled."""

import pytest

from stackroom.model.records import DocumentStatus
from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.local.running import stackroom


@pytest.fixture
def wendy(instance: Instance) -> Person:
    return Person(instance, "wendy")


def test_status_ends_once_recent_uploads_have_settled(wendy: Person) -> None:
    wendy.put("papers/late.txt", "A page that came late.")

    watched = stackroom(
        "status", "--until-settled", "-u", "wendy", state_dir=wendy.instance.state_dir
    )

    assert (watched.returncode, watched.stderr) == (0, "")
    assert wendy.records()["wendy/papers/late.txt"].status is DocumentStatus.INDEXED
