from pathlib import Path

import pytest

from tests.infra.assembly import Assembly
from tests.infra.synthesis import deployment
from tests.support.strict_requests import strict_requests

__all__ = ["strict_requests"]  # a fixture of all tests here


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whichever test comes first synthesises, for which the CDK starts a process."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("processes")


@pytest.fixture(scope="session")
def assembly() -> Assembly:
    """The deployment as cdk.json has it."""
    return deployment()


@pytest.fixture(scope="session")
def otherwise() -> Assembly:
    """One whose context says something else of nearly everything."""
    return deployment("otherwise")
