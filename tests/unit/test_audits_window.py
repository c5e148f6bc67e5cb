"""A window holds no more than it may, and windows one after another hold everything once."""

import pytest

from stackroom.audits.window import Window

NAMES = [f"doc-{number:03}" for number in (7, 3, 9, 1, 8, 2, 6, 0, 5, 4)]


def test_never_more_than_the_capacity_is_held() -> None:
    window: Window[int] = Window(4)

    for name in NAMES:
        window.put(name, 1)

        assert len(list(window.values())) <= 4


@pytest.mark.parametrize("capacity", [1, 10])
def test_windows_one_after_another_hold_everything_once(capacity: int) -> None:
    seen: list[str] = []
    low: str | None = ""

    while low is not None:
        window: Window[int] = Window(capacity, low=low)
        for name in NAMES:
            window.put(name, 1)
        seen += sorted(name for name, _ in window.items())
        low = window.high

    assert seen == sorted(NAMES)
