"""Trying again at once: how often, after what, and with which pauses."""

import pytest

from stackroom.errors import RecordChanged
from stackroom.retries import random_pauses, retried


class Flaky:
    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def test_it_is_tried_until_nobody_is_in_the_way() -> None:
    flaky, paused = Flaky(RecordChanged("a"), RecordChanged("b")), list[int]()

    assert retried(flaky, tries=3, pause=paused.append) == "done"
    assert (flaky.calls, paused) == (3, [0, 1])


def test_the_last_tries_error_is_raised_without_another_pause() -> None:
    flaky, paused = Flaky(*(RecordChanged(name) for name in "abc")), list[int]()

    with pytest.raises(RecordChanged, match="'b'"):
        retried(flaky, tries=2, pause=paused.append)
    assert (flaky.calls, paused) == (2, [0])


def test_pauses_grow_to_their_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("stackroom.retries.time.sleep", slept.append)
    monkeypatch.setattr("stackroom.retries.random.uniform", lambda _least, most: most)

    for attempt in range(5):
        random_pauses(0.1, 0.5)(attempt)

    assert slept == [0.1, 0.2, 0.4, 0.5, 0.5]
