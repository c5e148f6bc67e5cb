"""The watch over quick tests sees what leaves the process, by whatever library it goes."""

import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from unittest.mock import Mock

import pytest

from tests.processes import Watch

pytestmark = pytest.mark.processes
watch = Watch()


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
def test_a_quick_test_that_leaves_its_process_fails_though_it_swallows_the_error_and_no_marked_one(
    leave: Callable[[], object], told: str
) -> None:
    quick, marked = (Mock(**{"get_closest_marker.return_value": each}) for each in (None, "mark"))

    with pytest.raises(RuntimeError, match=told), watch.over(quick):
        leave()
    with (
        pytest.raises(pytest.fail.Exception, match=told),
        watch.over(quick),
        suppress(RuntimeError),
    ):
        leave()
    with watch.over(marked), suppress(OSError):
        leave()
