"""What was tried is counted, told at the end of a run, and one success is a failure."""

from contextlib import suppress
from types import SimpleNamespace

import pytest

from tests.browser.attempts import PROPERTY, Attempts, told


def kept(attempts: Attempts) -> SimpleNamespace:
    """As pytest reports a test with these attempts."""
    counts: list[tuple[str, object]] = []
    attempts.record = lambda name, value: counts.append((name, value))
    with suppress(AssertionError):
        attempts.none_succeeded(least=1)
    return SimpleNamespace(user_properties=counts, when="call")


def tried(what: str, *got_in: bool) -> Attempts:
    attempts = Attempts(what, lambda _name, _value: None)
    for each in got_in:
        attempts.note("somewhere", got_in=each)
    return attempts


def test_all_that_was_tried_is_told_whether_or_not_it_got_in() -> None:
    passed = [kept(tried("frames", *[False] * 1200)), kept(tried("forms", False))]
    failed = [kept(tried("forms", False, True))]

    assert told({"passed": passed, "failed": failed}) == [
        "forms: tried 3, successes 1",
        "frames: tried 1,200, successes 0",
        "attacks on the console: tried 1,203, successes 1",
    ]


def test_nothing_is_told_where_nothing_was_tried() -> None:
    assert told({"passed": [SimpleNamespace(user_properties=[("client", "x")], when="call")]}) == []


@pytest.mark.parametrize(("got_in", "why"), [((), "fewer than 1"), ((False, True), "somewhere")])
def test_it_fails_for_a_success_and_for_too_few(got_in: tuple[bool, ...], why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        tried("frames", *got_in).none_succeeded(least=1)


def test_what_is_told_is_what_a_test_keeps() -> None:
    assert kept(tried("frames", False)).user_properties == [
        (PROPERTY, {"what": "frames", "tried": 1, "successes": 0})
    ]
