"""Every `Leases` allows one live run for each catalog, fenced by its epoch."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from stackroom.aws.dynamodb.lease_records import DynamoLeases
from stackroom.errors import RunSuperseded
from stackroom.runs.run_leases import Lease, Leases
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.pipeline import FakeLeases

NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
LATER = NOW + timedelta(minutes=15)


@pytest.fixture(params=["fake", "dynamodb"])
def leases(request: pytest.FixtureRequest) -> Leases:
    if request.param == "fake":
        return FakeLeases()
    return DynamoLeases(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def taken(leases: Leases, worklist_id: str = "cat-1", *, failures: int = 0) -> Lease:
    lease = leases.take(leases.ask(worklist_id), until=NOW, failures=failures)
    assert lease is not None
    return lease


def test_lease_is_taken_once_and_each_ask_is_counted(
    leases: Leases,
) -> None:
    before = leases.get("cat-1")
    seen = leases.ask("cat-1")
    leases.ask("cat-1")
    asked = leases.get("cat-1")

    first = leases.take(seen, until=NOW, failures=2)
    second = leases.take(seen, until=NOW, failures=0)

    free = Lease(worklist_id="cat-1", requested=2, epoch=0, held=False, started=False)
    assert before is None
    assert asked == free
    assert first == replace(free, epoch=1, held=True, until=NOW, failures=2)
    assert second is None
    assert leases.get("cat-1") == first
    assert first.execution_name == "cat-1-1"
    leases.mark_started(first)
    following, late = (leases.take(first, until=LATER, failures=3) for _ in range(2))
    assert following is not None
    assert (following.epoch, following.started, following.failures) == (2, False, 3)
    assert late is None


def test_a_free_lease_is_asked_for_and_taken_in_one(leases: Leases) -> None:
    first = leases.claim("cat-1", until=NOW)
    leases.release("cat-1", 1, served=1)

    second = leases.claim("cat-1", until=LATER)

    assert first == Lease(
        worklist_id="cat-1", requested=1, epoch=1, held=True, started=False, until=NOW
    )
    assert second == Lease(
        worklist_id="cat-1", requested=2, epoch=2, held=True, started=False, until=LATER
    )
    assert leases.get("cat-1") == second


def test_asked_lease_can_be_claimed_and_held_one_cannot(
    leases: Leases,
) -> None:
    held = taken(leases, failures=2)
    leases.ask("cat-2")

    refused = leases.claim("cat-1", until=LATER)
    claimed = leases.claim("cat-2", until=NOW)

    assert refused is None
    assert leases.get("cat-1") == held  # nothing is counted
    assert claimed is not None
    assert (claimed.requested, claimed.epoch) == (2, 1)


def test_lease_released_or_taken_since_it_was_seen_is_not_taken(
    leases: Leases,
) -> None:
    held = taken(leases)
    leases.release("cat-1", 1, served=1)

    after_release = leases.take(held, until=LATER, failures=0)
    free = leases.ask("cat-1")
    assert leases.take(free, until=NOW, failures=0) is not None

    assert after_release is None
    assert leases.take(free, until=LATER, failures=0) is None


def test_a_started_run_is_marked_unless_it_has_ended(leases: Leases) -> None:
    lease = taken(leases)
    leases.mark_started(lease)
    marked = leases.get("cat-1")
    leases.release("cat-1", 1, served=1)

    leases.mark_started(lease)

    found = leases.get("cat-1")
    assert marked is not None
    assert marked.started
    assert found is not None
    assert (found.held, found.started) == (False, False)


def test_renewal_extends_lease_reads_requests_and_clears_failures_if_well(
    leases: Leases,
) -> None:
    taken(leases, failures=3)
    leases.ask("cat-1")

    renewed = leases.renew("cat-1", 1, until=LATER)
    going_well = leases.renew("cat-1", 1, until=LATER, is_well=True)

    assert (renewed.until, renewed.requested, renewed.started) == (LATER, 2, True)
    assert (renewed.failures, going_well.failures) == (3, 0)


def test_only_the_holder_renews_and_no_run_of_the_past_releases(leases: Leases) -> None:
    leases.take(taken(leases), until=NOW, failures=0)
    taken(leases, "cat-done")
    leases.release("cat-done", 1, served=1)

    for worklist_id, epoch in (("cat-1", 1), ("cat-1", 3), ("cat-2", 1), ("cat-done", 1)):
        with pytest.raises(RunSuperseded):
            leases.renew(worklist_id, epoch, until=LATER)
    with pytest.raises(RunSuperseded):
        leases.release("cat-1", 1, served=1)

    found = leases.get("cat-1")
    assert found is not None
    assert (found.epoch, found.until, found.held) == (2, NOW, True)


def test_release_is_refused_until_all_requests_are_served(
    leases: Leases,
) -> None:
    taken(leases, failures=3)
    leases.ask("cat-1")

    released = [leases.release("cat-1", 1, served=served) for served in (1, 2, 2)]

    assert released == [False, True, True]
    assert leases.get("cat-1") == Lease(
        worklist_id="cat-1", requested=2, epoch=1, held=False, started=False
    )


def test_a_catalog_without_a_lease_has_none_to_mark_or_to_release(leases: Leases) -> None:
    nothing = Lease(worklist_id="cat-9", requested=0, epoch=1, held=True, started=False)

    leases.mark_started(nothing)

    with pytest.raises(RunSuperseded):
        leases.release("cat-9", 1, served=0)
    assert leases.get("cat-9") is None


def test_held_leases_are_listed_and_those_that_expired_found_and_no_others(
    leases: Leases,
) -> None:
    expired = [taken(leases, f"cat-{number}") for number in range(3)]
    renewed = leases.renew(taken(leases, "cat-renewed").worklist_id, 1, until=LATER)
    leases.ask("cat-free")
    taken(leases, "cat-done")
    leases.release("cat-done", 1, served=1)

    held, soon, at_last = (
        sorted(listed, key=lambda each: each.worklist_id)
        for listed in (
            leases.held(),
            leases.expired(LATER),
            leases.expired(LATER + timedelta(microseconds=1)),
        )
    )

    assert soon == expired
    assert held == at_last == [*expired, renewed]
