"""Which tests a worker of pytest-xdist gets together: a file's, or those that share a server."""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling


# misc: pytest-xdist has no types
class ByFile(LoadGroupScheduling):  # type: ignore[misc]
    """Scheduling for `--dist loadgroup` that keeps the files in the order of collection."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # by the number of tests, whatever they take

    def _split_scope(self, nodeid: str) -> str:
        return str(super()._split_scope(nodeid)).partition("::")[0]
