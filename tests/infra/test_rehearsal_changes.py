"""As test_rehearsal.py, where the console goes and comes back."""

from collections.abc import Iterator

import pytest

from tests.infra.assembly import Assembly
from tests.infra.rehearsal.cloud import Cloud, Failed, rehearsed
from tests.infra.synthesis import deployment


@pytest.fixture
def cloud(assembly: Assembly) -> Iterator[Cloud]:
    with rehearsed() as made:
        made.deploy(assembly)
        yield made


def test_a_console_is_taken_away_as_the_page_says_and_comes_back(
    cloud: Cloud, assembly: Assembly
) -> None:
    without = deployment("console off")

    with pytest.raises(Failed, match="is imported by stack stackroom-operations"):
        cloud.destroy("stackroom-console")  # before the deployment does without
    cloud.deploy(without)
    cloud.destroy("stackroom-console")
    assert cloud.standing("stackroom-console") == {}
    cloud.deploy(without)
    cloud.deploy(assembly)

    assert cloud.standing("stackroom-console")
