"""What failed is left alone for a while, and then tried by one."""

import pytest

from stackroom.aws.breaker import Breaker


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(rest=1.0, now=clock)


def test_after_a_failure_nobody_tries_for_a_while(breaker: Breaker, clock: Clock) -> None:
    assert [breaker.may_try() for _ in range(3)] == [True, True, True]
    assert not breaker.is_resting

    breaker.failed()
    clock.seconds = 0.9

    assert not breaker.may_try()
    assert breaker.is_resting


def test_then_one_tries_and_the_others_wait_for_it(breaker: Breaker, clock: Clock) -> None:
    breaker.failed()
    clock.seconds = 1.1

    assert [breaker.may_try() for _ in range(3)] == [True, False, False]
    clock.seconds = 2.2
    assert [breaker.may_try() for _ in range(2)] == [True, False], "it never said how it went"

    breaker.succeeded()

    assert [breaker.may_try() for _ in range(3)] == [True, True, True]


def test_a_failure_is_news_once_until_it_went_well_again(breaker: Breaker) -> None:
    first, second = breaker.failed(), breaker.failed()
    breaker.succeeded()

    assert (first, second, breaker.failed()) == (True, False, True)
