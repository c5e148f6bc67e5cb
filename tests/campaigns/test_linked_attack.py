"""The attack on what an agent was given to search, and that it sees what no filter keeps apart."""

from collections.abc import Iterator
from random import Random

import pytest

from stackroom.access import tenancy
from stackroom.access.tenancy import Readers
from tests.campaigns.attack import linked, linked_stage
from tests.campaigns.attack.linked_stage import LinkedStage

SEED = 11


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinkedStage]:
    folder = tmp_path_factory.mktemp("simulator")
    with linked_stage.staged(folder, SEED) as found:
        yield found


@pytest.mark.processes
def test_no_attempt_finds_passages_that_its_caller_may_not_read(given: LinkedStage) -> None:
    found = linked.judge(given, linked.attempts(given, SEED))

    assert found.is_clean, found.summary()
    assert found.attempts.total() >= 200, found.summary()


@pytest.mark.processes
def test_campaign_notices_a_missing_group_filter(
    given: LinkedStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Readers, "filter", lambda *_: None)
    refused = linked.judge(given, linked.groups(given, Random(SEED)))
    monkeypatch.setattr(tenancy, "_is_shared", lambda *_: True)
    found = linked.judge(given, linked.groups(given, Random(SEED)))

    # A store that ignores the filter is believed in nothing; that is the second of two locks.
    assert (refused.leaks, len(refused.missing) > 30) == ({}, True)
    assert {name.split(" · ")[0] for name in found.leaks} == {"groups", "groups in MANAGED"}
    assert len(found.leaks) > 60


@pytest.mark.processes
def test_campaign_notices_missing_owner_checks_in_every_pool(
    given: LinkedStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenancy, "_is_owned", lambda _: False)

    found = linked.judge(given, linked.pools(given, Random(SEED)))

    pools = {name.split(" · ")[1].partition(",")[0] for name in found.leaks}
    assert pools == {
        *("mistaken", "mistaken with groups", "mistaken by team", "mistaken in MANAGED", "nobody")
    }
