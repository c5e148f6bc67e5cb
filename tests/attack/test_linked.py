"""What an agent was given to search stays with those who may read it, whatever is tried."""

from collections.abc import Iterable, Iterator
from random import Random

import pytest

from stackroom import tenancy
from stackroom.ports.retrieval import Passage
from stackroom.tenancy import Owned, Readers
from tests.attack import linked, stored
from tests.attack.linked import attempts, judge
from tests.attack.linked_stage import LinkedStage, staged
from tests.attack.linked_stores import CLOSED, STORES
from tests.attack.stored_stage import furnished

pytestmark = pytest.mark.processes

SEED = 11


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinkedStage]:
    with staged(tmp_path_factory.mktemp("simulator"), SEED) as found, furnished(found):
        yield found


def test_no_attempt_finds_what_its_caller_may_not_read(stage: LinkedStage) -> None:
    found = judge(stage, attempts(stage, SEED))

    assert not any(found.wrong.values()), found.wrong
    assert found.attempts.total() >= 300, found.told()


def test_nor_in_any_store_that_the_agent_searches_itself(stage: LinkedStage) -> None:
    found = judge(stage, stored.attempts(stage, SEED))

    assert not any(found.wrong.values()), found.wrong
    assert len(stage.stores) == len(STORES)
    assert found.attempts.total() >= 250 * len(STORES), found.told()


@pytest.mark.parametrize("store", STORES)
def test_where_no_filter_tells_users_of_a_store_apart_it_is_seen(
    stage: LinkedStage, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    def believed(_: Owned, passages: Iterable[Passage], **__: object) -> tuple[Passage, ...]:
        return tuple(passages)

    monkeypatch.setattr(Owned, "filter", lambda *_: None)
    refused = judge(stage, stored.owners(stage, store, Random(SEED)))
    monkeypatch.setattr(Owned, "proven", believed)
    found = judge(stage, stored.owners(stage, store, Random(SEED)))

    # A store that ignores the filter is believed in nothing; that is the second of two locks.
    assert (refused.leaks, len(refused.missing) > 15) == ({}, True)
    assert (found.leaks == {}) if store in CLOSED else (len(found.leaks) > 40)


def test_where_no_filter_tells_groups_apart_it_is_seen(
    stage: LinkedStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Readers, "filter", lambda *_: None)
    refused = judge(stage, linked.groups(stage, Random(SEED)))
    monkeypatch.setattr(tenancy, "_is_shared", lambda *_: True)
    found = judge(stage, linked.groups(stage, Random(SEED)))

    # A store that ignores the filter is believed in nothing; that is the second of two locks.
    assert (refused.leaks, len(refused.missing) > 30) == ({}, True)
    assert {name.split(" · ")[0] for name in found.leaks} == {"groups", "groups in MANAGED"}
    assert len(found.leaks) > 100


def test_where_owners_do_not_count_it_is_seen_in_every_pool(
    stage: LinkedStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenancy, "_is_owned", lambda _: False)

    found = judge(stage, linked.pools(stage, Random(SEED)))

    pools = {name.split(" · ")[1].partition(",")[0] for name in found.leaks}
    assert pools == {
        *("mistaken", "mistaken with groups", "mistaken by team", "mistaken in MANAGED", "nobody")
    }
