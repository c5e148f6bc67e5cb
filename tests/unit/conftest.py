import pytest

from tests.unit.pipeline import Pipeline


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline()
