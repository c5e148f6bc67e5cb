"""What finished work tells of the next: measured, blended, and not believed too far."""

from datetime import timedelta

import pytest

from stackroom.admission.rates import Did, expected, whole, with_measured
from stackroom.ports.admission import Grant, Ledger, Mode, Rate
from tests.records import NOW

MEGABYTE = 1_000_000
A_GRANT = Grant(
    worklist_id="cat-1",
    epoch=1,
    knowledge_base_id="KB1",
    mode=Mode.SHARED,
    slots=1,
    granted_at=NOW,
    until=NOW,
)


def after(*works: tuple[int, float]) -> Rate:
    """What is known after so many bytes took so many seconds each."""
    ledger = Ledger()
    for size, seconds in works:
        ledger = with_measured(ledger, Did(mode=Mode.SHARED, size=size, seconds=seconds))
    return ledger.rates[Mode.SHARED]


def test_large_work_takes_as_much_longer_as_it_is_larger() -> None:
    rate = after((100, 4.0), (MEGABYTE, 64.0))

    assert expected(rate, 2 * MEGABYTE, base=6.0) == pytest.approx(124.0)
    assert expected(rate, 100, base=6.0) == 4.0


def test_nothing_is_said_of_what_is_far_larger_than_all_that_was_measured() -> None:
    assert expected(after((100, 4.0)), MEGABYTE, base=6.0) is None
    assert expected(after((100_000, 10.0)), 2 * MEGABYTE, base=6.0) is not None
    assert expected(after((100_000, 10.0)), 3 * MEGABYTE, base=6.0) is None


def test_the_newest_counts_most_and_the_large_count_more_than_the_small() -> None:
    slower = after((MEGABYTE, 10.0), (MEGABYTE, 10.0), *[(MEGABYTE, 100.0)] * 9)
    by_small = after((MEGABYTE, 10.0), (20_000, 10.0))

    assert expected(slower, MEGABYTE, base=0.0) == pytest.approx(100.0, rel=0.05)
    assert expected(by_small, MEGABYTE, base=0.0) == pytest.approx(10.0, rel=1.5)


def test_a_jobs_time_counts_from_when_it_may_start() -> None:
    later = NOW + timedelta(seconds=10)
    job = Grant(**{**vars(A_GRANT), "mode": Mode.EXCLUSIVE, "start_at": later})

    ledger = with_measured(Ledger(), whole(job, at=NOW + timedelta(seconds=30)))

    assert ledger.rates == {Mode.EXCLUSIVE: Rate(base_ms=20_000)}
