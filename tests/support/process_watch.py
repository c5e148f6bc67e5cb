"""Holds every test that is not marked `processes` to the process that it runs in."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

# Audit events of CPython: whatever library it goes through, it comes by here.
FORBIDDEN = {
    "os.exec": "starts a process",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.system": "starts a process",
    "subprocess.Popen": "starts a process",
    "socket.bind": "listens on a port",
    "socket.connect": "calls a port",
}


class Watch:
    """Sees what the main thread does; servers of other tests may live on in threads of theirs."""

    def __init__(self) -> None:
        self._on = False
        self._seen: list[str] = []
        sys.addaudithook(self._heard)

    @contextmanager
    def over(self, item: pytest.Item) -> Iterator[None]:
        """Fails the test if it leaves its process, even where its own code swallows the error."""
        self._on = item.get_closest_marker("processes") is None
        self._seen.clear()
        try:
            yield
        finally:
            self._on = False
        if self._seen:
            pytest.fail(self._seen[0])

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._on or event not in FORBIDDEN:
            return
        if threading.current_thread() is threading.main_thread():
            self._seen.append(
                f"a quick test that {FORBIDDEN[event]} ({event} {arguments!r:.100}): "
                "mark it with pytest.mark.processes, or have it do without"
            )
            raise RuntimeError(self._seen[-1])
