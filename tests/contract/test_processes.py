"""The watch over quick tests sees what leaves the process, by whatever library it goes."""

import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.processes import Watch

pytestmark = pytest.mark.processes
watch = Watch()


class Item:
    """A test, marked or not."""

    def __init__(self, *marks: str) -> None:
        self.marks = marks

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None


def listens() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))


def calls() -> None:
    with socket.socket() as client:
        client.connect(("127.0.0.1", 9))


@pytest.mark.parametrize(
    ("leave", "told"),
    [
        (lambda: subprocess.run(["true"], check=True), "starts a process"),
        (listens, "listens on a port"),
        (calls, "calls a port"),
    ],
)
def test_a_quick_test_that_leaves_its_process_fails_even_if_it_swallows_the_error(
    leave: Callable[[], object], told: str
) -> None:
    item: Any = Item()

    with pytest.raises(RuntimeError, match=told), watch.over(item):
        leave()
    with pytest.raises(pytest.fail.Exception, match=told), watch.over(item), suppress(RuntimeError):
        leave()


def test_a_test_that_is_marked_may_start_what_it_likes() -> None:
    item: Any = Item("processes")

    with watch.over(item):
        listens()
