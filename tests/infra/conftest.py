from pathlib import Path

import pytest

from tests.infra.assembly import Assembly
from tests.infra.synthesis import deployment
from tests.support.strict_requests import strict_requests

__all__ = ["strict_requests"]  # a fixture of all tests here


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here `processes`, because the first one starts the CDK's process."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("processes")


@pytest.fixture(scope="session")
def assembly() -> Assembly:
    """The deployment with the settings of cdk.json."""
    return deployment()


@pytest.fixture(scope="session")
def customised() -> Assembly:
    """A deployment with other settings for nearly everything."""
    return deployment("customised")
