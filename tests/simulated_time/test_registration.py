"""The upload handler over tables that take what DynamoDB's do."""

import pytest

from benchmarks.registration import Outcome, Registration
from benchmarks.simulated_time.bill import Bill

FILES = 300


def registered(catalogs: int, *, one_by_one: bool) -> Outcome:
    return Registration(seed=1, memory=1_024, one_by_one=one_by_one).of(FILES, catalogs)


@pytest.mark.parametrize("catalogs", [1, 20])
def test_messages_beside_each_other_are_registered_sooner(catalogs: int) -> None:
    one_by_one, beside = (registered(catalogs, one_by_one=each) for each in (True, False))

    assert beside.rate > 2 * one_by_one.rate
    assert beside.again == 0


def test_the_first_request_of_a_second_is_traced_and_a_share_of_the_others() -> None:
    bill = Bill()

    for service, at in (("a", 0.1), ("a", 0.2), ("b", 0.3), ("a", 1.0)):
        bill.trace(service, at)

    assert bill.amounts["traces"] == pytest.approx(3.05)
