"""One set of clients for all worlds of a module: they are slow to make."""

from collections.abc import Iterator

import pytest

from tests.chaos.wire import Wire, wired


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with wired() as made:
        yield made
