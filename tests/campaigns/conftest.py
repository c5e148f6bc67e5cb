"""One set of clients for all of chaos's worlds in a file: they are slow to make."""

from collections.abc import Iterator

import pytest

from tests.campaigns.chaos.wire import Wire, wired


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with wired() as made:
        yield made
